"""How far a stage has come, in numbers: what a person watching is shown besides the text of an event."""

from __future__ import annotations

from msgspec import Struct

from healthcheck.model.verdict import Verdict


class Begun(Struct, frozen=True):
    """A stage begins: `of` hosts are to be done, or jobs where many hosts work together; 0 where nobody can say.

    `expected_s` is how long that takes by plan and `budget_s` how long it may take, in seconds; None: not known.
    `suspects`: how many hosts a search begins with.
    """

    of: int
    expected_s: float | None = None
    budget_s: float | None = None
    suspects: int = 0


class Counted(Struct, frozen=True):
    """One more came to its end: `done` of `of` so far. `gbyte_s` is what it read, None where it read nothing."""

    done: int
    of: int
    gbyte_s: float | None = None


class RoundBegun(Struct, frozen=True):
    """A round of a search begins; `groups` are the hosts of its jobs, `left_s` the time the search takes from here."""

    round: int
    groups: tuple[tuple[str, ...], ...]
    left_s: float | None = None


class RoundRead(Struct, frozen=True):
    """A round of a search was read; `suspects` are the hosts that are still in doubt, or named."""

    round: int
    suspects: tuple[str, ...]


class Over(Struct, frozen=True):
    """A stage is over: `done` of `of` hosts or jobs, or so many rounds where `of` is 0.

    `verdicts`: how many hosts or jobs had which verdict, worst first.
    """

    done: int
    of: int
    verdicts: tuple[tuple[Verdict, int], ...] = ()


Step = Begun | Counted | RoundBegun | RoundRead | Over
