"""Opening what should be a file of a run: whatever else lies there is an error at once, and never waited for.

A pipe that nobody writes to would be waited for for ever, and a run must not hang on what somebody left in its folder.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import TextIO

NO_FILE = "it is no file"


def files_only(path: str, flags: int) -> int:
    """An `opener` for `open`: OSError for a pipe, a socket, a device or a folder."""
    try:
        descriptor = os.open(path, flags | os.O_NONBLOCK)
    except OSError as error:
        if error.errno == errno.ENXIO:  # what the kernel says of a socket
            raise OSError(errno.ENXIO, NO_FILE, path) from None
        raise
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return descriptor
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    raise OSError(errno.EINVAL, NO_FILE, path)


def read_file(path: Path) -> bytes:
    """All of a file; OSError where it is none or cannot be read."""
    with open(path, "rb", opener=files_only) as file:
        return file.read()


def open_lines(path: Path) -> TextIO:
    """A file as text, damaged letters replaced."""
    return open(path, encoding="utf-8", errors="replace", opener=files_only)
