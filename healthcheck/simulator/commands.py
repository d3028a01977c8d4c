"""Commands running on simulated nodes behind SSH: one thread hands out all their output when its time comes."""

from __future__ import annotations

import contextlib
import heapq
import itertools
import math
import threading
import time
from collections.abc import Callable

import paramiko

from healthcheck.launchers.wrapper import DEADLINE_EXIT_CODE
from healthcheck.simulator.reply import Reply

INTERRUPTED_EXIT = 130
_RETRY_S = 0.02
_CHUNK = 32_768


def wall_clock() -> float:
    """Seconds since 1970, by the clock of this machine."""
    return time.time()


class Timetable:
    """Calls actions at their time, one after the other, on one thread. Actions must not block."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()
        self._changed = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._work, name="simulated-output", daemon=True)
        self._thread.start()

    def at(self, moment: float, action: Callable[[], None]) -> None:
        """Call `action` at a moment of `time.monotonic`."""
        with self._changed:
            heapq.heappush(self._heap, (moment, next(self._order), action))
            self._changed.notify()

    def soon(self, action: Callable[[], None]) -> None:
        """Call `action` next."""
        self.at(time.monotonic(), action)

    def close(self) -> None:
        """Stop; what was planned is dropped."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()

    def _work(self) -> None:
        while True:
            with self._changed:
                if self._closed:
                    return
                left = self._heap[0][0] - time.monotonic() if self._heap else None
                if left is None or left > 0:
                    self._changed.wait(left)
                    continue
                _, _, action = heapq.heappop(self._heap)
            action()


class RunningCommand:
    """One command on one channel. All but `begin` and `interrupt` runs on the timetable's thread."""

    def __init__(
        self, channel: paramiko.Channel, reply: Reply, deadline_s: float, ends_with_stdin: bool, timetable: Timetable
    ) -> None:
        self._channel = channel
        self._reply = reply
        self._deadline_s = deadline_s
        self._ends_with_stdin = ends_with_stdin
        self._timetable = timetable
        self._started = time.monotonic()
        self._next = 0
        self._unsent = b""
        self._over = False

    def begin(self) -> None:
        """The client has been told that the command runs."""
        self._channel.settimeout(0.0)
        self._timetable.soon(self._move_on)

    def interrupt(self) -> None:
        """The stdin of the command has ended, which ends what the wrapper started; a plain command goes on."""
        if self._ends_with_stdin:
            self._timetable.soon(self._interrupted)

    def abandon(self) -> None:
        """The channel is gone."""
        self._over = True

    def _interrupted(self) -> None:
        # A command that takes no time has ended before anybody could interrupt it.
        if not self._over and self._reply.duration_s > 0:
            self._end(INTERRUPTED_EXIT)

    def _move_on(self) -> None:
        if self._over:
            return
        elapsed = time.monotonic() - self._started
        pieces = self._reply.pieces
        until = min(elapsed, self._deadline_s)
        while self._next < len(pieces) and pieces[self._next].at_s <= until:
            self._unsent += pieces[self._next].text.encode()
            self._next += 1
        try:
            self._send()
        except OSError:
            self.abandon()
            return
        if self._unsent:
            self._timetable.at(time.monotonic() + _RETRY_S, self._move_on)
        elif self._next == len(pieces) and elapsed >= self._reply.duration_s <= self._deadline_s:
            self._end(self._reply.exit_code, self._reply.stderr)
        elif elapsed >= self._deadline_s:
            self._end(DEADLINE_EXIT_CODE)
        else:
            coming = pieces[self._next].at_s if self._next < len(pieces) else self._reply.duration_s
            due = min(coming, self._deadline_s)
            if not math.isinf(due):
                self._timetable.at(self._started + due, self._move_on)

    def _send(self) -> None:
        with contextlib.suppress(TimeoutError):
            while self._unsent:
                sent = self._channel.send(self._unsent[:_CHUNK])
                self._unsent = self._unsent[sent:]

    def _end(self, exit_code: int, stderr: str = "") -> None:
        self._over = True
        with contextlib.suppress(OSError, EOFError):
            if stderr:
                self._channel.sendall_stderr(stderr.encode())
            self._channel.send_exit_status(exit_code)
            self._channel.close()
