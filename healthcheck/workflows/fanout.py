"""The same short piece of work on many hosts, a bounded number at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TypeVar

from msgspec.structs import replace

from healthcheck.model.command import Command, CommandResult, ExitKind
from healthcheck.model.host import Host
from healthcheck.model.message import say
from healthcheck.ports import Transport
from healthcheck.workflows.engine import Cancel

T = TypeVar("T")

CAPTURE_BYTES = 4 << 20
# How much longer than its own deadline we wait for a short command before we give up on it.
MARGIN_S = 20.0
# How soon a short command hears that the user wants to stop.
NAP_S = 0.5


class Capture:
    """ports.Sink that keeps what a short command prints, up to a bound for each stream."""

    def __init__(self, bound: int = CAPTURE_BYTES) -> None:
        self._bound = bound
        self._out = bytearray()
        self._err = bytearray()

    def stdout(self, data: bytes) -> None:
        """Bytes of standard output."""
        self._keep(self._out, data)

    def stderr(self, data: bytes) -> None:
        """Bytes of standard error."""
        self._keep(self._err, data)

    def _keep(self, where: bytearray, data: bytes) -> None:
        # One that shouts on stderr must not cost the other its answer.
        where += data[: max(0, self._bound - len(where))]

    @property
    def out(self) -> str:
        """Standard output as text; bytes that are not UTF-8 are replaced."""
        return self._out.decode(errors="replace")

    @property
    def err(self) -> str:
        """Standard error as text."""
        return self._err.decode(errors="replace")


def run_short(
    transport: Transport, host: Host, command: Command, cancel: Cancel | None = None
) -> tuple[CommandResult, Capture]:
    """Run a short command to its end on the calling thread; its result and what it printed.

    With `cancel` it is stopped as soon as the user wants to stop, instead of being waited for.
    """
    capture = Capture()
    running = transport.start(host, command, capture)
    result, waited_s = running.wait(NAP_S), NAP_S
    while result is None and waited_s < command.deadline_s + MARGIN_S and not (cancel and cancel.wanted):
        result = running.wait(NAP_S)
        waited_s += NAP_S
    if result is None:
        running.stop()
        result = running.wait(MARGIN_S)
    if result is not None and result.kind is ExitKind.STOPPED and cancel and cancel.wanted:
        result = replace(result, reason=cancel.why)
    if result is None:
        result = CommandResult(
            ExitKind.TIMED_OUT, None, command.deadline_s, say("job.timed_out", seconds=command.deadline_s)
        )
    return result, capture


def visit(hosts: Iterable[Host], work: Callable[[Host], T], cancel: Cancel, width: int) -> Iterator[tuple[Host, T]]:
    """Do `work` on every host, `width` at a time; yields (host, result) as they end, on the calling thread.

    After a cancel no further host is begun; those that were not begun are simply not yielded.
    """
    waiting = iter(tuple(hosts))
    running: dict[Future[T], Host] = {}
    pool = ThreadPoolExecutor(max_workers=width, thread_name_prefix="visit")
    try:
        while True:
            while len(running) < width and not cancel.wanted:
                host = next(waiting, None)
                if host is None:
                    break
                running[pool.submit(work, host)] = host
            if not running:
                break
            done, _ = wait(running, timeout=0.5, return_when=FIRST_COMPLETED)
            for future in done:
                yield running.pop(future), future.result()
    finally:
        # Nothing is queued and, after a good end, nothing runs; after a second signal nobody waits for a hung host.
        pool.shutdown(wait=False, cancel_futures=True)
