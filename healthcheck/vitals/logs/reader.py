"""The log of a training, line by line -> steps and events, whoever wrote it. Never raises, holds a bounded part of it.

Which framework it is shows within the first steps. Until then every reader listens, each with a queue of its own; then
the one that understood most goes on alone. A line costs a search for a few substrings before anything else is done.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from healthcheck.model.message import say
from healthcheck.model.training import EventKind, Framework, LogFacts, LogRemark, RunEvent, StepRecord
from healthcheck.vitals.logs import failures
from healthcheck.vitals.logs.dialect import Dialect, Item
from healthcheck.vitals.logs.dialects import all_dialects, dialect_of
from healthcheck.vitals.logs.echoes import Echoes
from healthcheck.vitals.logs.lines import numbered
from healthcheck.vitals.logs.spacing import Spacing

_ENOUGH_STEPS = (250, 250, 24)
"""By weight: a library's lines may come much more often than those of the framework that uses it."""
_MOST_QUEUED = 4096
_SAVES = (EventKind.CHECKPOINT_BEGUN, EventKind.CHECKPOINT_SAVED, EventKind.CHECKPOINT_LOADED, EventKind.START)
_FEW = 20
"""A framework with less than a twentieth of another's steps does not stand for the log."""


class LogReader:
    """Reads one log; for the log of the next start of the same training take a new reader.

    `framework` is found by itself where it is not given, and stays None where nothing is recognised. `facts` grow as
    lines are read, so look at them after the last item.
    """

    def __init__(self, framework: Framework | None = None) -> None:
        self._given = framework
        self._chosen: _Candidate | None = None if framework is None else _Candidate(dialect_of(framework))
        self._candidates: Sequence[_Candidate] = ()
        self._also: tuple[LogRemark, ...] = ()
        if framework is None:
            self._candidates = [_Candidate(dialect) for dialect in all_dialects()]

    @property
    def framework(self) -> Framework | None:
        """Whose log it is; None as long as no step of any framework was read."""
        if self._given is not None:
            return self._given
        return None if self._chosen is None else self._chosen.dialect.framework

    @property
    def facts(self) -> LogFacts:
        """What the log said of the run so far."""
        return LogFacts() if self._chosen is None else self._chosen.dialect.facts

    @property
    def remarks(self) -> tuple[LogRemark, ...]:
        """What was odd, and what was done about it."""
        return () if self._chosen is None else self._chosen.remarks() + self._also

    def read(self, lines: Iterable[str]) -> Iterator[StepRecord | RunEvent]:
        """The items of the log in their order. `lines` with their ends, best by `lines_of`.

        A line that ends in `\\r` (a progress bar) shares its number with the next one, and a last line without an end
        is not read: it was cut.
        """
        stream = numbered(lines)
        if self._chosen is None:
            yield from self._audition(stream)
        if self._chosen is not None:
            chosen = self._chosen
            marks = chosen.marks
            for number, line in stream:
                for mark in marks:  # twice as fast as any(), for each line of the log
                    if mark in line:
                        yield from chosen.listen(line, number)
                        break
            yield from chosen.close()

    def _audition(self, stream: Iterator[tuple[int, str]]) -> Iterator[Item]:
        """Let all listen until one has enough steps or the log is at its end; then what the winner has queued."""
        candidates = self._candidates
        listeners: dict[str, list[_Candidate]] = {}
        for candidate in candidates:
            for mark in candidate.marks:
                listeners.setdefault(mark, []).append(candidate)
        marks = tuple(listeners)
        for number, line in stream:
            heard = [mark for mark in marks if mark in line]
            if not heard:
                continue
            for candidate in {one for mark in heard for one in listeners[mark]}:
                candidate.queue(line, number)
            if any(one.steps >= _ENOUGH_STEPS[one.dialect.weight] for one in candidates):
                break
        else:
            for candidate in candidates:
                candidate.end()
        self._chosen = _winner(candidates)
        self._also = tuple(
            LogRemark(say("training.also", count=one.steps, framework=one.dialect.framework.value), one.first_line)
            for one in candidates
            if one.steps and one is not self._chosen and not one.serves(self._chosen)
        )
        self._candidates = ()
        if self._chosen is not None:
            yield from self._chosen.queued()


class _Candidate:
    """One framework's reader, the steps it understood, and what waits for the end of the audition."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self.steps = 0
        self.first_line = 0
        self.marks = (*dialect.marks, *failures.MARKS)
        self._failures = failures.Failures(dialect.heads)
        self._echoes = Echoes()
        self._spacing = Spacing(dialect.means)
        self._queue: list[Item] = []
        self._begun: RunEvent | None = None

    def serves(self, other: _Candidate | None) -> bool:
        """Is it a library that the other one trains with? Then its lines are nothing odd."""
        return other is not None and self.dialect.weight < other.dialect.weight

    def listen(self, line: str, number: int) -> Sequence[Item]:
        """The items of a line with one of the marks; whatever has none says nothing in this framework."""
        dialect = self.dialect
        before = dialect.facts
        items = dialect.read(line, number) or self._failures.read(line, number)
        if dialect.facts is not before:
            self._learnt(before, number)
        return self._spaced(items) if items else ()

    def _learnt(self, before: LogFacts, line: int) -> None:
        facts = self.dialect.facts
        self._spacing.interval = facts.log_interval
        if before.gpus is not None and facts.gpus not in (before.gpus, None):
            self.dialect.odds.resized(before.gpus, facts.gpus or 0, line)

    def _spaced(self, items: Iterable[Item]) -> Sequence[Item]:
        spaced: list[Item] = []
        for item in items:
            if isinstance(item, StepRecord):
                self.steps += 1
                self.first_line = self.first_line or item.line
                self._echoes.stepped(item)
                if self._begun is not None:
                    spaced += self._settled(item, self._begun)
            elif self._echoes.is_echo(item):
                continue
            elif item.kind in _SAVES:
                self._begun = item if item.kind is EventKind.CHECKPOINT_BEGUN else None
            spaced += self._spacing.feed(item)
        return spaced

    def _settled(self, record: StepRecord, begun: RunEvent) -> Sequence[Item]:
        """The training went on after it had announced a save: that it is saved."""
        steps = self.dialect.settles
        if begun.step is None or steps is None or record.step < begun.step + steps:
            return ()
        self._begun = None
        return self._spacing.feed(RunEvent(EventKind.CHECKPOINT_SAVED, record.line, begun.step, None, None, begun.rank))

    def remarks(self) -> tuple[LogRemark, ...]:
        """What was odd so far."""
        return self.dialect.odds.told()

    def queue(self, line: str, number: int) -> None:
        """Listen and keep the items; events before the first step only as far as there is room."""
        for item in self.listen(line, number):
            if len(self._queue) < _MOST_QUEUED or isinstance(item, StepRecord):
                self._queue.append(item)

    def end(self) -> None:
        """The log is at its end before anyone was chosen."""
        self._queue += self.close()

    def queued(self) -> Iterator[Item]:
        """What waited."""
        queue, self._queue = self._queue, []
        yield from queue

    def close(self) -> Sequence[Item]:
        """What was held back at the end."""
        return (*self._spaced(self.dialect.close()), *self._spacing.close())


def _winner(candidates: Sequence[_Candidate]) -> _Candidate | None:
    """Who stands for the log: of those that understood a good part of the steps the weightiest, then the one with most.

    A training of one framework prints lines of the libraries it uses, too; those weigh less.
    """
    most = max((one.steps for one in candidates), default=0)
    heard = [one for one in candidates if one.steps * _FEW >= most > 0 or (one.dialect.weight >= 2 and one.steps >= 2)]
    return max(heard, key=lambda one: (one.dialect.weight, one.steps), default=None)
