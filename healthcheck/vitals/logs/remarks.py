"""What a reader met that a person should know, counted: the first line and how often."""

from __future__ import annotations

from enum import StrEnum

from healthcheck.model.message import say
from healthcheck.model.training import LogRemark


class Odd(StrEnum):
    """The kinds of oddities that need no numbers to be told, each the code of its text."""

    CROSSED = "training.crossed"
    DISPATCH = "training.dispatch"


class Odds:
    """Counts oddities; memory does not depend on how many there are."""

    _MOST = 16

    def __init__(self) -> None:
        self._met: dict[Odd, tuple[int, int]] = {}
        self._sizes: list[tuple[int, int, int]] = []

    def note(self, odd: Odd, line: int) -> None:
        """One more of them."""
        first, count = self._met.get(odd, (line, 0))
        self._met[odd] = first, count + 1

    def resized(self, before: int, after: int, line: int) -> None:
        """The training went on with another number of GPUs."""
        if len(self._sizes) < self._MOST:
            self._sizes.append((before, after, line))

    def told(self) -> tuple[LogRemark, ...]:
        """The remarks, in the order of their first lines."""
        remarks = [LogRemark(say(odd.value), line, count) for odd, (line, count) in self._met.items()]
        remarks += [
            LogRemark(say("training.resized", before=before, after=after), line) for before, after, line in self._sizes
        ]
        return tuple(sorted(remarks, key=lambda remark: remark.line))
