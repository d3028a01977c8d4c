"""How long the steps took: whose word is taken for it, what is warm-up, and which rate is the steady one.

Everything is in units of work: tokens where the log tells them, else samples, else steps; so that a batch size that
grows is no slow step. Steady is, after warm-up, what lies at or below median + 3 MAD of the seconds that a unit
of work took.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_right
from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct

from healthcheck.model.message import Message, say
from healthcheck.model.training import EventKind, LogRemark
from healthcheck.model.vitals_log import StepTime
from healthcheck.vitals.log_rows import NAN, Training
from healthcheck.vitals.log_times import Times
from healthcheck.vitals.log_work import Work

MADS = 3.0
"""Rule of thumb: a step is slow above median + so many median absolute deviations."""
MOST_WARM_UP = 10
"""The first report of a start is warm-up, and what follows as long as it is slow, up to so many reports."""
ROUNDED_UP = 0.1
USUAL_FROM = 0.8
"""A step from 0.8 of the median on is a usual one."""
_APART = frozenset((EventKind.CHECKPOINT_BEGUN, EventKind.CHECKPOINT_SAVED, EventKind.EVALUATION))


class Kind(StrEnum):
    """What a row is."""

    STEADY = "steady"
    WARM_UP = "warm_up"
    SLOW = "slow"
    APART = "apart"
    """A slow one in which the training saved or evaluated."""


class Pace(Struct):
    """`busy`: seconds of all steps of a row, NaN where nobody says; `kinds` of rows; `second_a_unit` the steady pace.

    `limit`: above it, a unit of work was slow. `basis`: whose word the times are; `remarks`: what was mended.
    """

    busy: array[float]
    kinds: bytearray
    seconds_a_unit: float
    limit: float
    basis: Message
    remarks: list[LogRemark]
    from_clock: bool


STEADY, WARM_UP, SLOW, APART = range(4)
KINDS = (Kind.STEADY, Kind.WARM_UP, Kind.SLOW, Kind.APART)


def pace_of(training: Training, work: Work, times: Times) -> Pace | None:
    """The pace of a training; None where no two numbers of it say how long a step takes."""
    busy = array("d", times.busy)
    each = work.each
    steps, lost = training.rows.steps, training.rows.lost
    pace = array("d", (t / (n * w) if n and w > 0 else NAN for t, n, w in zip(busy, steps, each, strict=True)))
    kinds = bytearray(len(busy))
    apart = _rows_apart(training)
    firsts = {segment.first for segment in training.segments}
    sound = [p for row, p in enumerate(pace) if p > 0 and row not in firsts and lost[row] == 0]
    sound = sound or [p for p in pace if p > 0]
    if not sound:
        return None
    median, limit = limit_of(sound)
    remarks = _mend_second(training, busy, pace, (median, limit), work)
    _mark(training, kinds, pace, limit, apart)
    steady = [row for row, kind in enumerate(kinds) if kind == STEADY and pace[row] > 0 and lost[row] == 0]
    if not steady:  # a log of a few lines: all of it, rather than nothing
        for row in range(len(kinds)):
            kinds[row] = STEADY
        steady = [row for row in range(len(kinds)) if pace[row] > 0]
    seconds = math.fsum(busy[row] for row in steady)
    units = math.fsum(steps[row] * each[row] for row in steady)
    return Pace(busy, kinds, seconds / units, limit, times.basis, remarks, times.from_clock)


def limit_of(values: Sequence[float]) -> tuple[float, float]:
    """Median, and median + 3 MAD.

    Where most values are the same to the last printed digit, the next one above is not slow if many have it: it is the
    same time, rounded up.
    """
    ordered = sorted(values)
    median = middle(ordered)
    spread = middle(sorted(abs(value - median) for value in ordered))
    if spread == 0:
        above = ordered[bisect_right(ordered, median) :]
        if above and bisect_right(above, above[0]) >= ROUNDED_UP * len(ordered):
            spread = (above[0] - median) / MADS
    return median, median + MADS * spread


def middle(ordered: Sequence[float]) -> float:
    """The median of values in their order."""
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def nearest_rank(ordered: Sequence[float], share: float) -> float:
    """The smallest value that at least `share` of all are not above."""
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def _rows_apart(training: Training) -> frozenset[int]:
    """Rows before which, and after the row before, the training saved or evaluated."""
    return frozenset(before for before, event in training.events if event.kind in _APART)


def _mark(training: Training, kinds: bytearray, pace: array[float], limit: float, apart: frozenset[int]) -> None:
    for segment, end in zip(training.segments, training.ends(), strict=True):
        warm = min(segment.first + 1, end) if end - segment.first > 1 or len(training.segments) > 1 else segment.first
        while warm < min(segment.first + MOST_WARM_UP, end) and pace[warm] > limit and warm not in apart:
            warm += 1
        for row in range(segment.first, warm):
            kinds[row] = WARM_UP
        for row in range(warm, end):
            if pace[row] > limit:
                kinds[row] = APART if row in apart else SLOW


def _mend_second(
    training: Training, busy: array[float], pace: array[float], usual: tuple[float, float], work: Work
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


def step_time(training: Training, work: Work, pace: Pace, rows: Sequence[int]) -> StepTime | None:
    """Step Time over `rows` without warm-up; of the batch size that most of them have. None without one."""
    steps, busy, each = training.rows.steps, pace.busy, work.each
    usual = _usual([each[row] for row in rows])
    kept = [row for row in rows if pace.kinds[row] in (STEADY, SLOW) and busy[row] > 0 and each[row] == usual]
    if not kept:
        return None
    times = sorted(busy[row] / steps[row] for row in kept)
    median, p95 = middle(times), nearest_rank(times, 0.95)
    steady = [row for row in kept if pace.kinds[row] == STEADY]
    seconds, n = math.fsum(busy[row] for row in steady), sum(steps[row] for row in steady)
    return StepTime(
        median,
        p95,
        (p95 - median) / median,
        seconds / n if n else median,
        len(kept),
        sum(steps[row] for row in kept),
        sum(pace.kinds[row] == WARM_UP for row in rows),
        len(kept) - len(steady),
        any(training.rows.covers[row] > 1 for row in kept) or (pace.from_clock and any(steps[r] > 1 for r in kept)),
        times[-1],
        pace.basis,
    )


def _usual(values: Sequence[float]) -> float:
    counts: dict[float, int] = {}
    for value in values:
        counts[value] = counts.get(value, 0) + 1
    return max(counts, key=lambda value: counts[value], default=1.0)
