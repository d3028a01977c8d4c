"""Steps and events of one file -> rows: the copies of ranks once, and where the training began again.

A report is a copy when another rank printed that step of this start before, or when the same step was printed at the
same moment. Steps that go back otherwise are a new start: after a rollback the same steps come again, later.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import partial
from typing import Final

from msgspec.structs import replace

from healthcheck.errors import InputError
from healthcheck.model.message import say
from healthcheck.model.training import EventKind, Framework, LogFacts, LogRemark, RunEvent, StepRecord
from healthcheck.vitals.log_rows import NAN, Rows, Segment, Training

_BREAKS: Final = frozenset((EventKind.START, EventKind.CHECKPOINT_LOADED, EventKind.EXIT))
RECENT: Final = 256
"""Steps back at which the copy of a rank that lags is still known as one."""
_SAME_MOMENT_S = 1.5
"""Two starts of one step are further apart: a restart takes seconds, and stamps are of whole seconds."""
_LAG_S = 60.0
"""The lines of another rank come at most so much later; after that, its step is the one of a new start."""
_START_S = 60.0
"""The ranks of a start tell of it within so many seconds."""
_IN_TURN = 3
"""So many times back to between the last two steps: these are two trainings, not one that rolls back."""
_MOST_SILENT, _FEWEST_ROWS = 50, 5
"""Starts that nothing tells of: more than that, with fewer reports each, is no training that rolls back."""
_LATE_ROWS = 3
# Lists of a log can be long; a reader needs to see that, not all of them.
_MOST_EVENTS = 100_000


class Intake:
    """One file, item by item; then `training()`. `facts_now`: what the reader knows of the run so far."""

    def __init__(self, file: str, facts_now: Callable[[], LogFacts] = LogFacts) -> None:
        self._file = file
        self._facts_now = facts_now
        self._rows = Rows()
        self._segments: list[Segment] = []
        self._events: list[tuple[int, RunEvent]] = []
        self._event_at: dict[tuple[int, EventKind, int | None, int], int] = {}
        self._copies = self._in_vain = self._silent = 0
        self._in_turn = 0
        self._pending: dict[EventKind, RunEvent] = {}
        self._openers: set[tuple[EventKind, str | None]] = set()
        self._clear()

    def _clear(self) -> None:
        self._recent: dict[int, tuple[int, float | None]] = {}
        self._rank_last: dict[str, int] = {}

    def add_all(self, items: Iterable[StepRecord | RunEvent]) -> None:
        """Every item of a reader."""
        for item in items:
            if isinstance(item, StepRecord):
                self._report(item)
            elif item.kind is EventKind.TIMED:
                self._timed(item)
            else:
                self._event(item)

    def training(self, framework: Framework, facts: LogFacts, remarks: Iterable[LogRemark]) -> Training:
        """What was given, as one training."""
        told = list(remarks)
        if self._copies:
            told.append(LogRemark(say("log.copies", n=self._copies), 0, self._copies))
        return Training(
            (self._file,),
            self._rows,
            self._segments,
            self._events,
            framework,
            facts,
            told,
            copies=self._copies,
            in_vain=self._in_vain,
        )

    def _timed(self, timer: RunEvent) -> None:
        """A timer belongs to the report above it, and is no event of its own."""
        seen = None if timer.step is None else self._recent.get(timer.step)
        if seen is not None and timer.took_s is not None:
            self._rows.clock(timer.text, seen[0], timer.took_s)

    def _event(self, event: RunEvent) -> None:
        segment = self._segments[-1] if self._segments else None
        if event.kind in _BREAKS:
            key = (event.kind, event.rank)
            few_rows = segment is not None and len(self._rows) - segment.first <= _LATE_ROWS
            late = event.rank is not None and key not in self._openers and few_rows
            if late and any(kind is event.kind for kind, _ in self._openers) and not self._pending:
                return  # another rank tells, a little late, of the start that was seen
            known = self._pending.get(event.kind)
            if known is not None and event.kind is EventKind.START and _is_another(known, event):
                self._in_vain += 1
            self._pending[event.kind] = event if known is None else _joined(known, event)
        place = len(self._rows)
        # A checkpoint of a step is told by every rank, with steps in between; other events only side by side.
        key_of = (len(self._segments) if event.step is not None else place, event.kind, event.step, self._in_vain)
        if (seen := self._event_at.get(key_of)) is not None:
            before, first = self._events[seen]
            self._events[seen] = (before, _joined(first, event))
        elif len(self._events) < _MOST_EVENTS:
            self._event_at[key_of] = len(self._events)
            self._events.append((place, event))

    def _report(self, record: StepRecord) -> None:
        seen = self._recent.get(record.step)
        if seen is not None and self._is_copy(record, *seen):
            self._merge(record, seen[0])
            return
        steps = self._rows.step
        last = steps[-1] if steps else -1
        if self._pending and self._goes_on(record, last):
            self._pending.clear()
        if not self._segments or self._pending:
            self._begin(record, silent=False)
        elif record.step <= last:
            if self._lags(record):
                self._copies += 1
                return
            if self._is_late(record):
                self._put_before_last(record)
                return
            self._watch(record)
            self._begin(record, silent=True)
        self._append(record)

    def _goes_on(self, record: StepRecord, last: int) -> bool:
        """Was a checkpoint only read, or did a rank end before the others, while the training went on?

        Then the next step comes, and no time was lost.
        """
        if EventKind.START in self._pending or not self._segments:
            return False
        apart = NAN if record.at_s is None else record.at_s - self._rows.at[-1]
        took = (record.step_time_s or 0.0) * (record.step - last)
        return 0 < record.step - last <= 2 * record.covers and apart <= took + max(_SAME_MOMENT_S, took)

    def _is_late(self, record: StepRecord) -> bool:
        """Did a collector of logs put this line below the one that follows it? Its stamp says so."""
        rows = self._rows
        if len(rows) - self._segments[-1].first < 2 or record.at_s is None:
            return False
        return rows.step[-2] < record.step < rows.step[-1] and rows.at[-2] <= record.at_s < rows.at[-1]

    def _put_before_last(self, record: StepRecord) -> None:
        last, loss = self._rows.step[-1], self._recent.get(self._rows.step[-1], (0, None))[1]
        self._append(record)
        self._rows.swap_last()
        row = len(self._rows)
        self._recent[record.step], self._recent[last] = (row - 2, record.loss), (row - 1, loss)

    def _is_copy(self, record: StepRecord, row: int, loss: float | None) -> bool:
        at, took = self._rows.at[row], (record.step_time_s or 0.0) * record.covers
        apart = None if record.at_s is None or math.isnan(at) else abs(record.at_s - at)
        if record.rank is not None and self._rank_last:
            if self._rank_last.get(record.rank, -1) >= record.step:
                return False
            if not self._pending:
                return apart is None or apart <= max(_LAG_S, 5 * took)
        if apart is not None:
            return apart <= max(_SAME_MOMENT_S, 0.5 * took)
        return not self._pending and (loss == record.loss or (loss is not None and math.isnan(loss)))

    def _lags(self, record: StepRecord) -> bool:
        """Is this a step, long past, of a rank that has not yet come as far as the others?"""
        if record.rank is None:
            return False
        last = self._rank_last.get(record.rank)
        return last is not None and last < record.step

    def _merge(self, record: StepRecord, row: int) -> None:
        self._copies += 1
        self._pending.clear()
        if record.rank is not None:
            self._rank_last[record.rank] = record.step
        at_s, time_s = (NAN if value is None else value for value in (record.at_s, record.step_time_s))
        self._rows.join(row, at_s, time_s, partial(getattr, record))

    def _watch(self, record: StepRecord) -> None:
        """InputError where the steps go back and forth too often: two trainings, or many ranks without a name.

        Of two that stand in turn, they go again and again back to between the last two.
        """
        rows, self._silent = self._rows, self._silent + 1
        if self._silent > _MOST_SILENT and self._silent * _FEWEST_ROWS > len(rows):
            raise InputError(
                f"{self._file}:{record.line}",
                f"its steps go back {self._silent} times in {len(rows)} reports, and no line tells of a start: these "
                "are ranks, or trainings, without a name or a time in front; give the log of one",
            )
        if len(rows) - self._segments[-1].first >= 2:
            self._in_turn += rows.step[-2] < record.step < rows.step[-1]
        if self._in_turn >= _IN_TURN:
            raise InputError(
                f"{self._file}:{record.line}",
                "holds the steps of two trainings in turn; give each a log of its own (one job, or one rank prefix)",
            )

    def _begin(self, record: StepRecord, silent: bool) -> None:
        loaded = self._pending.get(EventKind.CHECKPOINT_LOADED)
        start = self._pending.get(EventKind.START) or loaded
        segment = Segment(len(self._rows), silent=silent and bool(self._segments), facts=self._facts_now())
        if loaded is not None and loaded.step is not None and loaded.step < record.step:
            segment.loaded = loaded.step
        if start is not None:
            segment.opened_at_s = start.at_s
        self._segments.append(segment)
        self._openers = {(kind, event.rank) for kind, event in self._pending.items()}
        self._pending.clear()
        self._clear()

    def _append(self, record: StepRecord) -> None:
        rows, segment = self._rows, self._segments[-1]
        row = len(rows)
        if row > segment.first:
            steps = record.step - rows.step[-1]
        elif segment.loaded is not None:
            steps = record.step - segment.loaded
        else:
            steps = max(1, min(record.covers, record.step))
        no_number = record.loss is not None and not math.isfinite(record.loss)
        rows.append(record, steps, steps if no_number else min(record.skipped, steps), steps if no_number else 0)
        if record.rank is not None:
            self._rank_last[record.rank] = record.step
        self._recent[record.step] = (row, record.loss)
        if len(self._recent) > RECENT:
            del self._recent[next(iter(self._recent))]


def _is_another(known: RunEvent, event: RunEvent) -> bool:
    """Is it a start after one that came to no step, or another rank that tells of the same?"""
    if known.at_s is not None and event.at_s is not None:
        return abs(event.at_s - known.at_s) > _START_S
    return event.rank is not None and event.rank == known.rank


def _joined(first: RunEvent, other: RunEvent) -> RunEvent:
    """One event of two ranks: what ends, ends with the last of them."""
    times = [at for at in (first.at_s, other.at_s) if at is not None]
    took = [seconds for seconds in (first.took_s, other.took_s) if seconds is not None]
    early = first.kind in (EventKind.CHECKPOINT_BEGUN, EventKind.START)
    at = None if not times else min(times) if early else max(times)
    return replace(first, at_s=at, took_s=max(took) if took else None, step=first.step or other.step)
