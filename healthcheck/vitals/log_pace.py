"""How long the steps took: whose word is taken for it, what is warm-up, and which rate is the steady one.

Everything is in units of work: tokens where the log tells them, else samples, else steps; so that a batch size that
grows is no slow step. Steady is, after warm-up, what lies at or below median + 3 MAD of the seconds that a unit
of work took.
"""

from __future__ import annotations

import math
from array import array
from enum import IntEnum

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from healthcheck.model.message import Message, say
from healthcheck.model.training import LogRemark
from healthcheck.model.vitals_log import StepTime
from healthcheck.vitals.log_rows import NAN, Training
from healthcheck.vitals.log_times import SET_APART, Times
from healthcheck.vitals.log_work import Work

Numbers = NDArray[np.float64]
MADS = 3.0
"""Rule of thumb: a step is slow above median + so many median absolute deviations."""
MOST_WARM_UP = 10
"""The first report of a start is warm-up, and what follows as long as it is slow, up to so many reports."""
ROUNDED_UP = 0.1
LAST_DIGIT = 0.1
"""A last digit, of step times or of seconds over twenty, makes less of a difference than this part of them."""
USUAL_FROM = 0.8
"""A step from 0.8 of the median on is a usual one."""


class RowKind(IntEnum):
    """What a row is."""

    STEADY = 0
    WARM_UP = 1
    SLOW = 2
    APART = 3
    """A slow one in which the training saved or evaluated."""


class Pace(Struct):
    """`busy`: seconds of all steps of a row, NaN where nobody says; `kinds`: the `RowKind` of each row.

    `seconds_a_unit` of work is the steady pace; above `limit` one was slow. `basis`: whose word the times are, and
    `from_clock` whether they are differences of stamps; `remarks`: what was mended.
    """

    busy: array[float]
    kinds: bytearray
    seconds_a_unit: float
    limit: float
    basis: Message
    remarks: list[LogRemark]
    from_clock: bool


def pace_of(training: Training, work: Work, times: Times) -> Pace | None:
    """The pace of a training; None where no two numbers of it say how long a step takes."""
    busy = array("d", times.busy)
    pace = _seconds_a_unit(training, busy, work)
    effective = (pace > 0) & (np.frombuffer(training.rows.lost, np.int32) == 0)
    sound = effective.copy()
    sound[[segment.first for segment in training.segments]] = False
    if not sound.any():
        sound = pace > 0
    if not sound.any():
        return None
    median, limit = limit_of(pace[sound])
    remarks = _mend_second(training, busy, pace, (median, limit), work)
    kinds = _kinds(training, pace, limit)
    steady = effective & (kinds == RowKind.STEADY)
    if not steady.any():  # a log of a few lines: all of it, rather than nothing
        kinds[:] = RowKind.STEADY
        steady = pace > 0
    seconds = float(np.frombuffer(busy)[steady].sum())
    units = float((np.frombuffer(training.rows.steps, np.int32) * np.frombuffer(work.each))[steady].sum())
    return Pace(busy, bytearray(kinds), seconds / units, limit, times.basis, remarks, times.from_clock)


def _seconds_a_unit(training: Training, busy: array[float], work: Work) -> Numbers:
    """Of each row; NaN where nobody says."""
    units = np.frombuffer(training.rows.steps, np.int32) * np.frombuffer(work.each)
    pace = np.full(len(busy), NAN)
    np.divide(np.frombuffer(busy), units, out=pace, where=units > 0)
    return pace


def limit_of(values: Numbers) -> tuple[float, float]:
    """Median, and median + 3 MAD.

    Where most values are the same to the last printed digit, the next one above is not slow if many have it and it is
    no further than a digit: it is the same time, rounded up.
    """
    median = float(np.median(values))
    spread = float(np.median(np.abs(values - median)))
    if spread == 0:
        above = values[(values > median) & (values <= median * (1 + LAST_DIGIT))]
        if len(above) and np.count_nonzero(values <= above.min()) - np.count_nonzero(values <= median) >= (
            ROUNDED_UP * len(values)
        ):
            spread = (float(above.min()) - median) / MADS
    return median, median + MADS * spread


def _rows_apart(training: Training) -> frozenset[int]:
    """Rows before which, and after the row before, the training saved or evaluated."""
    return frozenset(before for before, event in training.events if event.kind in SET_APART)


def _kinds(training: Training, pace: Numbers, limit: float) -> NDArray[np.uint8]:
    """What each row is."""
    apart = sorted(row for row in _rows_apart(training) if row < len(pace))
    beside = np.zeros(len(pace), bool)
    beside[apart] = True
    slow = pace > limit
    kinds = np.where(slow, np.where(beside, RowKind.APART, RowKind.SLOW), RowKind.STEADY).astype(np.uint8)
    for segment, end in zip(training.segments, training.ends(), strict=True):
        warm = min(segment.first + 1, end) if end - segment.first > 1 or len(training.segments) > 1 else segment.first
        while warm < min(segment.first + MOST_WARM_UP, end) and slow[warm] and not beside[warm]:
            warm += 1
        kinds[segment.first : warm] = RowKind.WARM_UP
    return kinds


def _mend_second(
    training: Training, busy: array[float], pace: Numbers, usual: tuple[float, float], work: Work
) -> list[LogRemark]:
    """Some frameworks count the first step after a start twice: in its own report and in the mean of the next one.

    Taken out where the rest is a usual step, and the whole is not.
    """
    median, limit = usual
    steps, rows = training.rows.steps, training.rows
    found = []
    for segment, end in zip(training.segments, training.ends(), strict=True):
        one, two = segment.first, segment.first + 1
        if two >= end or not pace[two] > limit or math.isnan(busy[one]) or not work.each[two] > 0:
            continue
        both = busy[two] / steps[two] * (steps[one] + steps[two])
        rest = (both - busy[one]) / (steps[two] * work.each[two])
        if USUAL_FROM * median <= rest <= max(limit, median / USUAL_FROM):
            busy[two] = both - busy[one]
            pace[two] = rest
            found.append(rows.line[two])
    return [LogRemark(say("log.first_twice", n=len(found)), found[0], len(found))] if found else []


def step_time(training: Training, work: Work, pace: Pace, low: int, high: int) -> StepTime | None:
    """Step Time over the rows from `low` to before `high` without warm-up; of the batch size that most of them have.

    None without one.
    """
    part = slice(low, high)
    steps, kinds = np.frombuffer(training.rows.steps, np.int32)[part], np.frombuffer(pace.kinds, np.uint8)[part]
    busy, each = np.frombuffer(pace.busy)[part], np.frombuffer(work.each)[part]
    sizes, counts = np.unique(each, return_counts=True)
    kept = ((kinds == RowKind.STEADY) | (kinds == RowKind.SLOW)) & (busy > 0) & (each == sizes[counts.argmax()])
    if not kept.any():
        return None
    # Of a report of one step in several, that step's own time.
    printed, covers = np.frombuffer(training.rows.time)[part], np.frombuffer(training.rows.covers, np.int32)[part]
    alone = (steps > covers) & (printed > 0) & (not pace.from_clock)
    times = np.where(alone, printed, busy / np.maximum(steps, 1))[kept]
    times.sort()
    median, p95 = float(np.median(times)), _percentile(times, 0.95)
    steady = kept & (kinds == RowKind.STEADY)
    n = int(steps[steady].sum())
    means = covers[kept] > 1
    return StepTime(
        median_s=median,
        p95_s=p95,
        spread=(p95 - median) / median,
        steady_s=float(busy[steady].sum()) / n if n else median,
        reports=len(times),
        steps=int(steps[kept].sum()),
        warm_up=int(np.count_nonzero(kinds == RowKind.WARM_UP)),
        outliers=len(times) - int(np.count_nonzero(steady)),
        interval_means=bool(means.any()) or (pace.from_clock and bool((steps[kept] > 1).any())),
        worst_s=float(times[-1]),
        basis=pace.basis,
        p10_s=_percentile(times, 0.10),
    )


def _percentile(ordered: Numbers, share: float) -> float:
    """The smallest of the values that so many of them do not exceed (nearest rank): one that was measured."""
    return float(ordered[max(0, math.ceil(share * len(ordered)) - 1)])
