"""One training, worked out: what its goodput, its document and its table of steps are made of."""

from __future__ import annotations

from msgspec import Struct

from healthcheck.vitals.log_clock import Clock
from healthcheck.vitals.log_pace import Pace
from healthcheck.vitals.log_rows import Training
from healthcheck.vitals.log_survival import Survival
from healthcheck.vitals.log_work import Work


class Seen(Struct, frozen=True):
    """One training, and what is known of each of its rows; `low` to before `high` are those of the window."""

    training: Training
    work: Work
    clock: Clock
    pace: Pace
    survival: Survival
    low: int
    high: int

    def busy(self, row: int) -> float:
        """Seconds that the steps of a row took; the steady time where nobody says."""
        busy = self.pace.busy[row]
        return busy if busy > 0 else self.steady(row, self.training.rows.steps[row])

    def steady(self, row: int, steps: int) -> float:
        """Seconds that so many steps, each with the work of one of a row, take at the steady pace."""
        return steps * self.work.each[row] * self.pace.seconds_a_unit
