"""Hugging Face Trainer: `{'loss': 1.03, 'grad_norm': 2.13, 'learning_rate': 0.0, 'epoch': 2.01}` and a progress bar.

The dictionary names no step: that is what the bar shows that is drawn again right after it. Step times come from the
seconds the bar has counted since the report before, and from its own smoothed rate where those are too few. Version 5
quotes the numbers. A log without a bar has one report, of the whole run: `train_runtime`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec.structs import replace

from healthcheck.model.training import EventKind, Framework, RunEvent, StepRecord
from healthcheck.vitals.logs.bars import Bar, bar_of
from healthcheck.vitals.logs.dialect import Dialect, Item, Means, Shapes
from healthcheck.vitals.logs.figures import count, number, positive
from healthcheck.vitals.logs.stamps import NO_HEAD, Head

_DICT = re.compile(r"\{('(?:loss|eval_\w{1,60}|train_runtime)': [^{}]{1,2000})\}", re.ASCII)
_PAIR = re.compile(r"'(\w{1,60})': '?([-+\w.]{1,40})'?(?=,|$)", re.ASCII)
_TOTAL = re.compile(r"Total optimization steps = (?P<n>[\d,]{1,15})(?![\d,])", re.ASCII)
_BATCH = re.compile(
    r"Total train batch size \(w\. parallel, distributed & accumulation\) = (?P<n>[\d,]{1,12})(?![\d,])", re.ASCII
)
_PARAMETERS = re.compile(r"Number of trainable parameters = (?P<n>[\d,]{1,20})(?![\d,])", re.ASCII)
_EVENTS: Shapes = (
    (
        EventKind.CHECKPOINT_LOADED,
        re.compile(r"Continuing training from global step (?P<step>\d{1,12})(?!\d)", re.ASCII),
    ),
    (
        EventKind.CHECKPOINT_BEGUN,
        re.compile(r"Saving model checkpoint to \S{0,4096}?checkpoint-(?P<step>\d{1,12})(?!\d)", re.ASCII),
    ),
    (
        EventKind.CHECKPOINT_SAVED,
        re.compile(r"[Ss]pecial tokens file saved in \S{0,4096}?checkpoint-(?P<step>\d{1,12})/", re.ASCII),
    ),
    (EventKind.START, re.compile(r"\*\*\*\*\* Running training", re.ASCII)),
)
_ENOUGH_S = 20.0
_QUIET_S = 60.0


class HfTrainer(Dialect):
    """A report for each dictionary with a loss; where a log has none, one a minute from the bar."""

    framework = Framework.HF_TRAINER
    means = Means.SINCE_LAST
    weight = 0
    settles = 1
    marks = (
        "{'",
        "it/s]",
        "s/it]",
        "?it/s",
        "it/s,",
        "s/it,",
        "***** Running ",
        "Total ",
        "Number of trainable",
        "model checkpoint to ",
        "global step ",
        "okens file saved",
    )

    def __init__(self) -> None:
        super().__init__()
        self._total: int | None = None
        self._bar: Bar | None = None
        self._reported: Bar | None = None
        self._held: tuple[dict[str, str], int, Head] | None = None
        self._losses = False

    def read(self, line: str, number: int) -> Iterable[Item]:
        bar = bar_of(line) if "<" in line else None
        told = _DICT.search(line) if "{'" in line else None
        if bar is None and told is None:
            return self._other(line, number)
        items: list[Item] = []
        if bar is not None and (told is None or bar.end <= told.start()):
            items += self._drawn(bar, number)
            bar = None
        if told is not None:
            items += self._dictionary(told, line, number)
        if bar is not None:
            items += self._drawn(bar, number)
        return items

    def _drawn(self, bar: Bar, number: int) -> list[Item]:
        """The training's bar counts to the steps the log announces, else to what the first one after a loss does."""
        if self._total is not None and bar.of != self._total:
            return []
        before, self._bar = self._bar, bar
        if self._held is not None:
            self._total = bar.of
            return self._report(bar)
        if self._losses or self._total is None or before is None or bar.n == before.n:
            return []
        if before.spent_s - (self._reported.spent_s if self._reported is not None else 0) < _QUIET_S:
            return []
        self._held = {}, number, NO_HEAD
        return self._report(before)

    def _dictionary(self, found: re.Match[str], line: str, line_number: int) -> list[Item]:
        pairs = dict(_PAIR.findall(found[1]))
        head = self.heads.read(line[: found.start()])
        self._held = None  # no bar was drawn after it: its step is not known
        if "train_steps_per_second" in pairs:
            return self._ended(pairs, line_number, head)
        if "loss" in pairs:
            self._losses = True
            self._held = pairs, line_number, head
        elif (took := positive(pairs.get("eval_runtime"))) is not None:
            step = self._reported.n if self._reported is not None else None
            return [RunEvent(EventKind.EVALUATION, line_number, step, head.at_s, took, head.rank)]
        return []

    def _report(self, bar: Bar) -> list[Item]:
        """What is held, at the step of this bar."""
        held, self._held = self._held, None
        last = self._reported if self._reported is not None and bar.n >= self._reported.n else None
        if held is None or bar.n == 0 or (last is not None and bar.n == last.n):
            return []
        pairs, line, head = held
        self._reported = bar
        seconds = bar.spent_s - last.spent_s if last is not None else 0.0
        return [
            StepRecord(
                step=bar.n,
                line=line,
                step_time_s=seconds / (bar.n - last.n) if last is not None and seconds >= _ENOUGH_S else bar.step_s,
                at_s=head.at_s,
                samples=self.facts.global_batch,
                loss=number(pairs.get("loss")),
                grad_norm=number(pairs.get("grad_norm")),
                rank=head.rank,
            )
        ]

    def _ended(self, pairs: dict[str, str], line: int, head: Head) -> list[Item]:
        runtime = positive(pairs.get("train_runtime"))
        step = self._reported.n if self._reported is not None else self._total
        end = RunEvent(EventKind.EXIT, line, step, head.at_s, runtime, head.rank)
        if self._reported is not None or runtime is None or not self._total:
            return [end]
        whole = StepRecord(
            step=self._total,
            line=line,
            covers=self._total,
            step_time_s=runtime / self._total,
            at_s=head.at_s,
            samples=self.facts.global_batch,
            loss=number(pairs.get("train_loss")),
            rank=head.rank,
        )
        return [whole, end]

    def _other(self, line: str, number: int) -> Iterable[Item]:
        if (event := self.event_of(_EVENTS, line, number)) is not None:
            if event.kind is EventKind.CHECKPOINT_LOADED and event.step is not None:
                self._reported = Bar(event.step, 0, 0.0, None, "", 0)
            elif event.kind is EventKind.START:
                self._bar = self._reported = self._held = self._total = None
                self._losses = False
            return (event,)
        if (total := _TOTAL.search(line)) is not None:
            self._total = count(total["n"])
        elif (batch := _BATCH.search(line)) is not None:
            self.facts = replace(self.facts, global_batch=count(batch["n"]))
        elif (params := _PARAMETERS.search(line)) is not None:
            n = count(params["n"])
            self.facts = replace(self.facts, params=None if n is None else float(n))
        return ()
