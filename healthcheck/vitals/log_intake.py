"""Steps and events of one file -> rows: the copies of ranks once, and where the training began again.

What each report is to those before it, a copy or a new start, `log_places` decides; here it is put there.
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
from healthcheck.vitals.log_places import Past, Place, is_another_start, is_told_late, place_of
from healthcheck.vitals.log_rows import NAN, Segment, Training

_BREAKS: Final = frozenset((EventKind.START, EventKind.CHECKPOINT_LOADED, EventKind.EXIT))
_IN_TURN = 3
"""So many times back to between the last two steps: these are two trainings, not one that rolls back."""
_MOST_SILENT, _FEWEST_ROWS = 50, 5
"""Starts that nothing tells of: more than that, with fewer reports each, is no training that rolls back."""
# Lists of a log can be long; a reader needs to see that, not all of them.
_MOST_EVENTS = 100_000


class Intake:
    """One file, item by item; then `training()`. `facts_now`: what the reader knows of the run so far."""

    def __init__(self, file: str, facts_now: Callable[[], LogFacts] = LogFacts) -> None:
        self._file = file
        self._facts_now = facts_now
        self._past = Past()
        self._rows = self._past.rows
        self._segments: list[Segment] = []
        self._events: list[tuple[int, RunEvent]] = []
        self._event_at: dict[tuple[int, EventKind, int | None, int], int] = {}
        self._copies = self._in_vain = self._silent = 0
        self._in_turn = 0

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
        seen = None if timer.step is None else self._past.recent.get(timer.step)
        if seen is not None and timer.took_s is not None:
            self._rows.clock(timer.text, seen[0], timer.took_s)

    def _event(self, event: RunEvent) -> None:
        if event.kind in _BREAKS:
            if is_told_late(event, self._past):
                return
            self._expect_start(event)
        place = len(self._rows)
        # A checkpoint of a step is told by every rank, with steps in between; other events only side by side.
        key_of = (len(self._segments) if event.step is not None else place, event.kind, event.step, self._in_vain)
        if (seen := self._event_at.get(key_of)) is not None:
            before, first = self._events[seen]
            self._events[seen] = (before, _joined(first, event))
        elif len(self._events) < _MOST_EVENTS:
            self._event_at[key_of] = len(self._events)
            self._events.append((place, event))

    def _expect_start(self, event: RunEvent) -> None:
        """The next report is that of a new start, unless it shows that the training went on."""
        pending = self._past.pending
        known = pending.get(event.kind)
        if known is not None and event.kind is EventKind.START and is_another_start(known, event):
            self._in_vain += 1
        pending[event.kind] = event if known is None else _joined(known, event)

    def _report(self, record: StepRecord) -> None:
        match place_of(record, self._past):
            case Place.NEXT:
                self._past.pending.clear()
                self._append(record)
            case Place.COPY:
                self._merge(record)
            case Place.LAGGING:
                self._copies += 1
            case Place.LATE:
                self._put_before_last(record)
            case Place.STARTED:
                self._begin(record, silent=False)
                self._append(record)
            case Place.WENT_BACK:
                self._watch(record)
                self._begin(record, silent=True)
                self._append(record)

    def _put_before_last(self, record: StepRecord) -> None:
        recent, last = self._past.recent, self._rows.step[-1]
        loss = recent.get(last, (0, None))[1]
        self._append(record)
        self._rows.swap_last()
        row = len(self._rows)
        recent[record.step], recent[last] = (row - 2, record.loss), (row - 1, loss)

    def _merge(self, record: StepRecord) -> None:
        self._copies += 1
        self._past.pending.clear()
        if record.rank is not None:
            self._past.ranks[record.rank] = record.step
        at_s, time_s = (NAN if value is None else value for value in (record.at_s, record.step_time_s))
        self._rows.join(self._past.recent[record.step][0], at_s, time_s, partial(getattr, record))

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
        pending = self._past.pending
        loaded = pending.get(EventKind.CHECKPOINT_LOADED)
        start = pending.get(EventKind.START) or loaded
        segment = Segment(len(self._rows), silent=silent, facts=self._facts_now())
        if loaded is not None and loaded.step is not None and loaded.step < record.step:
            segment.loaded = loaded.step
        if start is not None:
            segment.opened_at_s = start.at_s
        self._segments.append(segment)
        self._past.begin()

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
        self._past.keep(record, row)


def _joined(first: RunEvent, other: RunEvent) -> RunEvent:
    """One event of two ranks: what ends, ends with the last of them."""
    times = [at for at in (first.at_s, other.at_s) if at is not None]
    took = [seconds for seconds in (first.took_s, other.took_s) if seconds is not None]
    early = first.kind in (EventKind.CHECKPOINT_BEGUN, EventKind.START)
    at = None if not times else min(times) if early else max(times)
    return replace(first, at_s=at, took_s=max(took) if took else None, step=first.step or other.step)
