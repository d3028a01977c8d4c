"""Progress drawn on a real pseudo-terminal, in this process: what came out of its other end."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import termios
import threading
import time
from collections.abc import Iterable
from datetime import UTC, datetime

from healthcheck.cli.live import LEAST_S, LiveConsole
from healthcheck.cli.progress import Head
from healthcheck.model.progress import Counted
from healthcheck.simulator.transport import VirtualClock
from tests.unit.cli.screen import Screen
from tests.unit.cli.story import Moment

START = datetime(2026, 3, 14, 2, 15, 3, tzinfo=UTC)
HEAD = Head(("healthcheck 1.0.0   30 nodes   playbook monthly", "writing reports/20260314T021503Z-qhzt"), 30)


class Terminal:
    """A pseudo-terminal on which a run is told; `columns` wide."""

    def __init__(self, columns: int, *, verbose: bool = False, head: Head = HEAD) -> None:
        self._columns = columns
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        self._received: list[bytes] = []
        self._reader = threading.Thread(target=self._read, args=(master,), daemon=True)
        self._reader.start()
        self._clock = VirtualClock(START)
        self._stream = os.fdopen(slave, "w", encoding="utf-8")
        self.console = LiveConsole(self._clock, head, self._stream, verbose)

    def _read(self, master: int) -> None:
        try:
            while data := os.read(master, 65536):
                self._received.append(data)
        except OSError:  # the other end was closed: Linux says EIO
            pass
        os.close(master)

    def tell(self, told: Iterable[Moment], *, slowly: bool = False) -> None:
        """These events at their moments; `slowly` each of them is drawn, but for nodes that are only counted."""
        for at, event in told:
            self._clock.advance_to(at)
            self.console.event(event)
            if slowly and not isinstance(event.step, Counted):
                time.sleep(2 * LEAST_S)

    def screen(self, awaited: str) -> Screen:
        """What stands on it as soon as `awaited` does."""
        end = time.monotonic() + 60
        while True:
            screen = Screen(self._columns)
            screen.feed(b"".join(self._received).decode(errors="ignore"))
            if awaited in screen.text or time.monotonic() > end:
                return screen
            time.sleep(LEAST_S)

    def close(self) -> Screen:
        """What stands on it in the end."""
        self.console.close()
        self._stream.close()
        self._reader.join(10)
        screen = Screen(self._columns)
        screen.feed(b"".join(self._received).decode())
        return screen


def drawn(told: Iterable[Moment], columns: int, *, verbose: bool = False, slowly: bool = False) -> Screen:
    """The screen after all of a run."""
    terminal = Terminal(columns, verbose=verbose)
    terminal.tell(told, slowly=slowly)
    return terminal.close()
