"""What every framework's reader has: the substrings it listens to, and how it makes items of a line."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable
from enum import Enum, auto

from msgspec.structs import replace

from healthcheck.model.training import EventKind, Framework, LogFacts, RunEvent, StepRecord
from healthcheck.vitals.logs.figures import count, positive
from healthcheck.vitals.logs.remarks import Odd, Odds
from healthcheck.vitals.logs.stamps import Heads

Item = StepRecord | RunEvent
Shapes = tuple[tuple[EventKind, re.Pattern[str]], ...]
"""What the lines of each event look like, with the groups `step` and `took` (seconds) where they say so much."""
_ROUNDING = 1e-3


class Means(Enum):
    """What the numbers of a report are the mean of."""

    STEP = auto()
    """Of that one step."""
    SINCE_LAST = auto()
    """Of the steps since the report before."""
    INTERVAL = auto()
    """Of the log interval; the first step after a start is reported besides and counted again in its interval."""


class Dialect(ABC):
    """Base of all readers. `marks`: one of them stands in every line that `read` has to see.

    `weight` settles mixed logs: a framework that trains with the help of another one outweighs it.
    """

    framework: Framework
    marks: tuple[str, ...] = ()
    means = Means.STEP
    weight = 2
    settles: int | None = None
    """Where a save is announced, blocks, and is never said to be done: so many steps later it is proven."""

    def __init__(self) -> None:
        self.facts = LogFacts()
        self.heads = Heads()
        self.odds = Odds()

    def note(self, odd: Odd, line: int) -> None:
        """Something odd on this line."""
        self.odds.note(odd, line)

    def event(
        self, kind: EventKind, head: str, line: int, step: int | None = None, took_s: float | None = None
    ) -> RunEvent:
        """An event, by whom and when `head` says it: what stands on its line before the words of the framework."""
        rank, at_s = self.heads.read(head)
        return RunEvent(kind, line, step, at_s, took_s, rank)

    def event_of(self, shapes: Shapes, line: str, number: int) -> RunEvent | None:
        """The event of a line that has one of these shapes: the first of them that it has."""
        for kind, shape in shapes:
            if (found := shape.search(line)) is not None:
                said = found.groupdict()
                step, took_s = count(said.get("step")), positive(said.get("took"))
                return self.event(kind, line[: found.start()], number, step, took_s)
        return None

    def count_gpus(self, every: float | None, one: float | None) -> None:
        """The number of GPUs, where a line has the same rate of all of them and of one."""
        if every is None or one is None or self.facts.gpus is not None:
            return
        gpus = round(every / one)
        if gpus >= 1 and abs(every / one - gpus) < _ROUNDING * gpus:
            self.facts = replace(self.facts, gpus=gpus)

    @abstractmethod
    def read(self, line: str, number: int) -> Iterable[Item]:
        """What one line says. Never raises; a line that is cut or mangled gives nothing, or an item with gaps."""

    def close(self) -> Iterable[Item]:
        """What was held back for a line that would say more of it."""
        return ()
