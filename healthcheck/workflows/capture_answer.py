"""What a capture comes to: its exports read as `vitals trace` reads them, and what the profiler cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from healthcheck.errors import InputError
from healthcheck.model.message import Message, say
from healthcheck.model.vitals_capture import CaptureVitals, HostCommand
from healthcheck.model.vitals_trace import SLOWED, TraceVitals
from healthcheck.workflows.capture import Captured

_INCONCLUSIVE = 3


def concluded(
    captured: Captured,
    commands: tuple[HostCommand, ...],
    folder: str,
    read: Callable[[Sequence[str]], TraceVitals],
    logged: tuple[bool, float | None],
) -> CaptureVitals:
    """The answer. `read` is what reads profiles (InputError where they are none); `logged`: whether a log was given to
    compare with, and its step time in seconds."""
    trace, why = None, captured.why
    if captured.files:
        try:
            trace = read([file.export for file in captured.files])
        except InputError as error:
            why = (say("capture.unreadable", problem=str(error)), *why)
    if trace is not None and not trace.ranks:
        why = (*(trace.missing if trace.hidden_in_graphs else _nothing(captured)), *why)
    profiled_s = None if trace is None else trace.marked_step_s
    return CaptureVitals(
        ran=True,
        commands=commands,
        folder=folder,
        files=captured.files,
        trace=trace,
        profiled_step_s=profiled_s,
        logged_step_s=logged[1],
        why=why,
        notes=(*captured.notes, *_cost(profiled_s, logged)),
        exit_code=_INCONCLUSIVE if trace is None else trace.exit_code,
        started=captured.started,
    )


def _nothing(captured: Captured) -> tuple[Message, ...]:
    return (say("capture.no_kernels"), *captured.heard)


def _cost(profiled_s: float | None, logged: tuple[bool, float | None]) -> Iterator[Message]:
    given, logged_s = logged
    if given and not logged_s:
        yield say("capture.no_log_time")
    elif logged_s and profiled_s is None:
        yield say("capture.no_step_time")
    elif logged_s and profiled_s is not None:
        slowed, faster = profiled_s > SLOWED * logged_s, logged_s > SLOWED * profiled_s
        percent = (profiled_s / logged_s - 1) * 100
        code = "capture.slowed" if slowed else "capture.faster" if faster else "capture.not_slowed"
        yield say(code, profiled=profiled_s, logged=logged_s, percent=percent)
