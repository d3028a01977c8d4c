"""Reports of several lines: a head with the step, then a line for each number. Composer and OLMo write so."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable

from healthcheck.model.training import StepRecord
from healthcheck.vitals.logs.dialect import Dialect, Item
from healthcheck.vitals.logs.stamps import NO_HEAD, Head

_MOST_FIELDS = 512


class Blocks(Dialect):
    """Collects the fields of a report until its end: the next head, any event, or the end of the log."""

    def __init__(self) -> None:
        super().__init__()
        self._step: int | None = None
        self._line = 0
        self._head: Head = NO_HEAD
        self._fields: dict[str, str] = {}
        self._latest: str | None = None
        self.last: int | None = None
        """The last step that was reported."""

    def close(self) -> Iterable[Item]:
        step, self._step = self._step, None
        if step is None:
            return ()
        self.last = step
        # A line of the report that another one follows is whole; the last one may have been cut.
        if self._latest is not None and "." not in self._fields.get(self._latest, "."):
            del self._fields[self._latest]
        record = self.record(step, self._line, self._head, self._fields)
        self._fields, self._latest = {}, None
        return () if record is None else (record,)

    def opened(self, step: int | None, line: int, head: Head) -> Iterable[Item]:
        """A new report begins; None for a head that names no step, so that its fields are nobody's."""
        before = self.close()
        self._step, self._line, self._head = step, line, head
        return before

    def took(self, name: str, value: str) -> None:
        """A field of the open report. One that stands twice is nobody's."""
        if self._step is not None and len(self._fields) < _MOST_FIELDS:
            self._fields[name] = "" if name in self._fields else value
            self._latest = name

    def went_on(self) -> None:
        """A line of the report that is not read."""
        self._latest = None

    @abstractmethod
    def record(self, step: int, line: int, head: Head, fields: dict[str, str]) -> StepRecord | None:
        """The record of a whole report; None where it says nothing."""
