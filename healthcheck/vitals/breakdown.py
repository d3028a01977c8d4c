"""Where the time of a step went on one GPU: intervals by kind -> StepBreakdown. Unions, never sums.

A step on the GPU is not the step of the host: the host runs ahead. Step N begins where the host begins it, or, where
the GPU is still busy with what was launched before, where that ends; it lasts until the next one begins. So the
windows of steps that follow each other tile the time: nothing is counted twice, and nothing falls between two.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from healthcheck.model.vitals_trace import StepBreakdown
from healthcheck.vitals.columns import UNKNOWN, GpuEvents, Kind, StepMarks
from healthcheck.vitals.intervals import LATEST, NS, Spans, Times, clip, length, subtract, together, union

_PAUSE = 0.5
"""Of the length of a step on the host: what is longer between two steps belongs to neither."""


@dataclass(frozen=True, slots=True)
class Busy:
    """When the GPU did each kind of thing, over the whole file."""

    compute: Spans
    collective: Spans
    memcpy: Spans


@dataclass(frozen=True, slots=True)
class Window:
    """One step on the GPU, in nanoseconds."""

    step: int
    begin: int
    end: int


def busy_of(events: GpuEvents) -> Busy:
    """The union of the events of each kind, over all streams."""

    def of(kind: Kind) -> Spans:
        chosen = events.kind == kind
        return union(events.begin[chosen], events.end[chosen])

    return Busy(of(Kind.COMPUTE), of(Kind.COLLECTIVE), of(Kind.MEMCPY))


def windows_of(events: GpuEvents, steps: StepMarks) -> tuple[Window, ...]:
    """The steps as the GPU saw them; a kernel belongs to the step in which the host launched it.

    Kernels whose launch is not in the file belong where they ran. Copies do not hold a step up: a checkpoint that is
    copied away beside the next steps is not theirs.
    """
    if not len(steps):
        return ()
    kernels = events.kind != Kind.MEMCPY
    launch = np.where(events.launch == UNKNOWN, events.begin, events.launch)[kernels]
    begins = np.maximum.accumulate(np.maximum(steps.begin, _done_before(launch, events.end[kernels], steps.begin)))
    done = _done_before(launch, events.end[kernels], launched_until(steps))
    own_end = np.maximum(np.maximum(steps.end, done), begins)
    nexts = np.append(begins[1:], LATEST)
    ends = np.where(_followed(steps), nexts, np.minimum(own_end, nexts))
    return tuple(
        Window(number, begin, end)
        for number, begin, end in zip(steps.number.tolist(), begins.tolist(), ends.tolist(), strict=True)
    )


def launched_until(steps: StepMarks) -> Times:
    """Up to when what the host launches belongs to each step: to the next one, or, where that does not follow at once,
    to its own end."""
    return np.where(_followed(steps), np.append(steps.begin[1:], steps.end[-1:]), steps.end)


def _followed(steps: StepMarks) -> NDArray[np.bool_]:
    """Which steps are followed by the next one at once: what lies between (an evaluation, a pause of the profiler) is
    of no step."""
    gap = steps.begin[1:] - steps.end[:-1]
    close = gap <= _PAUSE * (steps.end - steps.begin)[:-1]
    return np.append(close & (np.diff(steps.number) == 1), False)


def _done_before(launch: Times, end: Times, moments: Times) -> Times:
    """For each moment: when the GPU was done with all that had been launched before it."""
    order = np.argsort(launch, kind="stable")
    reach = np.maximum.accumulate(np.concatenate(([-LATEST], end[order])))
    return reach[np.searchsorted(launch[order], moments, side="left")]


def window_of_all(events: GpuEvents) -> Window | None:
    """From the first event to the last, where no step is marked; None where there is none that lasted."""
    lasted = events.end > events.begin
    if not lasted.any():
        return None
    return Window(0, int(events.begin[lasted].min()), int(events.end[lasted].max()))


def step_breakdown(window: Window, busy: Busy, data_loading: Spans | None) -> StepBreakdown:
    """Where the time of one window went; `data_loading` as in `RankColumns`."""
    compute, collective, memcpy = (
        clip(each, window.begin, window.end) for each in (busy.compute, busy.collective, busy.memcpy)
    )
    work = together(compute, collective)
    anything = together(work, memcpy)
    return StepBreakdown(
        step=window.step,
        wall_s=(window.end - window.begin) / NS,
        compute_s=length(compute) / NS,
        collective_s=length(collective) / NS,
        exposed_s=(length(work) - length(compute)) / NS,
        memcpy_s=length(memcpy) / NS,
        exposed_memcpy_s=(length(anything) - length(work)) / NS,
        idle_s=(window.end - window.begin - length(anything)) / NS,
        data_loading_s=None if data_loading is None else _idle_in(window, anything, data_loading) / NS,
    )


def _idle_in(window: Window, busy: Spans, data_loading: Spans) -> int:
    """How long the host waited for data while the GPU did nothing."""
    return length(subtract(clip(data_loading, window.begin, window.end), busy))
