"""What a report of a step is to those before it: the next one, the copy of a rank, a line that is late, a new start.

Ranks print the same steps, now and then long after one another; collectors of logs swap lines; and after a rollback the
same steps come again. `place_of` decides, in an order that its docstring gives; all limits of it stand here.
"""

from __future__ import annotations

import math
from enum import Enum, auto
from typing import Final

from msgspec import Struct, field

from healthcheck.model.training import EventKind, RunEvent, StepRecord
from healthcheck.vitals.log_rows import NAN, Rows

RECENT: Final = 256
"""Steps back at which the copy of a rank that lags is still known as one."""
_SAME_MOMENT_S, _SAME_STEPS = 1.5, 0.5
"""Two starts of one step are further apart than both: a restart takes seconds, and stamps are of whole seconds."""
_LAG_S, _LAG_STEPS = 60.0, 5
"""The lines of another rank come at most so much later; after that, its step is the one of a new start."""
_ON_REPORTS, _ON_STEPS = 2, 2
"""A training that went on prints its next report or the one after, and took for it at most so many times its steps."""
_START_S, _LATE_ROWS = 60.0, 3
"""The ranks of a start tell of it within so many seconds, and with at most so many reports in between."""


class Place(Enum):
    """What a report is to those before it."""

    COPY = auto()
    STARTED = auto()
    NEXT = auto()
    LAGGING = auto()
    LATE = auto()
    WENT_BACK = auto()


class Past(Struct):
    """What came before a report: all `rows`, and of the start that goes on, what a copy is known by.

    `first`: the row it begins with, None before the first start; `recent`: the row and the loss of its last steps;
    `ranks`: the last step of each rank that has a name. `openers`: what told of it, by which rank. `pending`: what has
    told, since the last report, of an end or of another start.
    """

    rows: Rows = field(default_factory=Rows)
    first: int | None = None
    recent: dict[int, tuple[int, float | None]] = field(default_factory=dict)
    ranks: dict[str, int] = field(default_factory=dict)
    openers: set[tuple[EventKind, str | None]] = field(default_factory=set)
    pending: dict[EventKind, RunEvent] = field(default_factory=dict)

    def begin(self) -> None:
        """What is pending opened a start, whose first row comes next."""
        self.first = len(self.rows)
        self.recent, self.ranks = {}, {}
        self.openers = {(kind, event.rank) for kind, event in self.pending.items()}
        self.pending.clear()

    def keep(self, record: StepRecord, row: int) -> None:
        """A report that became a row of its own."""
        if record.rank is not None:
            self.ranks[record.rank] = record.step
        self.recent[record.step] = (row, record.loss)
        if len(self.recent) > RECENT:
            del self.recent[next(iter(self.recent))]


def place_of(record: StepRecord, past: Past) -> Place:
    """The first of these that fits.

    1. COPY: this start has printed the step, and another rank, or another line of the same moment, says it again.
       Before STARTED, for some ranks print their last steps below the line in which the first one tells of its end.
    2. STARTED: nothing came before, or something told of an end or a start; unless the training plainly went on (NEXT),
       for a checkpoint was only read, or one rank ended before the others.
    3. NEXT: the steps go up.
    4. LAGGING: they go back, and this rank has not yet come as far as the others. Before LATE, for a rank is known by
       its name whatever its stamp says.
    5. LATE: its stamp puts it between the last two.
    6. WENT_BACK: a start that nothing tells of. Last, for it is dear: the steps that come again were then done in vain,
       and that is said only where nothing else explains the report.
    """
    seen = past.recent.get(record.step)
    if seen is not None and _is_copy(record, past, *seen):
        return Place.COPY
    if past.first is None or (past.pending and not _goes_on(record, past)):
        return Place.STARTED
    if record.step > past.rows.step[-1]:
        return Place.NEXT
    if _lags(record, past):
        return Place.LAGGING
    if _is_late(record, past):
        return Place.LATE
    return Place.WENT_BACK


def _is_copy(record: StepRecord, past: Past, row: int, loss: float | None) -> bool:
    """Is it the step of a row again? By the name of its rank, else by its moment, else by its loss.

    A rank goes only up: one that printed this step, or a later one, does not copy but starts again.
    """
    at, took = past.rows.at[row], (record.step_time_s or 0.0) * record.covers
    apart = None if record.at_s is None or math.isnan(at) else abs(record.at_s - at)
    if record.rank is not None and past.ranks:
        if past.ranks.get(record.rank, -1) >= record.step:
            return False
        if not past.pending:
            return apart is None or apart <= max(_LAG_S, _LAG_STEPS * took)
    if apart is not None:
        return apart <= max(_SAME_MOMENT_S, _SAME_STEPS * took)
    return not past.pending and (loss == record.loss or (loss is not None and math.isnan(loss)))


def _goes_on(record: StepRecord, past: Past) -> bool:
    """Did the next step come, and was no time lost, whatever told of an end or of a checkpoint that was read?"""
    if EventKind.START in past.pending:
        return False
    ahead = record.step - past.rows.step[-1]
    apart = NAN if record.at_s is None else record.at_s - past.rows.at[-1]
    took = (record.step_time_s or 0.0) * ahead
    return 0 < ahead <= _ON_REPORTS * record.covers and apart <= max(took + _SAME_MOMENT_S, _ON_STEPS * took)


def _lags(record: StepRecord, past: Past) -> bool:
    """Is this a step, long past, of a rank that has not yet come as far as the others?"""
    last = None if record.rank is None else past.ranks.get(record.rank)
    return last is not None and last < record.step


def _is_late(record: StepRecord, past: Past) -> bool:
    """Did a collector of logs put this line below the one that follows it? Its stamp says so."""
    rows = past.rows
    if len(rows) - (past.first or 0) < 2 or record.at_s is None:
        return False
    return rows.step[-2] < record.step < rows.step[-1] and rows.at[-2] <= record.at_s < rows.at[-1]


def is_told_late(event: RunEvent, past: Past) -> bool:
    """Does another rank tell, a little late, of the start that was seen?"""
    if event.rank is None or past.first is None or past.pending or (event.kind, event.rank) in past.openers:
        return False
    few_rows = len(past.rows) - past.first <= _LATE_ROWS
    return few_rows and any(kind is event.kind for kind, _ in past.openers)


def is_another_start(known: RunEvent, event: RunEvent) -> bool:
    """Is it a start after one that came to no step, or another rank that tells of the same?"""
    if known.at_s is not None and event.at_s is not None:
        return abs(event.at_s - known.at_s) > _START_S
    return event.rank is not None and event.rank == known.rank
