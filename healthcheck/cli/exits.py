"""From what happened to the exit code, in one place. No traceback ever reaches a user."""

from __future__ import annotations

import sys

EXIT_INPUT = 2
EXIT_BUG = 70


def say(text: str = "") -> None:
    """A line for the person, on stderr: stdout belongs to data."""
    sys.stderr.write(f"{text}\n")


def out(text: str) -> None:
    """A line of data on stdout."""
    sys.stdout.write(f"{text}\n")
