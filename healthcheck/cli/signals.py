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

_STOPPING = b"stopping: the jobs are being ended on the nodes, what was measured is kept (again: end at once)\n"


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
            os.write(2, _STOPPING)

    numbers = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        numbers.append(signal.SIGHUP)
    before = {number: signal.signal(number, handle) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
