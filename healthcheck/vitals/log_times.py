"""How long each row took, and by whose word: printed times, else rates, else the clock in front of the lines."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Sequence
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from healthcheck.model.message import Message, say
from healthcheck.model.training import EventKind
from healthcheck.vitals.log_rows import NAN, Training
from healthcheck.vitals.log_work import GivenWork, Work

SET_APART = frozenset((EventKind.CHECKPOINT_BEGUN, EventKind.CHECKPOINT_SAVED, EventKind.EVALUATION))
"""In whose step the training did something else, too."""
_LONGER = 1.1
_RULE = 2.0
_JITTER_S = 2.0
_SPAN = 20.0
"""Of a clock that shows whole seconds, differences are taken over so many at least."""


class Times(Struct, frozen=True):
    """Seconds of all steps of each row, NaN where nobody says, and whose word that is.

    `from_clock`: they are differences of the stamps, and hold whatever happened between.
    """

    busy: array[float]
    basis: Message
    from_clock: bool = False


def times_of(training: Training, work: Work, at: Sequence[float], given: GivenWork) -> Times | None:
    """The times of a training; `at`: its stamps, without jumps. None where nothing tells how long a step takes."""
    rows = training.rows
    if _known(rows.time) * 2 >= len(rows) > 0:
        return Times(_with_extra(training, rows.time), say("log.time.printed"))
    if (rates := _step_times(training, work, given)) is not None:
        busy = _with_extra(training, rates)
        by_clock = _by_clock(training, at) if _longer_than_clock(training, busy, at) else None
        if by_clock is None:
            return Times(busy, say("log.time.rate"))
        return replace(by_clock, basis=say("log.time.clock_beside_rate", basis=by_clock.basis))
    return _by_clock(training, at)


def _known(values: Sequence[float]) -> int:
    return sum(1 for value in values if value > 0)


def _with_extra(training: Training, times: Sequence[float]) -> array[float]:
    """Seconds of all steps of a row. A mean that also covers the first step of the start has that step taken out."""
    steps, covers = training.rows.steps, training.rows.covers
    busy = array("d", times)
    for row, n in enumerate(steps):
        if n > covers[row]:
            busy[row] = covers[row] * times[row] + (n - covers[row]) * _unseen(times, row)
        elif n != 1:
            busy[row] *= n
        if not 0 < busy[row] < math.inf:
            busy[row] = NAN
    for segment, end in zip(training.segments, training.ends(), strict=True):
        row = segment.first + 1
        if row < end and covers[row] > steps[row]:
            rest = times[row] * covers[row] - busy[row - 1]
            busy[row] = rest if rest > 0 else busy[row]
    return busy


def _unseen(times: Sequence[float], row: int) -> float:
    """A step that no line shows, between this report and the one before: it evaluated or saved nothing.

    So it took what the neighbours took, where the one that is shown took longer.
    """
    beside = (times[other] for other in (row - 1, row + 1) if 0 <= other < len(times))
    return min(times[row], max((time for time in beside if time > 0), default=times[row]))


def _step_times(training: Training, work: Work, given: GivenWork) -> array[float] | None:
    """Batch over printed rate; None where most rows lack one."""
    rows, gpus = training.rows, given.gpus or training.facts.gpus
    found = array("d", [NAN]) * len(rows)
    for row in range(len(rows)):
        rate, batch = rows.tokens_per_s(row, gpus), work.each[row]
        if not work.has_tokens or rate is None:
            rate, batch = rows.value("samples_per_s", row), work.samples or NAN
        if rate is not None and rate > 0:
            found[row] = batch / rate
    return found if _known(found) * 2 >= len(rows) > 0 else None


def _longer_than_clock(training: Training, busy: Sequence[float], at: Sequence[float]) -> bool:
    """Do the steps take longer than the lines are apart? Then the batch, or the number of GPUs, is another one."""
    steps = clock = 0.0
    for segment, end in zip(training.segments, training.ends(), strict=True):
        for row in range(segment.first + 1, end):
            if busy[row] > 0 and at[row] >= at[row - 1]:
                steps, clock = steps + busy[row], clock + at[row] - at[row - 1]
    return steps > _LONGER * clock + _JITTER_S > _JITTER_S


def _by_clock(training: Training, at: Sequence[float]) -> Times | None:
    if _known(at) * 2 < len(at) or len(at) < 2:
        return None
    block = _block(training, at)
    alone = _pauses(training, at) if block > 1 else frozenset()
    busy = array("d", [NAN]) * len(at)
    for segment, end in zip(training.segments, training.ends(), strict=True):
        for first, last in _spans(segment.first, end - 1, block, alone):
            steps = sum(training.rows.steps[first + 1 : last + 1])
            took = at[last] - at[first]
            for row in range(first + 1, last + 1):
                busy[row] = took / steps * training.rows.steps[row] if took > 0 and steps else NAN
    basis = say("log.time.clock") if block == 1 else say("log.time.coarse_clock", n=block)
    return Times(busy, basis, from_clock=True) if _known(busy) else None


def _spans(first: int, end: int, block: int, alone: frozenset[int]) -> Iterator[tuple[int, int]]:
    """From which row to which a difference is taken: over a pause by itself, so that it makes no other step slow."""
    while first < end:
        last = min(first + block, end)
        pause = next((row for row in range(first + 1, last + 1) if row in alone), None)
        last = last if pause is None else max(pause - 1, first + 1)
        yield first, last
        first = last


def _pauses(training: Training, at: Sequence[float]) -> frozenset[int]:
    """Rows before which the training saved or evaluated, or the clock shows far more than as a rule."""
    gaps = [now - before if now >= before else 0.0 for before, now in pairwise(at)]
    most = _RULE * sorted(gaps)[len(gaps) // 2] + _JITTER_S
    long = (row for row, gap in enumerate(gaps, 1) if gap > most)
    return frozenset((*long, *(before for before, event in training.events if event.kind in SET_APART)))


def _block(training: Training, at: Sequence[float]) -> int:
    """Over how many rows a difference is taken, so that whole seconds do not matter."""
    if any(value % 1 for value in at if value > 0):
        return 1
    span = rows = 0.0
    for segment, end in zip(training.segments, training.ends(), strict=True):
        took = at[end - 1] - at[segment.first]
        if took > 0:
            span, rows = span + took, rows + end - 1 - segment.first
    return max(1, math.ceil(_SPAN * rows / span)) if span else 1
