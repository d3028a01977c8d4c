"""What standard error is: a terminal that may be redrawn, one that is only written to, or no terminal at all."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import TextIO

from healthcheck.model.verdict import Verdict

WIDEST = 96
COLOURS = {
    Verdict.PASS: "32",
    Verdict.DEGRADED: "33",
    Verdict.INCONCLUSIVE: "35",
    Verdict.FAIL: "31",
    Verdict.SKIPPED: "2",
}
_WORD = re.compile(rf"\b({'|'.join(verdict.name for verdict in Verdict)})\b")
_NO = ("", "0", "false")
_WITHOUT = ("", "dumb", "unknown")
"""Terminals that know nothing but lines."""


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a person may be looking at it."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # closed
        return False


def has_colour(stream: TextIO | None, environ: Mapping[str, str] = os.environ) -> bool:
    """Colour only on a terminal that knows it, and never where NO_COLOR is set to anything."""
    return is_terminal(stream) and not environ.get("NO_COLOR") and environ.get("TERM", "") not in _WITHOUT


def may_redraw(stream: TextIO | None, environ: Mapping[str, str] = os.environ) -> bool:
    """Whether lines may be drawn again: not in CI, whose log keeps every one of them."""
    return has_colour(stream, environ) and environ.get("CI", "").lower() in _NO


def width(stream: TextIO | None) -> int:
    """Columns to write in: COLUMNS, else those of this terminal, else as many as a report has at most."""
    asked = os.environ.get("COLUMNS", "")
    if asked.isdecimal() and int(asked) > 0:
        return int(asked)
    try:
        return os.get_terminal_size(stream.fileno()).columns or WIDEST if stream is not None else WIDEST
    except (OSError, ValueError):
        return WIDEST


def painted(line: str) -> str:
    """A finished line with its verdicts in colour, for a terminal that has it."""
    return _WORD.sub(lambda found: f"\x1b[{COLOURS[Verdict[found[1]]]}m{found[1]}\x1b[0m", line)
