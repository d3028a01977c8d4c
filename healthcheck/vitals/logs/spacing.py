"""How many steps a report is the mean of, where no line says it: from the steps between reports.

Only the first report after a start needs the second one to be understood, so at most one report is held back.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from healthcheck.model.training import EventKind, RunEvent, StepRecord
from healthcheck.vitals.logs.dialect import Item, Means

_MOST_HELD = 256
_BREAKS = frozenset((EventKind.START, EventKind.CHECKPOINT_LOADED))


class Spacing:
    """Fills in `covers` of the reports of one log, in their order. `interval`: as the log says it, once it does."""

    def __init__(self, means: Means) -> None:
        self.interval: int | None = None
        self._means = means
        self._held: list[Item] = []
        self._opening: StepRecord | None = None
        self._last = 0
        self._covers = 1
        self._loaded: int | None = None
        self._fresh = True

    def feed(self, item: Item) -> Sequence[Item]:
        """What can be given now; a first report after a start waits for the second."""
        if self._means is Means.STEP:
            return (item,)
        if isinstance(item, RunEvent):
            return self._event(item)
        if self._opening is not None:
            return self._second(item)
        if self._fresh or item.step < self._last:
            return self._first(item)
        if item.step > self._last:
            self._covers = item.step - self._last
        return (self._given(item),)

    def close(self) -> Sequence[Item]:
        """What is still held back."""
        held, self._held, opening, self._opening = self._held, [], self._opening, None
        if opening is not None and self._covers > 1 and opening.step % self._covers == 0:
            # No second report: as many as before the start.
            held = _covering(held, self._since_start(opening.step, self._covers))
        return held

    def _event(self, event: RunEvent) -> Sequence[Item]:
        before: Sequence[Item] = ()
        if event.kind in _BREAKS:
            before = self.close()
            self._loaded = event.step
            self._fresh = True
        if self._held and len(self._held) < _MOST_HELD:
            self._held.append(event)
            return before
        return (*before, *self.close(), event)

    def _given(self, record: StepRecord) -> StepRecord:
        self._last = record.step
        return replace(record, covers=self._covers) if self._covers != 1 else record

    def _hold(self, record: StepRecord) -> Sequence[Item]:
        self._opening = record
        self._held = [record]
        self._last = record.step
        return ()

    def _first(self, record: StepRecord) -> Sequence[Item]:
        self._fresh = False
        interval = self.interval
        if interval is None:
            return self._hold(record)
        self._covers = self._since_start(record.step, interval) if record.step % interval == 0 else 1
        if self._means is Means.INTERVAL and self._covers == 1 < interval:
            return self._hold(record)  # its interval holds it again
        return (self._given(record),)

    def _since_start(self, step: int, interval: int) -> int:
        start = self._loaded if self._loaded is not None and self._loaded < step else 0
        return max(1, min(interval, step - start))

    def _second(self, record: StepRecord) -> Sequence[Item]:
        opening = self._opening
        assert opening is not None
        if record.step == opening.step and len(self._held) < _MOST_HELD:  # the copy of another rank
            self._held.append(record)
            return ()
        distance = record.step - opening.step
        if distance <= 0:
            return (*self.close(), *self._first(record))
        alone = self._is_extra(opening.step, distance)
        self._covers = distance + 1 if alone and self._means is Means.INTERVAL else distance
        held, self._held, self._opening = self._held, [], None
        return (*_covering(held, 1 if alone else self._since_start(opening.step, distance)), self._given(record))

    def _is_extra(self, step: int, distance: int) -> bool:
        """Is the first report one of a single step, given besides those of each interval?"""
        if distance == 1:
            return False
        if self.interval is not None:
            return step % self.interval != 0
        if self._means is Means.INTERVAL and (step + distance) % (distance + 1) == 0 and (distance + 1) % 5 == 0:
            return True
        return step % distance != 0


def _covering(items: list[Item], covers: int) -> list[Item]:
    return [replace(item, covers=covers) if isinstance(item, StepRecord) else item for item in items]
