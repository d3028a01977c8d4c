"""Short questions to the Slurm client of this machine."""

from __future__ import annotations

import subprocess

from msgspec import Struct

_PATIENCE_S = 30.0


class Told(Struct, frozen=True):
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str


def ask(*argv: str) -> Told | None:
    """Run one command to its end; None where there is no such program, or no answer in time."""
    try:
        done = subprocess.run(  # noqa: S603 - fixed words and the number of a job
            argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=_PATIENCE_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return Told(done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"))
