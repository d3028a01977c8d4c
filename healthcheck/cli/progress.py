"""What a person is shown of a run, from the events of its workflow: how far a stage is, and which events are a line."""

from __future__ import annotations

from msgspec import Struct

from healthcheck.model.durations import span
from healthcheck.model.message import Message, say
from healthcheck.model.playbook import PROBE_STAGE
from healthcheck.model.progress import Begun, Counted, Over, RoundBegun, RoundRead
from healthcheck.model.verdict import Verdict
from healthcheck.parsing.nodeset import fold
from healthcheck.ports import Event
from healthcheck.reporting.durations import to_go, watch
from healthcheck.reporting.figures import one_line
from healthcheck.reporting.joining import in_a_row
from healthcheck.reporting.text_width import cut, left, right, width_of

MOST_TOLD = 64
"""Lines about single nodes in one stage; the others are counted."""
SO_FAR_S = 60.0
"""So often a log hears that a stage goes on."""
MOST_NAMED = 3
LEAST_NOTE, LONGEST_NOTE = 12, 44
_NAME, _COUNT, _TIME = 11, 8, 6
_INDENT = " " * (2 + _NAME + 2)


class Head(Struct, frozen=True):
    """What stands above the stages on a terminal, as finished lines; `nodes` is how many are named."""

    lines: tuple[str, ...]
    nodes: int


class StageView:
    """One stage as far as it has come; `at` is a moment of the clock of the run, in seconds."""

    def __init__(self, name: str, begun: Begun, at: float) -> None:
        self.name, self.of, self.done = name, begun.of, 0
        self.began, self.expected_s, self.budget_s = at, begun.expected_s, begun.budget_s
        self.slowest: tuple[float, str] | None = None
        self.bad: dict[str, tuple[Verdict, str]] = {}
        self.trail: list[tuple[int, str]] = [(begun.suspects, "")] if begun.suspects else []
        self.part = ""
        self.now = ""
        self.over: Over | None = None
        self.headline = ""

    def take(self, event: Event, at: float) -> None:
        """One more event of this stage."""
        step, text = event.step, one_line(str(event.message))
        if isinstance(step, Counted):
            self.done, self.of = step.done, step.of
            if not event.host:
                self.now = text
            elif step.gbyte_s is not None and (self.slowest is None or step.gbyte_s < self.slowest[0]):
                self.slowest = step.gbyte_s, one_line(event.host)
        elif isinstance(step, RoundBegun):
            self.done = step.round
            self.expected_s = None if step.left_s is None else at - self.began + step.left_s
            self.now = str(say("progress.now", groups=", ".join(one_line(fold(group)) for group in step.groups[:4])))
        elif isinstance(step, RoundRead):
            left = len(step.suspects), one_line(fold(step.suspects)) if len(step.suspects) <= MOST_NAMED else ""
            if self.trail[-1:] != [left]:
                self.trail.append(left)
        elif isinstance(step, Over):
            self.over, self.done, self.of = step, step.done, step.of
            self.headline = text
            if event.verdict is not None and not self._each_counts:
                self.headline += f" {event.verdict.name}"
        elif not event.host and event.stage != PROBE_STAGE:
            self.now = text
        if event.host and event.verdict not in (None, Verdict.PASS):
            self._note(event, text)

    @property
    def _each_counts(self) -> bool:
        return self.over is not None and len(self.over.verdicts) != 1

    def _note(self, event: Event, text: str) -> None:
        assert event.verdict is not None
        who, known = one_line(event.host), self.bad.get(event.host)
        if "/" in who:
            self.part = who
        if known is not None and known[0] >= event.verdict:
            return
        read = event.step.gbyte_s if isinstance(event.step, Counted) else None
        told = cut(text, LONGEST_NOTE)
        if read is not None:
            told = f"{read:.1f} {event.verdict.name}"
        elif event.verdict in (Verdict.FAIL, Verdict.DEGRADED):
            told = f"{event.verdict.name} {told}"  # "no answer" and "busy" say what they are
        self.bad[event.host] = event.verdict, f"{who} {told}"

    def line(self, at: float, width: int, count_width: int = _COUNT) -> str:
        """How far it is, or what came of it: one line of at most `width` columns."""
        start = f"  {left(self.name, _NAME)}  {right(self._count(), count_width)} {watch(at - self.began):>{_TIME}}   "
        return cut(start + self._text(width - width_of(start)), width).rstrip()

    def _count(self) -> str:
        if self.of:
            return str(say("progress.count", done=self.done, of=self.of))
        if not self.done:
            return ""
        return str(say("progress.round", round=self.done) if self.over is None else _rounds(self.done))

    def _text(self, room: int) -> str:
        if self.trail:
            return self._trail() if self.over is not None else f"{self._trail()}   {self.now}"
        if self.over is None:
            if self.bad:
                return self._notable(room)
            if self.slowest is not None:
                return str(say("progress.slowest", host=self.slowest[1], busbw=f"{self.slowest[0]:.1f}"))
            return self.now
        if self.name == PROBE_STAGE:
            notable = self._notable(room)
            beside = room - width_of(notable) - 2 >= width_of(self.headline)
            return in_a_row((notable, self.headline if beside or not notable else ""))
        return in_a_row((self.headline, self._notable(room - width_of(self.headline) - 2)))

    def _trail(self) -> str:
        """How many were in doubt after each round, and who, once they are few."""
        *before, (count, names) = self.trail
        words = [*(str(number) for number, _ in before), names or str(count), *([self.part] if self.part else [])]
        return str(say("progress.trail", trail=" > ".join(words)))

    def _notable(self, room: int) -> str:
        """Who is not PASS, the worst first, as many as there is room for; how many more there are."""
        entries = [text for _, text in sorted(self.bad.values(), key=lambda entry: -entry[0])]
        shown = ""
        for place, entry in enumerate(entries):
            rest = len(entries) - place - 1
            more = f"; {say('progress.more', n=rest)}" if rest else ""
            longer = in_a_row((shown, entry))
            if width_of(longer + more) > room:
                if shown:
                    return in_a_row((shown, say("progress.more", n=rest + 1)))
                beside = room - width_of(more)
                return str(say("progress.not_pass", n=rest + 1)) if beside < LEAST_NOTE else cut(entry, beside) + more
            shown = longer
        return shown

    def below(self, at: float, width: int) -> str:
        """The line below the current one: how long it still takes, and how to stop it."""
        parts = []
        spent = at - self.began
        if self.expected_s is not None:
            late = spent > self.expected_s
            parts.append(say("progress.longer", time=span(self.expected_s)) if late else to_go(self.expected_s - spent))
        if self.budget_s is not None:
            parts.append(say("progress.budget", time=span(self.budget_s)))
        told = in_a_row((in_a_row(parts, "text.comma"), say("progress.to_stop")))
        indent = _INDENT if width_of(_INDENT + told) <= width else "  "
        return cut(indent + told, width)

    def after(self, width: int) -> str:
        """What a search ended with, below its line; empty for other stages."""
        return cut(_INDENT + self.headline, width) if self.trail and self.headline else ""


class Lines:
    """Which events of a run are a line, and its text: every one where `verbose`, else what is not as it should be."""

    def __init__(self, verbose: bool) -> None:
        self._verbose = verbose
        self._told: dict[str, dict[str, Verdict]] = {}
        self._lines: dict[str, int] = {}
        self._began: dict[str, float] = {}
        self._spoke = 0.0
        self._last = ""

    def of(self, event: Event, at: float) -> tuple[str, ...]:
        """The lines of an event, without time and stage; none where it is not worth one."""
        lines = self._texts(event, at)
        if lines:
            self._spoke = at
        return lines

    def _texts(self, event: Event, at: float) -> tuple[str, ...]:
        step = event.step
        if isinstance(step, Begun):
            self._began[event.stage] = at
            self._told[event.stage], self._lines[event.stage] = {}, 0
            return (_plain(event),) if self._verbose or event.stage != PROBE_STAGE else ()
        if isinstance(step, Over):
            return (self._over(event, step, at),)
        if self._verbose:
            return (_plain(event),)
        if isinstance(step, Counted) and not self._is_news(event, step):
            if at - self._spoke < SO_FAR_S or step.done == step.of:
                return ()
            return (str(say("progress.so_far", done=step.done, of=step.of)),)
        if isinstance(step, RoundBegun):
            return ()
        return self._bounded(event) if event.host else (_plain(event),)

    def _again(self, line: str) -> bool:
        """Whether the line before said the same: ten looks at one missing card are one line."""
        again, self._last = line == self._last, line
        return again

    def _is_news(self, event: Event, step: Counted) -> bool:
        if event.verdict in (None, Verdict.PASS):
            return False
        if not event.host:
            what = event.message.args.get("what")
            # The stage ends with a single job, and says the same of it.
            return step.of > 1 or not isinstance(what, Message) or what.code != "bandwidth.of_peak"
        assert event.verdict is not None
        told = self._told.setdefault(event.stage, {})
        worse = event.verdict > told.get(event.host, Verdict.PASS)
        told[event.host] = max(event.verdict, told.get(event.host, Verdict.PASS))
        return worse

    def _bounded(self, event: Event) -> tuple[str, ...]:
        if self._again(_plain(event)):
            return ()
        self._lines[event.stage] = self._lines.get(event.stage, 0) + 1
        if self._lines[event.stage] <= MOST_TOLD:
            return (_plain(event),)
        return (str(say("progress.not_listed")),) if self._lines[event.stage] == MOST_TOLD + 1 else ()

    def _over(self, event: Event, step: Over, at: float) -> str:
        parts = [str(say("progress.done", done=step.done, of=step.of) if step.of else _rounds(step.done))]
        text = one_line(str(event.message))
        one = event.verdict is not None and len(step.verdicts) < 2 and sum(count for _, count in step.verdicts) < 2
        parts.append(f"{event.verdict.name} {text}" if one and event.verdict is not None else text)
        if not one:
            parts += [f"{count} {verdict.name}" for verdict, count in step.verdicts]
        return in_a_row((*parts, span(at - self._began.get(event.stage, at))), "text.comma")


def _rounds(rounds: int) -> Message:
    return say("progress.done_rounds", rounds=rounds)


def _plain(event: Event) -> str:
    words = [one_line(event.host)] if event.host else []
    words += [event.verdict.name] if event.verdict is not None else []
    return " ".join((*words, one_line(str(event.message))))
