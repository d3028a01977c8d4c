"""Goodput: tokens that survive over the wall time of a window, and every second of it that made none, by its name.

Row by row, the clock is split into the steady time of the steps that survive, what the steps took above it, and what
lies between steps. What is left has no name and is told as unknown; so useful time and losses are the window, always.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from msgspec import Struct

from healthcheck.model.message import say
from healthcheck.model.training import EventKind, LogRemark, RunEvent
from healthcheck.model.vitals_log import Checkpoints, Goodput, LossKind
from healthcheck.vitals.log_clock import JITTER_S, Clock
from healthcheck.vitals.log_losses import Book
from healthcheck.vitals.log_pace import Pace, RowKind
from healthcheck.vitals.log_rows import Segment, Training
from healthcheck.vitals.log_survival import Survival, saves_of
from healthcheck.vitals.log_work import Work

_NOTICED = 0.5
"""A pause of less than half a step is not counted as a place of its own."""
_STRETCHED = 0.98
NOTHING = 1e-6
_SAVES = frozenset((EventKind.CHECKPOINT_BEGUN, EventKind.CHECKPOINT_SAVED))
_STOPS = frozenset((EventKind.EXIT, EventKind.FAILURE, EventKind.START, EventKind.CHECKPOINT_LOADED))


class Measured(Struct, frozen=True):
    """Goodput of a window, and what was seen on the way. `hidden`: steps that survive and that no line shows."""

    goodput: Goodput
    checkpoints: Checkpoints
    hidden: int
    unkept: int
    """Steps after the last checkpoint, which nothing shows to be kept yet; they count as surviving."""
    remarks: tuple[LogRemark, ...]


class Ledger:
    """One walk over the rows of a window. Times in seconds.

    `timed`: the clock shows the window, which is from `began` to `now`, the end of the step before; else both count
    step times. Of the steps that survive: `steps` how many, `units` their work, `useful` their time at the steady pace,
    `drift` what steady ones took above it. `claimed`: what all steps took, by their own word. `since`: events since the
    last stamp; `paused`: the row before which a pause was told; `last_place`: of the last loss, as long as it goes on.
    """

    def __init__(self, training: Training, work: Work, pace: Pace, clock: Clock, survival: Survival) -> None:
        self.training, self.work, self.pace = training, work, pace
        self.clock, self.survival = clock, survival
        self.timed = False
        self.book = Book()
        self.events: dict[int, list[RunEvent]] = {}
        for before, event in training.events:
            self.events.setdefault(before, []).append(event)
        self.now = self.began = math.nan
        self.useful = self.units = self.drift = self.claimed = 0.0
        self.steps = self.hidden = 0
        self.stalls: list[float] = []
        self.since: list[RunEvent] = []
        self.paused = -1
        self.last_place: tuple[LossKind, int] | None = None

    def measure(self, low: int, high: int) -> Measured:
        """The goodput of rows `low` to `high` - 1."""
        training = self.training
        # A clock that the rest of the log does not show says nothing of a window in there.
        self.timed = self.clock.told and any(at == at for at in self.clock.at[low:])
        for number, (segment, end) in enumerate(zip(training.segments, training.ends(), strict=True)):
            for row in range(max(low, segment.first), min(high, end)):
                self._between(number, row, low)
                self._steps(number, row)
        if high == len(training.rows):
            self._tail(high)
        return self._closed(low, high)

    def busy(self, row: int) -> float:
        """Seconds of the steps of a row; the steady time where nobody says."""
        busy = self.pace.busy[row]
        return busy if busy > 0 else self._steady(row, self.training.rows.steps[row])

    def _steady(self, row: int, steps: int) -> float:
        return steps * self.work.each[row] * self.pace.seconds_a_unit

    def _between(self, number: int, row: int, low: int) -> None:
        """What lies between the step before and the first of this row."""
        segment, busy, at = self.training.segments[number], self.busy(row), self.clock.at[row]
        opens = row == segment.first
        if row == low:
            self._open(number, row, at, busy)
        if not self.timed:
            self._saves_without_clock(row, low)
            return
        if at != at and not opens and row != low and (part := _took(self.events.get(row, ()))) > 0:
            self._stalled(row, part)
            self.now += part
        else:
            self.since += self.events.get(row, ())
        now = at if at == at else self._begun(segment, row, opens) + busy
        gap = now - self.now - busy
        self.now = now
        if at != at and not opens:
            return
        told, self.since = self.since, []
        if row == low and not opens:
            return
        if opens:
            gap -= self._unseen(number, row, gap)
            if gap > self.clock.grain:
                self._lost(LossKind.RESTART, gap, row)
        elif gap > self.clock.grain and told:
            self.paused = row
            self._told(row, gap, told)
        elif gap > max(JITTER_S, _NOTICED * busy / self.training.rows.steps[row]):
            self._lost(LossKind.UNKNOWN, gap, row)

    def _begun(self, segment: Segment, row: int, opens: bool) -> float:
        """When a step without a stamp began: after the one before, and not before its start."""
        if not opens or segment.opened_at_s is None:
            return self.now
        return max(self.now, segment.opened_at_s - self.clock.off(row))

    def _open(self, number: int, row: int, at: float, busy: float) -> None:
        """Where the window begins: with the start that the log tells of, else with the first step."""
        if not self.timed:
            self.began = self.now = 0.0
            return
        if at != at:
            later = next(
                other for other in range(row, len(self.clock.at)) if self.clock.at[other] == self.clock.at[other]
            )
            at = self.clock.at[later] - math.fsum(self.busy(other) for other in range(row + 1, later + 1))
        self.now = at - busy
        segment = self.training.segments[number]
        if row == segment.first and segment.opened_at_s is not None:
            self.now = min(self.now, segment.opened_at_s - self.clock.off(row))
        self.began = self.now

    def _unseen(self, number: int, row: int, gap: float) -> float:
        """Seconds of steps that nobody printed and that survive: the training took up after the last one."""
        if number == 0:
            return 0.0
        rows = self.training.rows
        missing = rows.since(row) - rows.step[row - 1]
        seconds = self._steady(row, missing)
        if missing <= 0 or seconds > gap:
            return 0.0
        self.hidden += missing
        self._count(row, missing)
        return seconds

    def _told(self, row: int, gap: float, events: Sequence[RunEvent]) -> None:
        """A pause in which the log tells of a checkpoint or an evaluation."""
        saves = [event for event in events if event.kind in _SAVES]
        evaluated = any(event.kind is EventKind.EVALUATION for event in events)
        if saves and evaluated:
            part = min(gap, _took(events))
            if part > 0:
                self._stalled(row, part)
            self._lost(LossKind.EVALUATION if part > 0 else LossKind.UNKNOWN, gap - part, row)
        elif saves:
            self._stalled(row, gap)
        elif evaluated:
            self._lost(LossKind.EVALUATION, gap, row)
        elif gap > JITTER_S:
            self._lost(LossKind.UNKNOWN, gap, row)

    def _saves_without_clock(self, row: int, low: int) -> None:
        """Without a clock, only the durations that lines tell lie between steps."""
        if row == low or row not in self.events or self.pace.kinds[row] == RowKind.APART:
            return
        took = sum(event.took_s or 0.0 for event in self.events[row] if event.kind is EventKind.CHECKPOINT_SAVED)
        if took > 0:
            self._stalled(row, took)
            self.now += took

    def _stalled(self, row: int, seconds: float) -> None:
        self.stalls.append(seconds)
        self._lost(LossKind.CHECKPOINT, seconds, row)

    def _lost(self, kind: LossKind, seconds: float, row: int) -> None:
        self.book.add(kind, seconds, row, in_steps=False)

    def _count(self, row: int, steps: int) -> None:
        units = steps * self.work.each[row]
        self.units += units
        self.useful += units * self.pace.seconds_a_unit
        self.steps += steps

    def _steps(self, number: int, row: int) -> None:
        """The steps of a row: those that survive at the steady pace, and what is lost of the rest."""
        rows, busy = self.training.rows, self.busy(row)
        self.claimed += busy
        if not self.timed:
            self.now += busy
        steps = rows.steps[row]
        kept = self.survival.kept(self.training, number, row)
        share = kept / steps if steps else 0.0
        if kept < steps:
            self._in_vain(number, row, busy * (1 - share), steps - kept)
        lost = min(kept, rows.lost[row])
        if lost:
            self._in_step(LossKind.SKIPPED, self._steady(row, lost), row, number, lost)
        self._count(row, kept - lost)
        if kept:
            self._above(number, row, busy * share, self._steady(row, kept))
        if kept and not lost and self.pace.kinds[row] == RowKind.STEADY:
            self.last_place = None

    def _in_vain(self, number: int, row: int, seconds: float, steps: int) -> None:
        last = number == len(self.survival.limits) - 1
        taken = self.survival.cut_at is not None and self.survival.limits[number] == self.survival.cut_at
        self._in_step(LossKind.NOT_KEPT if last or taken else LossKind.REDONE, seconds, row, number, steps)

    def _above(self, number: int, row: int, busy: float, steady: float) -> None:
        """What the surviving steps of a row took above the steady time."""
        kind, excess = self.pace.kinds[row], busy - steady
        if kind == RowKind.STEADY or excess <= NOTHING * steady:
            self.drift += excess
        elif kind == RowKind.WARM_UP:
            self._in_step(LossKind.WARM_UP, excess, row, number)
        elif kind == RowKind.APART and row != self.paused:
            if any(event.kind in _SAVES for event in self.events[row]):
                self.stalls.append(excess)
                self._in_step(LossKind.CHECKPOINT, excess, row, number)
            else:
                self._in_step(LossKind.EVALUATION, excess, row, number)
        else:
            self._in_step(LossKind.SLOW_STEPS, excess, row, number)

    def _in_step(self, kind: LossKind, seconds: float, row: int, segment: int, steps: int = 0) -> None:
        place = (kind, segment)
        self.book.add(kind, seconds, row, in_steps=True, steps=steps, new=place != self.last_place)
        self.last_place = place

    def _tail(self, high: int) -> None:
        """From the last step to the last event that the log gives a time to."""
        if not self.timed:
            return
        off = self.clock.off(high - 1)
        told = self.events.get(high, [])
        times = [event.at_s - off for event in told if event.at_s is not None]
        gap = max(times, default=self.now) - self.now
        if gap <= 0:
            return
        self.now += gap
        kinds = {event.kind for event in told}
        kind = LossKind.UNKNOWN
        if kinds & _STOPS:
            kind = LossKind.RESTART
            if (part := min(gap, _took(told))) > 0:
                self._stalled(high - 1, part)
                gap -= part
        elif kinds & _SAVES:
            kind = LossKind.CHECKPOINT
        elif EventKind.EVALUATION in kinds:
            kind = LossKind.EVALUATION
        if gap > 0:
            self._lost(kind, gap, high - 1)

    def _closed(self, low: int, high: int) -> Measured:
        """The books closed: what has no name yet gets one, so that useful time and losses are the window."""
        window = self.now - self.began
        remarks = []
        if self.drift > NOTHING * window:
            self.book.spread(LossKind.SLOW_STEPS, self.drift)
        unknown = self.book.entries.pop(LossKind.UNKNOWN, None)
        rest = window - self.useful - self.book.in_steps() - self.book.between()
        if -self.clock.grain <= rest < 0:
            # Not more than stamps of whole seconds hide: of a few short steps, they show no time at all.
            window, self.now, rest = window - rest, self.now - rest, 0.0
        if rest < 0:
            # The steps claim more time than the clock shows; or those that survive were faster than the steady ones.
            of_steps, there = self.useful + self.book.in_steps(), window - self.book.between()
            if there < 0:  # the pauses alone are longer, too: times without stamps were put together wrongly
                factor = window / (of_steps + self.book.between())
                self.book.stretch(factor, pauses=True)
            else:
                factor = there / of_steps if of_steps else 1.0
                self.book.stretch(factor)
            if there < _STRETCHED * self.claimed:
                told = say("log.time_clash", steps=self.claimed, clock=there)
                remarks.append(LogRemark(told, self.training.rows.line[low]))
            self.useful *= factor
        elif rest < NOTHING * window:
            self.useful += rest  # what sums of many numbers are off by
        else:
            if unknown is not None:
                self.book.entries[LossKind.UNKNOWN] = unknown
                unknown.between = 0.0
            self.book.spread(LossKind.UNKNOWN, rest)
        return Measured(
            goodput=self._goodput(window),
            checkpoints=self._checkpoints(low, high),
            hidden=self.hidden,
            unkept=self._unkept(high),
            remarks=tuple(remarks),
        )

    def _goodput(self, window: float) -> Goodput:
        losses = self.book.losses(self.training, self.clock.at)
        tokens = self.units if self.work.has_tokens else None
        lasted = window > 0
        return Goodput(
            window_s=window,
            begins_s=self.began if self.timed and lasted else None,
            ends_s=self.now if self.timed and lasted else None,
            window=say("log.window.clock") if self.timed else say("log.window.steps"),
            steps=self.steps,
            tokens=tokens,
            tokens_per_s=tokens / window if tokens is not None and lasted else None,
            share=self.useful / window if lasted else None,
            useful_s=self.useful,
            losses=losses,
            wall_clock=self.timed,
        )

    def _checkpoints(self, low: int, high: int) -> Checkpoints:
        saves = [step for before, step in saves_of(self.training) if low < before <= high]
        between = [other - one for one, other in pairwise(saves) if other > one]
        interval = round(median(between)) if between else None
        risk = None if interval is None else self._steady(high - 1, interval)
        stall = median(self.stalls) if self.stalls else None
        return Checkpoints(len(saves), interval, risk, stall)

    def _unkept(self, high: int) -> int:
        if high < len(self.training.rows) or self.survival.cut_at is not None:
            return 0
        saves = saves_of(self.training)
        return max(0, self.training.rows.step[high - 1] - saves[-1][1]) if saves else 0


def _took(events: Sequence[RunEvent]) -> float:
    """How long the saves among some events took by what their lines tell; 0 where they do not."""
    saves = [event for event in events if event.kind in _SAVES]
    told = sum(event.took_s or 0.0 for event in saves)
    begun = [event.at_s for event in saves if event.kind is EventKind.CHECKPOINT_BEGUN and event.at_s is not None]
    done = [event.at_s for event in saves if event.kind is EventKind.CHECKPOINT_SAVED and event.at_s is not None]
    return told or (max(0.0, done[-1] - begun[0]) if begun and done else 0.0)
