"""Which steps survive: those that no later start did again, and no failure took away."""

from __future__ import annotations

import math

from msgspec import Struct

from healthcheck.model.training import EventKind
from healthcheck.vitals.log_rows import Training


class Survival(Struct, frozen=True):
    """`limits`: of each segment, the last step that survives (infinite: all do).

    `cut_at`: the checkpoint after which nothing is kept, because the training failed; None where it did not, or saves
    nothing that the log shows.
    """

    limits: tuple[float, ...]
    cut_at: int | None

    def kept(self, training: Training, segment: int, row: int) -> int:
        """How many steps of a row survive."""
        rows, limit = training.rows, self.limits[segment]
        return rows.steps[row] if limit >= rows.step[row] else max(0, int(limit) - rows.since(row))


def survival_of(training: Training) -> Survival:
    """Read from the end: a start takes up at the step before its first, and all above that were in vain."""
    rows = training.rows
    cut_at = _failed_after(training)
    limit = math.inf if cut_at is None else float(cut_at)
    limits: list[float] = []
    for segment in reversed(training.segments):
        limits.append(limit)
        limit = min(limit, float(rows.since(segment.first)))
    limits.reverse()
    return Survival(tuple(limits), cut_at)


def _failed_after(training: Training) -> int | None:
    """The last checkpoint, where the log ends in a failure after it."""
    rows = len(training.rows)
    if not any(before == rows and event.kind is EventKind.FAILURE for before, event in training.events):
        return None
    saved = saves_of(training)
    begun = training.segments[-1]
    reached = training.rows.step[-1]
    # What this start took up is kept in any case.
    steps = [step for before, step in saved if before >= begun.first and step <= reached]
    return None if not saved else max([*steps, training.rows.since(begun.first)])


def saves_of(training: Training) -> list[tuple[int, int]]:
    """(rows before it, step) of each checkpoint that was saved; a save without a step is of the last one printed."""
    found = []
    for before, event in training.events:
        if event.kind is EventKind.CHECKPOINT_SAVED and before:
            found.append((before, training.rows.step[before - 1] if event.step is None else event.step))
    return found
