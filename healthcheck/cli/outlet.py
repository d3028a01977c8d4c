"""Standard error during a run: lines leave on a thread of their own, so that a reader who pauses holds up no job."""

from __future__ import annotations

import os
import threading
from queue import SimpleQueue
from typing import TextIO


class Outlet:
    """Takes text and writes it, in order. A reader that went away is no fault of the run: what is left is dropped.

    A terminal that was stopped with Ctrl-S, or a pager nobody scrolls, blocks a writer; it must not be the workflow.
    A stream without a file behind it (a test) is written to at once.
    """

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream
        self._encoding = "utf-8" if stream is None else stream.encoding or "utf-8"
        self._waiting: SimpleQueue[str | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self.gone = stream is None

    def put(self, text: str) -> None:
        """Text with its line ends, to be written when there is room."""
        if self.gone or self._stream is None:
            return
        if self._thread is None:
            try:
                file = self._stream.fileno()
            except (OSError, ValueError):
                self._directly(self._stream, text)
                return
            thread = threading.Thread(target=self._work, args=(file,), name="progress", daemon=True)
            thread.start()
            self._thread = thread
        self._waiting.put(text)

    def close(self) -> None:
        """Wait until everything is written."""
        if self._thread is not None:
            self._waiting.put(None)
            self._thread.join()
            self._thread = None

    def _work(self, file: int) -> None:
        while (text := self._waiting.get()) is not None:
            if not self.gone:
                self.gone = not write(file, text, self._encoding)

    def _directly(self, stream: TextIO, text: str) -> None:
        try:
            stream.write(text)
            stream.flush()
        except (OSError, ValueError):
            self.gone = True


def write(file: int, text: str, encoding: str) -> bool:
    """Write all of it to a file descriptor; False where nobody reads it any more.

    Not through `sys.stderr`: what is left in its buffer would fail again when Python ends, and a thread that waits in
    it would hold its lock.
    """
    data = text.encode(encoding, "backslashreplace")
    try:
        while data:
            data = data[os.write(file, data) :]
    except OSError:
        return False
    return True
