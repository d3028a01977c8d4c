"""Events that several ranks tell, each in its own words of the same thing: the first one counts."""

from __future__ import annotations

from healthcheck.model.training import EventKind, RunEvent, StepRecord

_MOST = 64
_LATER_S = 60.0
_CHECKPOINTS = (EventKind.CHECKPOINT_BEGUN, EventKind.CHECKPOINT_SAVED)


class Echoes:
    """Remembers the events since the last new step."""

    def __init__(self) -> None:
        self._step: int | None = None
        self._told: dict[tuple[EventKind, int | None, str], RunEvent] = {}
        self._checkpoints: dict[EventKind, int | None] = {}

    def stepped(self, record: StepRecord) -> None:
        """A report: from now on the same event is another one, unless it is the copy of a report."""
        if record.step != self._step:
            self._step = record.step
            self._told.clear()

    def is_echo(self, event: RunEvent) -> bool:
        """Was it told already? A start after an end, by the same rank or a minute later is a start of its own."""
        if event.kind in _CHECKPOINTS and event.step is not None:
            if self._checkpoints.get(event.kind) == event.step:
                return True  # a slow rank may say so steps later
            self._checkpoints[event.kind] = event.step
            return False
        key = event.kind, event.step, event.text
        first = self._told.get(key)
        if first is not None and not _anew(first, event):
            return True
        if len(self._told) >= _MOST:
            return event.kind is EventKind.FAILURE
        if event.kind in (EventKind.FAILURE, EventKind.EXIT):
            for told in [told for told in self._told if told[0] is EventKind.START]:
                del self._told[told]
        if event.kind in (EventKind.START, EventKind.CHECKPOINT_LOADED):
            self._checkpoints.clear()
        self._told[key] = event
        return False


def _anew(first: RunEvent, event: RunEvent) -> bool:
    if event.kind is not EventKind.START:
        return False
    if event.rank is not None and event.rank == first.rank:
        return True
    return first.at_s is not None and event.at_s is not None and abs(event.at_s - first.at_s) > _LATER_S
