"""The book of lost time: each kind with how long, how often, and where it was longest."""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import Struct

from healthcheck.model.vitals_log import Loss, LossKind
from healthcheck.vitals.log_rows import Training


class Entry(Struct):
    """One kind of loss so far: seconds that are part of step times, and those between steps; rows where.

    `run`: the seconds of the place that goes on now, `longest` those of the longest one.
    """

    in_steps: float = 0.0
    between: float = 0.0
    count: int = 0
    steps: int = 0
    first: int = -1
    last: int = -1
    run: float = 0.0
    longest: float = 0.0
    longest_row: int = -1

    def place(self, seconds: float, row: int, *, new: bool) -> None:
        """Where it was; `new`: another place than the one before, else the same one goes on."""
        self.count += new
        self.first = row if self.first < 0 else self.first
        self.last = row
        self.run = seconds if new else self.run + seconds
        if self.run > self.longest:
            self.longest, self.longest_row = self.run, row


class Book:
    """Losses by kind."""

    def __init__(self) -> None:
        self.entries: dict[LossKind, Entry] = {}
        self._goes_on: tuple[LossKind, int] | None = None

    def lost_between(self, kind: LossKind, seconds: float, row: int) -> None:
        """Time lost before the steps of a row: a place of its own."""
        entry = self.entries.setdefault(kind, Entry())
        entry.between += seconds
        entry.place(seconds, row, new=True)

    def lost_in_steps(self, kind: LossKind, seconds: float, row: int, segment: int, steps: int = 0) -> None:
        """Time lost in the steps of a row: one place with that of the row before, where it was lost alike."""
        entry = self.entries.setdefault(kind, Entry())
        entry.in_steps += seconds
        entry.steps += steps
        entry.place(seconds, row, new=(kind, segment) != self._goes_on)
        self._goes_on = kind, segment

    def steady_again(self) -> None:
        """What was lost in steps goes on no longer: a steady step came."""
        self._goes_on = None

    def spread(self, kind: LossKind, seconds: float) -> None:
        """Time that has no one place."""
        self.entries.setdefault(kind, Entry()).between += seconds

    def in_steps(self) -> float:
        """All of it that is part of step times."""
        return math.fsum(entry.in_steps for entry in self.entries.values())

    def between(self) -> float:
        """All of it that lies between steps."""
        return math.fsum(entry.between for entry in self.entries.values())

    def stretch(self, factor: float, pauses: bool = False) -> None:
        """Step times, and pauses too where asked, that sum to more than the clock shows are brought to it."""
        for entry in self.entries.values():
            entry.in_steps *= factor
            entry.longest *= factor
            if pauses:
                entry.between *= factor

    def losses(self, training: Training, at: Sequence[float]) -> tuple[Loss, ...]:
        """The losses in the order of their kinds; a kind that cost nothing is not there."""
        found = ((kind, self.entries[kind]) for kind in LossKind if kind in self.entries)
        return tuple(_loss(kind, entry, training, at) for kind, entry in found if entry.in_steps + entry.between > 0)


def _loss(kind: LossKind, entry: Entry, training: Training, at: Sequence[float]) -> Loss:
    seconds = entry.in_steps + entry.between
    if entry.first < 0:
        return Loss(kind, seconds, entry.count)
    longest = entry.longest_row
    return Loss(
        kind=kind,
        seconds=seconds,
        count=entry.count,
        steps=entry.steps,
        first_line=training.rows.line[entry.first],
        begins_s=_stamp(at[entry.first - 1] if entry.first else math.nan),
        ends_s=_stamp(at[entry.last]),
        longest_s=entry.longest if longest >= 0 else None,
        longest_line=training.rows.line[longest] if longest >= 0 else None,
        longest_file=training.file_of(longest) if longest >= 0 else None,
    )


def _stamp(value: float) -> float | None:
    return None if math.isnan(value) else value
