"""SIGINT, SIGTERM and SIGHUP: the first asks for an orderly end, the second ends at once."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from healthcheck.errors import Interrupted
from healthcheck.workflows.engine import Cancel

_WRITING = "stopping{}: what was measured is being written down (again: end at once)\n"
_STOPPING = "stopping{}: the jobs are being ended on the nodes, what was measured is kept (again: end at once)\n"


def _told(words: str, signum: int) -> bytes:
    """With the name of a signal that nobody typed."""
    name = "" if signum == signal.SIGINT else f" for {signal.Signals(signum).name}"
    return words.format(name).encode()


@contextmanager
def stop_on_signals(cancel: Cancel, is_told: Callable[[], bool] = lambda: False) -> Iterator[None]:
    """While the block runs, a signal sets `cancel`; what runs on the nodes is then stopped and kept.

    SIGHUP is a dropped login of the operator; under nohup it is ignored, and stays so. `is_told` is asked whether
    whoever draws on the terminal says that it stops; it is called by the handler and must not wait for anything.
    """

    def handle(signum: int, frame: FrameType | None) -> None:
        if cancel.wanted:
            raise Interrupted(signum)
        cancel.set(signum)
        if is_told():
            return
        # Not through sys.stderr: the signal may have come in the middle of a write to it.
        with contextlib.suppress(OSError):
            os.write(2, _told(_STOPPING, signum))

    with _handled_by(handle):
        yield


@contextmanager
def written_first() -> Iterator[None]:
    """While the block runs, a signal waits for its end: of what was measured the lists, the pages, the line and the
    alert are a matter of seconds, and a verdict that nobody hears of is none. Interrupted then, or at a second one."""
    came: list[int] = []
    # On a terminal a line that is drawn again may stand where the cursor is.
    begin = b"\r\x1b[2K" if os.isatty(2) and os.environ.get("TERM", "dumb") != "dumb" else b""

    def handle(signum: int, frame: FrameType | None) -> None:
        if came:
            raise Interrupted(signum)
        came.append(signum)
        with contextlib.suppress(OSError):
            os.write(2, begin + _told(_WRITING, signum))

    with _handled_by(handle):
        yield
    if came:
        raise Interrupted(came[0])


@contextmanager
def _handled_by(handle: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    numbers = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        numbers.append(signal.SIGHUP)
    before = {number: signal.signal(number, handle) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
