"""From what happened to the exit code, in one place. No traceback ever reaches a user."""

from __future__ import annotations

import errno
import os
import sys
from typing import TextIO

EXIT_INPUT = 2
EXIT_INCONCLUSIVE = 3
EXIT_BUG = 70
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
NO_THREAD = "can't start new thread"
"""All that Python says of a limit on processes, which holds for threads, too."""


def lacking(error: BaseException) -> str | None:
    """What this machine had none of, so that the error is no bug of ours; None for one."""
    if isinstance(error, OSError) and error.errno in NO_ROOM:
        return error.strerror
    return NO_THREAD if isinstance(error, RuntimeError) and str(error) == NO_THREAD else None


def say(text: str = "") -> None:
    """A line for the person, on stderr: stdout belongs to data. Nobody there to read it is no reason to stop."""
    try:
        _write(sys.stderr, text)
    except OSError:
        _to_nowhere(sys.stderr)


def out(text: str) -> None:
    """A line of data on stdout. A reader that went away (`| head`) changes no verdict; a full disk is told."""
    from healthcheck.errors import StoreError

    try:
        _write(sys.stdout, text)
    except BrokenPipeError:
        _to_nowhere(sys.stdout)
    except OSError as error:
        _to_nowhere(sys.stdout)
        raise StoreError(f"cannot write to standard output: {error.strerror}") from None


def drop_unwritten() -> None:
    """Forget what is left in the buffer of stdout and cannot be written."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        _to_nowhere(sys.stdout)


def _write(stream: TextIO | None, text: str) -> None:
    if stream is None:  # closed by the shell: `2>&-`
        return
    encoding = stream.encoding or "utf-8"
    stream.write(f"{text}\n".encode(encoding, "backslashreplace").decode(encoding))
    stream.flush()


def _to_nowhere(stream: TextIO) -> None:
    """What is still buffered must not fail again when Python ends, which would replace our exit code by 120."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
