"""Progress on a terminal: a line a finished stage, which stays, and two lines of the current one, drawn again.

Everything is drawn with rich by one thread, from what the workflow left for it; the workflow never waits for it.
"""

from __future__ import annotations

import threading
from contextvars import copy_context
from queue import Empty, SimpleQueue
from typing import IO, TextIO, cast

from rich.console import Console as RichConsole
from rich.console import Group
from rich.live import Live
from rich.text import Text

from healthcheck.cli.outlet import write
from healthcheck.cli.progress import Head, Lines, StageView
from healthcheck.cli.terminal import WIDEST, width
from healthcheck.model.message import say
from healthcheck.model.progress import Begun, Over
from healthcheck.model.verdict import Verdict
from healthcheck.ports import Clock, Event
from healthcheck.reporting.figures import one_line
from healthcheck.reporting.text_width import cut, width_of, wrapped

REDRAW_S, LEAST_S = 0.25, 0.1
MARGIN = 4
"""Columns left free behind the redrawn lines, so that a `^C` that the terminal shows there breaks none of them."""
_STYLES = {
    Verdict.PASS: "green",
    Verdict.DEGRADED: "yellow",
    Verdict.INCONCLUSIVE: "magenta",
    Verdict.FAIL: "red",
    Verdict.SKIPPED: "dim",
}


class LiveConsole:
    """A ports.Observer for a terminal. `verbose` leaves a line for every event, too."""

    def __init__(self, clock: Clock, head: Head, stream: TextIO, verbose: bool = False) -> None:
        self._clock = clock
        self._stream = stream
        self._file = _File(stream)
        self._screen = _Screen(head, verbose)
        self._heard: SimpleQueue[tuple[Event, float] | None] = SimpleQueue()
        self._closing = threading.Event()
        self._stop_wanted = False
        # With the language that is spoken here: a thread begins without.
        self._thread = threading.Thread(target=copy_context().run, args=(self._work,), name="progress", daemon=True)
        self._thread.start()

    def event(self, event: Event) -> None:
        """Leave it for the thread that draws."""
        if not self._file.gone:
            self._heard.put((event, self._clock.monotonic()))

    def stopping(self) -> bool:
        """It is said by the thread that draws: a line of anybody else would stand in the middle of what is redrawn."""
        self._stop_wanted = True
        return not self._file.gone

    def close(self) -> None:
        """Draw what is left, take the redrawn lines away, and wait until that is done."""
        if not self._closing.is_set():
            self._closing.set()
            self._heard.put(None)
        self._thread.join()

    def _work(self) -> None:
        try:
            self._draw()
        except Exception:  # noqa: BLE001 - what goes wrong in showing a run must not end it, nor print a traceback
            self._file.gone = True

    def _draw(self) -> None:
        console = RichConsole(
            file=cast(IO[str], self._file),
            force_terminal=True,
            force_interactive=True,
            color_system="standard",
            no_color=False,  # nothing is redrawn where no colour is wanted
            highlight=False,
            markup=False,
            emoji=False,
            legacy_windows=False,
        )
        live = Live(console=console, auto_refresh=False, transient=True, redirect_stdout=False, redirect_stderr=False)
        with live:
            console.show_cursor(True)  # so that a process that is killed leaves it, too
            self._print(console, self._screen.head(self._fit(console)))
            shown: list[str] = []
            open_end = True
            while open_end:
                lines, open_end = self._take()
                columns = self._fit(console)
                left = self._screen.left_behind(columns, lines)
                now = self._screen.redrawn(self._clock.monotonic(), columns - MARGIN, self._stop_wanted)
                with console:  # all of it in one piece: nothing flickers, and nothing old stands below a new line
                    if left:
                        live.update("", refresh=True)
                        self._print(console, left)
                    if left or now != shown:
                        live.update(Group(*map(_text, now)), refresh=True)
                shown = now
                self._closing.wait(LEAST_S)
            live.update("", refresh=True)
            self._print(console, self._screen.settled(self._clock.monotonic(), self._fit(console)))

    def _take(self) -> tuple[list[tuple[Event, float]], bool]:
        """What was heard since the last look, waiting a little for the first; False once nothing more will come."""
        heard: list[tuple[Event, float]] = []
        try:
            one = self._heard.get(timeout=REDRAW_S)
            while one is not None:
                heard.append(one)
                one = self._heard.get_nowait()
        except Empty:
            return heard, True
        return heard, False

    def _fit(self, console: RichConsole) -> int:
        """A terminal may be resized at any time."""
        columns = width(self._stream)
        console.width = columns
        return min(columns, WIDEST)

    def _print(self, console: RichConsole, lines: list[str]) -> None:
        for line in lines:
            console.print(_text(line), soft_wrap=True)  # as it is: what is to be copied is never cut


class _Screen:
    """What stands on the terminal, as finished lines; knows nothing of how they are drawn."""

    def __init__(self, head: Head, verbose: bool) -> None:
        self._head = head
        self._count_width = max(8, len(str(say("progress.count", done=head.nodes, of=head.nodes))))
        self._every = Lines(verbose=True) if verbose else None
        self._stage: StageView | None = None
        self._doing = ""
        self._told_stop = False

    def head(self, columns: int) -> list[str]:
        """What stands above all stages."""
        lines: list[str] = []
        for text in self._head.lines:
            lines += [text] if width_of(text) <= columns else wrapped(text, columns, break_long=False)
        return [*lines, ""]

    def left_behind(self, columns: int, heard: list[tuple[Event, float]]) -> list[str]:
        """The lines that stay, of what was heard."""
        return [line for event, at in heard for line in self._one(event, at, columns)]

    def _one(self, event: Event, at: float, columns: int) -> list[str]:
        lines: list[str] = []
        if self._every is not None and not isinstance(event.step, Over) and event.stage != "run":
            lines += [line for text in self._every.of(event, at) for line in _apart(event.stage, text, columns)]
        if isinstance(event.step, Begun):
            lines += self.settled(at, columns)
            self._stage, self._doing = StageView(event.stage, event.step, at), ""
        if self._stage is not None:
            self._stage.take(event, at)
            if isinstance(event.step, Over):
                lines += self.settled(at, columns)
        elif event.host and self._every is None:
            lines += [line for text in Lines(False).of(event, at) for line in _apart(event.stage, text, columns)]
        elif event.stage != "run" or event.verdict is not None:
            self._doing = one_line(str(event.message))
        return lines

    def settled(self, at: float, columns: int) -> list[str]:
        """The line that stays of the current stage, whether it is over or was broken off."""
        stage, self._stage = self._stage, None
        if stage is None:
            return []
        return [stage.line(at, columns, self._count_width), *filter(None, (stage.after(columns),))]

    def redrawn(self, at: float, columns: int, stop_wanted: bool) -> list[str]:
        """The current stage, and what is to be known while it runs."""
        below = cut(f"  {say('progress.stopping')}", columns) if stop_wanted else ""
        if self._stage is None:
            return [line for line in (cut(f"  {self._doing}", columns).rstrip(), below) if line]
        return [self._stage.line(at, columns, self._count_width), below or self._stage.below(at, columns)]


def _apart(stage: str, text: str, columns: int) -> list[str]:
    """A line about a single event, as wide as it needs to be."""
    return wrapped(text, columns, f"  {stage:<11}  ", " " * 17)


def _text(line: str) -> Text:
    """As text: what looks like markup is shown, and only the verdicts are coloured."""
    text = Text(line, no_wrap=True, overflow="crop", end="\n")
    for verdict, style in _STYLES.items():
        text.highlight_regex(rf"\b{verdict.name}\b", style)
    return text


class _File:
    """The terminal as rich knows a file. It never raises: whoever reads may be gone, which ends no run."""

    def __init__(self, stream: TextIO) -> None:
        self._number = stream.fileno()
        self.encoding = stream.encoding or "utf-8"
        self.gone = False

    def write(self, text: str) -> int:
        """Write it, as long as somebody reads."""
        self.gone = self.gone or not write(self._number, text, self.encoding)
        return len(text)

    def flush(self) -> None:
        """Nothing is kept back."""

    def fileno(self) -> int:
        """The descriptor of the terminal."""
        return self._number

    def isatty(self) -> bool:
        """It is asked only where it is."""
        return True
