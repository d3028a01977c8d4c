"""Reads a fixture as a user would: detected by itself, from the bytes of the file."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import asdict

from healthcheck.model.training import EventKind, LogFacts, RunEvent, StepRecord
from healthcheck.vitals.logs.lines import lines_of
from healthcheck.vitals.logs.reader import LogReader

FIXTURES = Path(__file__).parents[3] / "fixtures" / "training"
Fields = dict[str, str | int | float | None]


class Log:
    """Everything a reader says of one log."""

    def __init__(self, data: bytes, reader: LogReader | None = None) -> None:
        self.reader = reader or LogReader()
        items = list(self.reader.read(lines_of([data])))
        self.steps = [item for item in items if isinstance(item, StepRecord)]
        self.events = [item for item in items if isinstance(item, RunEvent)]

    def told(self) -> list[tuple[EventKind, int | None, float | None]]:
        """The events in short: kind, step, how long it took."""
        return [(event.kind, event.step, event.took_s) for event in self.events]


def fixture(name: str) -> Log:
    """A log of `tests/fixtures/training`."""
    return Log((FIXTURES / name).read_bytes())


def said(record: StepRecord | LogFacts) -> Fields:
    """The fields a record has a value for, but for its line."""
    nothing = asdict(StepRecord(step=-1, line=-1)) if isinstance(record, StepRecord) else asdict(LogFacts())
    return {name: value for name, value in asdict(record).items() if name != "line" and value != nothing[name]}
