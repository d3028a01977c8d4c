"""What a walk over the rows of a log counts, before the books are closed."""

from __future__ import annotations

from msgspec import Struct, field

from healthcheck.model.vitals_log import LossKind
from healthcheck.vitals.log_losses import Book
from healthcheck.vitals.log_rows import NAN
from healthcheck.vitals.log_seen import Seen


class Counted(Struct):
    """Times in seconds.

    `timed`: the clock shows the window, which is from `began` to `now`, the end of the step before; else both count
    step times. Of the steps that survive: `steps` how many, `units` their work, `useful` their time at the steady pace,
    `drift` what steady ones took above it; `hidden` of them no line shows. `claimed`: what all steps took, by their own
    word. `stalls`: of each save. `book`: what else was lost, and where.
    """

    timed: bool
    began: float = NAN
    now: float = NAN
    steps: int = 0
    units: float = 0.0
    useful: float = 0.0
    drift: float = 0.0
    hidden: int = 0
    claimed: float = 0.0
    stalls: list[float] = field(default_factory=list)
    book: Book = field(default_factory=Book)

    def survive(self, seen: Seen, row: int, steps: int) -> None:
        """So many steps, each with the work of one of a row, survive."""
        units = steps * seen.work.each[row]
        self.units += units
        self.useful += units * seen.pace.seconds_a_unit
        self.steps += steps

    def stall(self, seconds: float, row: int) -> None:
        """A save held the training up before the steps of a row."""
        self.stalls.append(seconds)
        self.book.lost_between(LossKind.CHECKPOINT, seconds, row)

    def slow_down(self, kind: LossKind, seconds: float, row: int, segment: int) -> None:
        """The steps of a row took longer than steady ones; a save that they waited for is one of the stalls, too."""
        if kind is LossKind.CHECKPOINT:
            self.stalls.append(seconds)
        self.book.lost_in_steps(kind, seconds, row, segment)
