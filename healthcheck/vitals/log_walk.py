"""The clock walked over the rows of a window: what each second was, in the steps of a row and before them.

A row is taken in two parts. What lies between the step before and its first is a restart, a pause that the log tells
of, or unknown; what its steps took is for `log_spent` to say. `Counted.now` is then the end of its last step.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from healthcheck.model.training import EventKind, RunEvent
from healthcheck.model.vitals_log import LossKind
from healthcheck.vitals.log_clock import JITTER_S
from healthcheck.vitals.log_counted import Counted
from healthcheck.vitals.log_pace import RowKind
from healthcheck.vitals.log_seen import Seen
from healthcheck.vitals.log_spent import SAVES, spend

_NOTICED = 0.5
"""A pause of less than half a step is not counted as a place of its own."""
_STOPS = frozenset((EventKind.EXIT, EventKind.FAILURE, EventKind.START, EventKind.CHECKPOINT_LOADED))


def walk(seen: Seen) -> Counted:
    """Over the rows of the window, and to the end of the log where it ends there."""
    # A clock that the rest of the log does not show says nothing of a window in there.
    timed = seen.clock.told and any(at == at for at in seen.clock.at[seen.low :])
    return (_TimedWalk if timed else _Walk)(seen, Counted(timed)).to_the_end()


class _Walk:
    """Without a clock: the steps take what they say, and only the durations that lines tell lie between them."""

    def __init__(self, seen: Seen, counted: Counted) -> None:
        self.seen, self.counted = seen, counted
        self.events: dict[int, list[RunEvent]] = {}
        for before, event in seen.training.events:
            self.events.setdefault(before, []).append(event)

    def to_the_end(self) -> Counted:
        """Row by row."""
        seen, training = self.seen, self.seen.training
        for number, (segment, end) in enumerate(zip(training.segments, training.ends(), strict=True)):
            for row in range(max(seen.low, segment.first), min(end, seen.high)):
                if row == seen.low:
                    self.counted.began = self.counted.now = self.begin(number)
                paused = self.between(number, row)
                spend(seen, self.counted, number, row, () if paused else self.events.get(row, ()))
        if seen.high == len(training.rows):
            self.after(self.events.get(seen.high, ()))
        return self.counted

    def begin(self, number: int) -> float:
        """Where the window begins; `number`: of the start its first row belongs to."""
        return 0.0

    def between(self, number: int, row: int) -> bool:
        """What lies before the steps of a row; do its events explain a pause there, and not what the steps took?

        `Counted.now` is the end of the steps then.
        """
        if row != self.seen.low and self.seen.pace.kinds[row] != RowKind.APART:
            saves = (event for event in self.events.get(row, ()) if event.kind is EventKind.CHECKPOINT_SAVED)
            self._stalled(row, sum(event.took_s or 0.0 for event in saves))
        self.counted.now += self.seen.busy(row)
        return False

    def after(self, told: Sequence[RunEvent]) -> None:
        """What lies between the last step and the end of the log, which tells of these events there."""

    def _stalled(self, row: int, took: float) -> None:
        if took > 0:
            self.counted.stall(took, row)
            self.counted.now += took


class _TimedWalk(_Walk):
    """With a clock: what it shows between two stamps and the steps did not take lies between them.

    `since`: events since the last stamp.
    """

    def __init__(self, seen: Seen, counted: Counted) -> None:
        super().__init__(seen, counted)
        self.since: list[RunEvent] = []

    def begin(self, number: int) -> float:
        """With the start that the log tells of, else with the first step."""
        seen, low = self.seen, self.seen.low
        at = seen.clock.at
        stamped = next(row for row in range(low, len(at)) if at[row] == at[row])
        ended = at[stamped]
        if stamped != low:
            ended -= math.fsum(seen.busy(row) for row in range(low + 1, stamped + 1))
        began = ended - seen.busy(low)
        segment = seen.training.segments[number]
        if low == segment.first and segment.opened_at_s is not None:
            began = min(began, segment.opened_at_s - seen.clock.off(low))
        return began

    def between(self, number: int, row: int) -> bool:
        """A start, a row that the clock does not show, or one that it shows."""
        if row == self.seen.training.segments[number].first:
            self._start(number, row)
            return False
        told = self.events.get(row, ())
        if math.isnan(self.seen.clock.at[row]):
            self._unstamped(row, told)
            return False
        return self._stamped(row, told)

    def _start(self, number: int, row: int) -> None:
        """The first row of a start: what lies before it is the restart, less the steps that nobody printed."""
        seen, now, busy = self.seen, self.counted.now, self.seen.busy(row)
        ended = seen.clock.at[row]
        if math.isnan(ended):  # it began after the one before, and not before its start
            opened_at = seen.training.segments[number].opened_at_s
            ended = (now if opened_at is None else max(now, opened_at - seen.clock.off(row))) + busy
        self.counted.now, self.since = ended, []
        gap = ended - now - busy
        gap -= self._hidden(number, row, gap)
        if gap > seen.clock.grain:
            self.counted.book.lost_between(LossKind.RESTART, gap, row)

    def _hidden(self, number: int, row: int, gap: float) -> float:
        """Seconds of steps that nobody printed and that survive: the training took up after the last one."""
        if number == 0:
            return 0.0
        rows = self.seen.training.rows
        missing = rows.since(row) - rows.step[row - 1]
        seconds = self.seen.steady(row, missing)
        if missing <= 0 or seconds > gap:
            return 0.0
        self.counted.hidden += missing
        self.counted.survive(self.seen, row, missing)
        return seconds

    def _unstamped(self, row: int, told: Sequence[RunEvent]) -> None:
        """A row without a stamp goes on from the one before; a save tells its time, other events wait for a stamp."""
        took = 0.0 if row == self.seen.low else _took(told)
        if took > 0:
            self._stalled(row, took)
        else:
            self.since += told
        self.counted.now += self.seen.busy(row)

    def _stamped(self, row: int, told: Sequence[RunEvent]) -> bool:
        """A row with a stamp: what its steps did not take since the one before is a pause, told of or not."""
        seen, at, busy = self.seen, self.seen.clock.at[row], self.seen.busy(row)
        gap = at - self.counted.now - busy
        self.counted.now = at
        waiting, self.since = [*self.since, *told], []
        if row == seen.low:
            return False
        if gap > seen.clock.grain and waiting:
            self._told(row, gap, waiting)
            return True
        if gap > max(JITTER_S, _NOTICED * busy / seen.training.rows.steps[row]):
            self.counted.book.lost_between(LossKind.UNKNOWN, gap, row)
        return False

    def _told(self, row: int, gap: float, told: Sequence[RunEvent]) -> None:
        """A pause in which the log tells of a checkpoint or an evaluation."""
        kinds, book = {event.kind for event in told}, self.counted.book
        if not kinds & SAVES:
            if EventKind.EVALUATION in kinds:
                book.lost_between(LossKind.EVALUATION, gap, row)
            elif gap > JITTER_S:
                book.lost_between(LossKind.UNKNOWN, gap, row)
        elif EventKind.EVALUATION not in kinds:
            self.counted.stall(gap, row)
        else:  # the save takes what its lines say, and the evaluation the rest; without that, nobody knows
            part = min(gap, _took(told))
            if part > 0:
                self.counted.stall(part, row)
            book.lost_between(LossKind.EVALUATION if part > 0 else LossKind.UNKNOWN, gap - part, row)

    def after(self, told: Sequence[RunEvent]) -> None:
        """From the last step to the last event that the log gives a time to."""
        last, counted = self.seen.high - 1, self.counted
        off = self.seen.clock.off(last)
        gap = max((event.at_s - off for event in told if event.at_s is not None), default=counted.now) - counted.now
        if gap <= 0:
            return
        counted.now += gap
        kinds = {event.kind for event in told}
        if kinds & _STOPS and (part := min(gap, _took(told))) > 0:
            counted.stall(part, last)
            gap -= part
        if gap > 0:
            counted.book.lost_between(_at_the_end(kinds), gap, last)


def _at_the_end(kinds: set[EventKind]) -> LossKind:
    """What the time below the last step was."""
    if kinds & _STOPS:
        return LossKind.RESTART
    if kinds & SAVES:
        return LossKind.CHECKPOINT
    return LossKind.EVALUATION if EventKind.EVALUATION in kinds else LossKind.UNKNOWN


def _took(events: Sequence[RunEvent]) -> float:
    """How long the saves among some events took by what their lines tell; 0 where they do not."""
    saves = [event for event in events if event.kind in SAVES]
    told = sum(event.took_s or 0.0 for event in saves)
    begun = [event.at_s for event in saves if event.kind is EventKind.CHECKPOINT_BEGUN and event.at_s is not None]
    done = [event.at_s for event in saves if event.kind is EventKind.CHECKPOINT_SAVED and event.at_s is not None]
    return told or (max(0.0, done[-1] - begun[0]) if begun and done else 0.0)
