"""One rank's columns -> where the time of its steps went. Which steps count, and why others do not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from healthcheck.model.message import Message, say
from healthcheck.model.vitals_trace import RankTrace, Shares, StepBreakdown
from healthcheck.vitals.breakdown import (
    Busy,
    Window,
    busy_of,
    launched_until,
    step_breakdown,
    window_of_all,
    windows_of,
)
from healthcheck.vitals.call_table import RankCalls
from healthcheck.vitals.columns import UNKNOWN, Kind, RankColumns
from healthcheck.vitals.intervals import NOTHING, Spans, Times, clip, length, times, together

_UNANSWERED = 0.05
"""Of the kernels launched in a step: with more of them missing than in the other steps, the step is not whole."""


@dataclass(frozen=True, slots=True)
class RankTold:
    """One rank, and the calls of its steps that count. Shares of the time of those steps: `foreign` in kernels that
    communicate without NCCL (`foreign_names`, longest first), `opaque` in CUDA graphs recorded as one block."""

    trace: RankTrace
    calls: RankCalls
    world_size: int | None
    foreign_names: tuple[str, ...]
    foreign: float
    opaque: float


def rank_told(columns: RankColumns, whole: bool = False) -> RankTold | None:
    """Where the time of its steps went; None where the file holds nothing a GPU did, or breaks off in its first step.

    `whole`: take everything from the first event to the last as one step, whatever is marked.
    """
    everything = window_of_all(columns.events)
    if everything is None:
        return None
    busy = busy_of(columns.events)
    windows = () if whole else windows_of(columns.events, columns.steps)
    kept, notes = _kept(columns, windows, busy)
    marked = bool(kept)
    if columns.cut and windows and not marked:
        return None
    if not marked:
        kept = (everything,)
        notes = () if whole else (say("trace.note.no_step_with_kernels" if windows else "trace.note.no_steps"),)
    steps = tuple(step_breakdown(window, busy, columns.data_loading) for window in kept)
    trace = RankTrace(
        file=columns.file,
        rank=columns.rank,
        device=columns.device,
        gpu=columns.gpu,
        steps=steps,
        step_s=float(np.median([step.wall_s for step in steps])),
        shares=_shares_of(steps),
        whole=not marked,
        notes=columns.notes + notes,
    )
    calls = _calls_of(columns, kept if marked else ())
    inside = [(_within(kept, spans), name) for name, spans in columns.foreign]
    names = tuple(name for share, name in sorted(inside, reverse=True) if share)
    foreign = _within(kept, together(NOTHING, *(spans for _, spans in columns.foreign)))
    return RankTold(trace, calls, columns.world_size, names, foreign, _within(kept, columns.opaque))


def _within(windows: Sequence[Window], spans: Spans) -> float:
    """Which share of the time of the windows lies in `spans`."""
    wall = sum(window.end - window.begin for window in windows)
    return sum(length(clip(spans, window.begin, window.end)) for window in windows) / wall


def _shares_of(steps: Sequence[StepBreakdown]) -> Shares:
    """Of the wall time of all these steps together: a step that counts has one."""
    wall = sum(step.wall_s for step in steps)
    loading = [step.data_loading_s for step in steps if step.data_loading_s is not None]
    return Shares(
        compute=sum(step.compute_s for step in steps) / wall,
        collective=sum(step.collective_s for step in steps) / wall,
        exposed=sum(step.exposed_s for step in steps) / wall,
        exposed_memcpy=sum(step.exposed_memcpy_s for step in steps) / wall,
        idle=sum(step.idle_s for step in steps) / wall,
        data_loading=sum(loading) / wall if loading else None,
    )


def _kept(
    columns: RankColumns, windows: Sequence[Window], busy: Busy
) -> tuple[tuple[Window, ...], tuple[Message, ...]]:
    """The steps that count, and what is to be said of the others."""
    if not windows:
        return (), ()
    worked = _worked(windows, busy)
    last = len(windows) - _incomplete(columns, worked)
    kept = tuple(window for at, window in enumerate(windows[:last]) if worked[at])
    return kept, tuple(_left_out(windows, last, worked, columns.cut))


def _worked(windows: Sequence[Window], busy: Busy) -> NDArray[np.bool_]:
    """In which of the windows a kernel ran: a step without any was not recorded, and is no idle one."""
    begin, end = times(window.begin for window in windows), times(window.end for window in windows)
    found = np.zeros(len(windows), dtype=bool)
    for spans in (busy.compute, busy.collective):
        found |= np.searchsorted(spans.end, begin, side="right") < np.searchsorted(spans.begin, end, side="left")
    return found & (end > begin)


def _incomplete(columns: RankColumns, worked: NDArray[np.bool_]) -> int:
    """How many of the last steps lack kernels that the host launched in them, or are those in which the file ends."""
    steps = columns.steps
    bounds = np.append(steps.begin, max(int(steps.end[-1]), int(steps.begin[-1]) + 1))
    missing = _in_each(columns.unanswered, bounds)
    launched = columns.events.launch[(columns.events.kind != Kind.MEMCPY) & (columns.events.launch != UNKNOWN)]
    share = missing / np.maximum(missing + _in_each(launched, bounds), 1)
    usual = float(np.median(share[worked])) if worked.any() else 0.0
    lacking = share > usual + _UNANSWERED
    trailing = 0
    while trailing < len(lacking) and lacking[len(lacking) - 1 - trailing]:
        trailing += 1
    if columns.cut:
        return max(trailing, len(worked) - (int(np.flatnonzero(worked)[-1]) if worked.any() else 0))
    return min(trailing, len(lacking) - 1)


def _in_each(moments: Times, bounds: Times) -> NDArray[np.int64]:
    """How many of the moments lie between each bound and the next."""
    return np.diff(np.searchsorted(np.sort(moments), bounds))


def _left_out(windows: Sequence[Window], last: int, worked: NDArray[np.bool_], cut: bool) -> Iterator[Message]:
    gone = windows[last:]
    if gone:
        code = "trace.note.last_cut" if cut else "trace.note.last_incomplete"
        yield say(code, step=gone[0].step, n=len(gone))
    empty = [window for at, window in enumerate(windows[:last]) if not worked[at]]
    if empty:
        yield say("trace.note.empty_steps", n=len(empty), of=len(windows), step=empty[0].step)


def _calls_of(columns: RankColumns, kept: Sequence[Window]) -> RankCalls:
    """The calls of the steps that count, each with the number of its step; all of them where no step is marked."""
    calls, steps = columns.calls, columns.steps
    launch = np.where(calls.launch == UNKNOWN, calls.begin, calls.launch)
    if not kept:
        return RankCalls(calls, np.zeros(len(calls), dtype=np.int64))
    at = np.searchsorted(steps.begin, launch, side="right") - 1
    inside = (at >= 0) & (launch < launched_until(steps)[at])
    step = np.where(inside, steps.number[at], UNKNOWN)
    chosen = np.isin(step, [window.step for window in kept])
    return RankCalls(calls.only(chosen), step[chosen])
