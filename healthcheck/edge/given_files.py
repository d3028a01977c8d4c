"""Files that a user names: a file, or a pipe such as `<(command)`, which is waited for as long as somebody writes."""

from __future__ import annotations

import errno
import io
import os
import select
import stat
from pathlib import Path
from typing import BinaryIO

from healthcheck.edge.clock import SystemClock
from healthcheck.workflows.files_only import NO_FILE

WRITER_S = 1.0
"""How long a pipe may have no writer at all before it is given up; that of `<(command)` is there from the start."""
_NAP_S = 0.02


def open_given(path: Path) -> BinaryIO:
    """What a user named, to be read from its beginning. OSError where it is a folder or a socket, or cannot be opened;
    reading from a pipe that nobody opens for writing is one, too."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError as error:
        if error.errno == errno.ENXIO:
            raise OSError(errno.ENXIO, NO_FILE, str(path)) from None
        raise
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISFIFO(mode):
        return io.BufferedReader(_Pipe(descriptor, str(path)))
    if stat.S_ISDIR(mode):
        os.close(descriptor)
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    os.set_blocking(descriptor, True)  # a terminal is waited for: somebody types
    return os.fdopen(descriptor, "rb")


class _Pipe(io.RawIOBase):
    """The reading end of a pipe that was opened without waiting for a writer."""

    def __init__(self, descriptor: int, path: str) -> None:
        self._descriptor = descriptor
        self._path = path
        self._has_writer = False

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override] # any buffer can be written
        """Bytes read; 0 once the last writer is gone."""
        clock = SystemClock()
        give_up = clock.monotonic() + WRITER_S
        while True:
            try:
                n = os.readv(self._descriptor, [buffer])
            except BlockingIOError:
                self._has_writer = True
                _wait(self._descriptor)
                continue
            self._has_writer = self._has_writer or n > 0
            if n or self._has_writer:
                return n
            if clock.monotonic() >= give_up:
                raise OSError(errno.EPIPE, "it is a pipe that nobody writes to", self._path)
            clock.sleep(_NAP_S)

    def close(self) -> None:
        """Let go of the pipe."""
        if not self.closed:
            os.close(self._descriptor)
        super().close()


def _wait(descriptor: int) -> None:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    poll.poll()
