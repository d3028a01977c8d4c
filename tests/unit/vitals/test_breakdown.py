"""Where the time of a step went: by hand, and against a raster of single nanoseconds."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from healthcheck.model.vitals_trace import StepBreakdown
from healthcheck.vitals.breakdown import Window, busy_of, step_breakdown, window_of_all, windows_of
from healthcheck.vitals.columns import UNKNOWN, GpuEvents, Kind, StepMarks
from healthcheck.vitals.intervals import times, union

Event = tuple[Kind, int, int, int]  # kind, launch, begin, end


def gpu(*events: Event) -> GpuEvents:
    columns = [times(event[field] for event in events) for field in range(4)]
    other = times(UNKNOWN for _ in events)
    return GpuEvents(columns[2], columns[3], columns[0].astype(np.int8), columns[1], other, other)


def marks(*steps: tuple[int, int, int]) -> StepMarks:
    return StepMarks(*(times(step[field] for step in steps) for field in range(3)))


def test_overlaps_gaps_and_streams() -> None:
    events = gpu(
        (Kind.COMPUTE, 0, 10, 40),
        (Kind.COMPUTE, 0, 30, 50),  # another stream
        (Kind.COLLECTIVE, 0, 45, 70),  # 20 of it with nothing else
        (Kind.MEMCPY, 0, 65, 75),  # 5 of it with nothing else
        (Kind.COMPUTE, 0, 90, 95),
    )
    found = step_breakdown(Window(3, 0, 100), busy_of(events), None)
    assert found == StepBreakdown(3, 100e-9, 45e-9, 25e-9, 20e-9, 10e-9, 5e-9, 30e-9, None)


def test_data_loading_is_the_part_of_it_in_which_the_gpu_waits() -> None:
    events = gpu((Kind.COMPUTE, 0, 10, 20))
    loading = union(times([0, 15]), times([5, 30]))
    assert step_breakdown(Window(0, 0, 40), busy_of(events), loading).data_loading_s == pytest.approx(15e-9)


def test_the_host_runs_ahead_and_steps_tile_the_time() -> None:
    events = gpu(
        (Kind.COMPUTE, 5, 10, 150),  # launched in step 1, still running when the host is in step 2
        (Kind.COMPUTE, 105, 150, 260),
        (Kind.COMPUTE, 210, 260, 290),
    )
    steps = marks((1, 0, 100), (2, 100, 200), (3, 200, 300))
    assert windows_of(events, steps) == (Window(1, 0, 150), Window(2, 150, 260), Window(3, 260, 300))


def test_a_kernel_outlasts_the_last_step_and_a_copy_holds_none_up() -> None:
    events = gpu((Kind.COMPUTE, 50, 90, 130), (Kind.MEMCPY, 50, 60, 900))
    assert windows_of(events, marks((1, 0, 100))) == (Window(1, 0, 130),)


def test_a_pause_between_two_steps_is_of_neither() -> None:
    events = gpu((Kind.COMPUTE, 10, 20, 110), (Kind.COMPUTE, 910, 920, 990))
    assert windows_of(events, marks((1, 0, 100), (9, 900, 1000))) == (Window(1, 0, 110), Window(9, 900, 1000))
    assert windows_of(events, marks((1, 0, 100), (2, 151, 890)))[0] == Window(1, 0, 110)
    assert windows_of(events, marks((1, 0, 100), (2, 149, 890)))[0] == Window(1, 0, 149)


def test_what_is_launched_in_a_pause_or_after_the_last_step_is_of_none() -> None:
    evaluation, checkpoint = (Kind.COMPUTE, 300, 310, 700), (Kind.COMPUTE, 1200, 1210, 5000)
    events = gpu((Kind.COMPUTE, 10, 20, 110), evaluation, (Kind.COMPUTE, 910, 920, 1050), checkpoint)
    assert windows_of(events, marks((1, 0, 100), (9, 900, 1000))) == (Window(1, 0, 110), Window(9, 900, 1050))


def test_a_kernel_without_a_launch_belongs_where_it_ran() -> None:
    events = gpu((Kind.COMPUTE, UNKNOWN, 110, 120))
    assert windows_of(events, marks((1, 0, 100), (2, 100, 200)))[0] == Window(1, 0, 100)


def test_no_events_no_window() -> None:
    assert window_of_all(gpu()) is None
    assert window_of_all(gpu((Kind.COMPUTE, 0, 5, 5))) is None
    assert windows_of(gpu((Kind.COMPUTE, 0, 0, 1)), marks()) == ()


EVENT = st.tuples(st.sampled_from(Kind), st.integers(0, 40), st.integers(0, 50), st.integers(0, 20))


@given(st.lists(EVENT, max_size=10), st.integers(0, 40), st.integers(0, 40))
@settings(max_examples=300, deadline=None)
def test_against_a_raster(raw: list[Event], begin: int, wall: int) -> None:
    events = [(kind, launch, at, at + took) for kind, launch, at, took in raw]
    found = step_breakdown(Window(1, begin, begin + wall), busy_of(gpu(*events)), None)
    seen = dict.fromkeys(Kind, 0)
    exposed = copies = idle = 0
    for moment in range(begin, begin + wall):
        on = {kind for kind, _, start, end in events if start <= moment < end}
        for kind in on:
            seen[kind] += 1
        exposed += Kind.COLLECTIVE in on and Kind.COMPUTE not in on
        copies += on == {Kind.MEMCPY}
        idle += not on
    assert [
        round(value * 1e9)
        for value in (found.compute_s, found.collective_s, found.memcpy_s, found.exposed_s, found.exposed_memcpy_s)
    ] == [seen[Kind.COMPUTE], seen[Kind.COLLECTIVE], seen[Kind.MEMCPY], exposed, copies]
    assert round(found.idle_s * 1e9) == idle
    parts = found.compute_s + found.exposed_s + found.exposed_memcpy_s + found.idle_s
    assert parts == pytest.approx(found.wall_s, abs=1e-15)


@given(st.lists(EVENT, max_size=10), st.lists(st.integers(0, 50), min_size=1, max_size=5))
@settings(max_examples=100, deadline=None)
def test_windows_tile_the_time(raw: list[Event], cuts: list[int]) -> None:
    events = gpu(*((kind, launch, at, at + took) for kind, launch, at, took in raw))
    begins = sorted(cuts)
    bounds = itertools.pairwise([*begins, 60])
    steps = marks(*((n, at, end) for n, (at, end) in enumerate(bounds)))
    windows = windows_of(events, steps)
    assert [window.step for window in windows] == list(range(len(begins)))
    assert all(one.end == other.begin for one, other in itertools.pairwise(windows))
    assert all(window.begin <= window.end for window in windows)
