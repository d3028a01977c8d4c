"""When a capture is over, though nsys did not end: by what it says, by the reports it has written, by the other hosts.

What nsys says into a pipe it keeps in a buffer until it ends, so that one that hangs may have said nothing: its
reports are looked at, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from healthcheck.launchers.nsys_node import NodeFile
from healthcheck.model.message import say
from healthcheck.model.vitals_capture import CaptureAsked
from healthcheck.parsing.nsys_output import NsysEvent
from healthcheck.ports import Event
from healthcheck.workflows.capture_watch import StartedTraining
from healthcheck.workflows.engine import Engine

_LOOK_S = 10.0
# A rank that failed takes the others with it; the profiled one gets this long to say so itself.
_OTHERS_FAILED_S = 60.0


class Watch:
    """Ends what hangs, and what has no reason to go on. One for one capture; `reports` lists what nsys has written."""

    def __init__(self, asked: CaptureAsked, engine: Engine, reports: Callable[[], Sequence[NodeFile]]) -> None:
        self._asked = asked
        self._engine = engine
        self._reports = reports
        self._told: set[NsysEvent] = set()
        self._failed_at: float | None = None
        self._looked_at = engine.clock.monotonic()
        self._written: tuple[NodeFile, ...] = ()
        self._written_at: float | None = None

    def look(self, trainings: Sequence[StartedTraining]) -> None:
        """Once a round."""
        main = next(training for training in trainings if training.profiled)
        self._tell(main)
        if self._engine.cancel.wanted or main.result is not None:
            for training in trainings:
                training.stop()
            return
        done_at = self._done_at(main)
        now = self._engine.clock.monotonic()
        if done_at is not None:
            if now - done_at > self._asked.grace_s:
                main.hung = True
                main.stop()
        elif self._others_failed(trainings, now):
            main.stop()

    def _done_at(self, main: StartedTraining) -> float | None:
        """Since when nsys has nothing to do but its report, or not even that; None while it may record."""
        now = self._engine.clock.monotonic()
        if now - self._looked_at >= min(_LOOK_S, self._asked.grace_s):
            written = tuple(file for file in self._reports() if file.is_report)
            self._looked_at = self._engine.clock.monotonic()
            if written and written != self._written:
                self._written, self._written_at = written, self._looked_at
        moments = [at for at in (main.said.at(NsysEvent.RANGE_ENDED), self._written_at) if at is not None]
        return max(moments, default=None)

    def _others_failed(self, trainings: Sequence[StartedTraining], now: float) -> bool:
        others = [training.result for training in trainings if not training.profiled]
        if self._failed_at is None and any(result is not None and not result.ok for result in others):
            self._failed_at = now
        return self._failed_at is not None and now - self._failed_at > _OTHERS_FAILED_S

    def _tell(self, main: StartedTraining) -> None:
        for event, code in (
            (NsysEvent.RANGE_BEGUN, "capture.range_begun"),
            (NsysEvent.RANGE_ENDED, "capture.range_ended"),
        ):
            # A report is made of nothing, too: an end without a begin is not worth a word.
            begun = main.said.at(NsysEvent.RANGE_BEGUN) is not None
            if begun and event not in self._told and main.said.at(event) is not None:
                self._told.add(event)
                self._engine.observer.event(Event("capture", say(code), main.host.name))
