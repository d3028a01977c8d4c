"""What a person sees while it runs: one plain line an event, on stderr, with UTC time where nobody watches."""

from __future__ import annotations

import os
import sys
from typing import TextIO

from healthcheck.model.message import say
from healthcheck.model.verdict import Verdict
from healthcheck.ports import Clock, Event

_COLOUR = {
    Verdict.PASS: "32",
    Verdict.DEGRADED: "33",
    Verdict.INCONCLUSIVE: "35",
    Verdict.FAIL: "31",
    Verdict.SKIPPED: "2",
}


class Console:
    """ports.Observer: `02:16:37Z probe       gpu022 INCONCLUSIVE no answer...`. Colour on a terminal only."""

    def __init__(self, clock: Clock, stream: TextIO | None = None, quiet: bool = False, quiet_pass: int = 16) -> None:
        self._clock = clock
        chosen: TextIO | None = stream or sys.stderr
        self._stream = chosen
        self._colour = chosen is not None and chosen.isatty() and "NO_COLOR" not in os.environ
        self._quiet = quiet or chosen is None
        self._passes: dict[str, int] = {}
        self._quiet_pass = quiet_pass

    def event(self, event: Event) -> None:
        """Print it; a long row of hosts that pass is not worth a line each."""
        if self._quiet:
            return
        if event.verdict is Verdict.PASS and event.host:
            self._passes[event.stage] = self._passes.get(event.stage, 0) + 1
            if self._passes[event.stage] == self._quiet_pass + 1:
                event = Event(event.stage, say("progress.no_more_passes"))
            elif self._passes[event.stage] > self._quiet_pass:
                return
        from healthcheck.reporting.figures import one_line

        words = [f"{self._clock.now():%H:%M:%SZ}", f"{event.stage:<11}"]
        words += [one_line(event.host)] if event.host else []
        words += [self._verdict(event.verdict)] if event.verdict is not None else []
        if self._stream is not None:
            try:
                self._stream.write(" ".join((*words, one_line(str(event.message)))) + "\n")
                self._stream.flush()
            except (OSError, ValueError):
                # Nobody listens any more (`2>&1 | head`): the check-up goes on, its record says everything.
                self._quiet = True

    def _verdict(self, verdict: Verdict) -> str:
        if not self._colour:
            return verdict.name
        return f"\x1b[{_COLOUR[verdict]}m{verdict.name}\x1b[0m"
