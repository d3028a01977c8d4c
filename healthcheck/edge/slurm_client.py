"""What the srun of this machine says about itself."""

from __future__ import annotations

import subprocess

_PATIENCE_S = 30.0


def ask_srun(words: tuple[str, ...]) -> str | None:
    """Everything that `srun WORDS` prints on both streams; None where it cannot be run or does not answer."""
    try:
        done = subprocess.run(  # noqa: S603 - two fixed options
            ("srun", *words),  # noqa: S607 - the one in PATH is what starts the ranks
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_PATIENCE_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None
