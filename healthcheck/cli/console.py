"""What a person sees while it runs, on stderr: one plain line an event, or lines that are redrawn on a terminal."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Protocol, TextIO

from healthcheck.cli.outlet import Outlet
from healthcheck.cli.progress import Head, Lines
from healthcheck.cli.terminal import has_colour, may_redraw, painted
from healthcheck.model.language import speaking, spoken
from healthcheck.ports import Clock, Event

if TYPE_CHECKING:
    from healthcheck.cli.options import Loudness
    from healthcheck.workflows.request import RunRequest


class Watcher(Protocol):
    """A ports.Observer with an end: what it still has to say is said when it is closed."""

    def event(self, event: Event) -> None:
        """Show it, or not."""

    def stopping(self) -> bool:
        """The user wants to stop. True: it is said here; False: nothing is drawn that a plain line would spoil.

        Called from a signal handler: it takes no lock and writes nothing.
        """

    def close(self) -> None:
        """Leave the terminal as it was found, with everything said. May be called twice."""


class Console:
    """One line an event: `02:16:37Z probe       gpu022 INCONCLUSIVE no answer...`. Colour on a terminal only."""

    def __init__(self, clock: Clock, stream: TextIO | None = None, quiet: bool = False, verbose: bool = False) -> None:
        self._clock = clock
        chosen: TextIO | None = stream or sys.stderr
        self._outlet = Outlet(None if quiet else chosen)
        self._colour = has_colour(chosen)
        self._lines = Lines(verbose)
        self._language = spoken()

    def event(self, event: Event) -> None:
        """Print it, where it is worth a line."""
        if self._outlet.gone:
            return
        with speaking(self._language):  # of whoever reads this; what a workflow records is English
            lines = self._lines.of(event, self._clock.monotonic())
        for text in lines:
            line = f"{self._clock.now():%H:%M:%SZ} {event.stage:<11} {text}"
            self._outlet.put((painted(line) if self._colour else line) + "\n")

    def stopping(self) -> bool:
        """A plain line does no harm."""
        return False

    def close(self) -> None:
        """Wait until everything is written."""
        self._outlet.close()


def head_of(request: RunRequest, folder: str) -> Head:
    """Version, nodes, machine type where it was named, playbook; and where it is written."""
    from healthcheck import __version__
    from healthcheck.model.message import say
    from healthcheck.reporting.figures import one_line

    nodes = len(request.hosts)
    words = [
        f"healthcheck {__version__}",
        str(say("progress.head_simulated" if request.simulated else "progress.head", nodes=nodes)),
        *([str(say("progress.platform", name=request.platform.name))] if request.platform is not None else []),
        str(say("progress.playbook", name=request.playbook.name)),
    ]
    return Head(("   ".join(map(one_line, words)), one_line(str(say("progress.writing", folder=folder)))), nodes)


def watcher(clock: Clock, head: Head, loud: Loudness) -> Watcher:
    """Lines that are redrawn where standard error is a terminal for it, else plain ones."""
    if loud.quiet or not may_redraw(sys.stderr):
        return Console(clock, quiet=loud.quiet, verbose=loud.verbose)
    from healthcheck.cli.live import LiveConsole

    return LiveConsole(clock, head, sys.stderr, loud.verbose)
