"""nanotron: `iteration: 1 / 10 | consumed_tokens: 85.8G | elapsed_time_per_iteration_ms: 11.5K | ...`.

Numbers have three digits and a suffix for thousands, so a batch size with a suffix is not exact and not taken (the line
at the start of training says it), and a number without a bar behind it may have lost its suffix. Later versions say
`time_per_iteration_ms`, the first ones print plain numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec.structs import replace

from healthcheck.model.training import EventKind, Framework, RunEvent, StepRecord
from healthcheck.vitals.logs.bars import fields_of, whole
from healthcheck.vitals.logs.crossed import reports_in
from healthcheck.vitals.logs.dialect import Dialect, Item, Means, Shapes
from healthcheck.vitals.logs.figures import count, number, scaled, shifted
from healthcheck.vitals.logs.remarks import Odd

_STEP = re.compile(r"(?<!\w)iteration: (?P<step>\d{1,12}) / \d{1,12} \| ", re.ASCII)
_TRAINING = re.compile(
    r"\[Start training\] datetime: (?P<at>[\d:. -]{19,26}) \| mbs: \d{1,9} \| grad_accum: \d{1,9} \| "
    r"global_batch_size: (?P<batch>\d{1,9}) \| sequence_length: (?P<seq>\d{1,9}) \| train_steps: \d{1,12} \| "
    r"start_iteration_step: (?P<step>\d{1,12}) \| ",
    re.ASCII,
)
_PARAMETERS = re.compile(r"Total number of parameters: (?P<n>[\d.]{1,12}[KMGBT]?) \(", re.ASCII)
_EVENTS: Shapes = (
    (EventKind.CHECKPOINT_BEGUN, re.compile(r"Saving checkpoint at \S{0,4096}?/(?P<step>\d{1,12})\s{0,4}$", re.ASCII)),
    (
        EventKind.CHECKPOINT_LOADED,
        re.compile(r"Loading checkpoint from \S{0,4096}?/(?P<step>\d{1,12})(?::|\s|$)", re.ASCII),
    ),
)


class Nanotron(Dialect):
    """One rank prints. The batch is exact once the line at the start of training was seen."""

    framework = Framework.NANOTRON
    means = Means.SINCE_LAST
    settles = 1
    marks = ("iteration: ", "[Start training]", "Total number of parameters: ", "ing checkpoint ")

    def read(self, line: str, number: int) -> Iterable[Item]:
        reports = reports_in(line, "iteration: ", _STEP)
        if not reports:
            return self._other(line, number)
        if len(reports) > 1:
            self.note(Odd.CROSSED, number)
        head = self.heads.read(line[: reports[0][0].start()])
        records = [self._record(int(one["step"]), text, number, head.rank, head.at_s) for one, text in reports]
        return [record for record in records if record is not None]

    def _record(self, step: int, text: str, line: int, rank: str | None, at_s: float | None) -> StepRecord | None:
        fields, last = fields_of(text)
        if last is not None and not (last == "grad_norm" and whole(fields[last], 3)):
            del fields[last]
        get = fields.get
        time_s = _milli(get("elapsed_time_per_iteration_ms") or get("time_per_iteration_ms") or "")
        if time_s is None:
            return None
        facts = self.facts
        batch = facts.global_batch if facts.global_batch is not None else count(get("global_batch_size"))
        return StepRecord(
            step=step,
            line=line,
            step_time_s=time_s,
            at_s=at_s,
            samples=batch,
            tokens=float(batch * facts.seq_len) if batch is not None and facts.seq_len is not None else None,
            consumed_tokens=scaled(get("consumed_tokens")),
            consumed_samples=scaled(get("consumed_samples")),
            tokens_per_s=scaled(get("tokens_per_sec")),
            tokens_per_s_per_gpu=scaled(get("tokens_per_sec_per_gpu")),
            tflops_per_gpu=scaled(get("model_tflops_per_gpu")),
            loss=_any(get("lm_loss")),
            grad_norm=_any(get("grad_norm")),
            rank=rank,
        )

    def _other(self, line: str, number: int) -> Iterable[Item]:
        if (start := _TRAINING.search(line)) is not None:
            self.facts = replace(self.facts, global_batch=int(start["batch"]), seq_len=int(start["seq"]))
            head = self.heads.read(line[: start.start()])
            at = self.heads.read(start["at"]).at_s
            return (
                RunEvent(
                    EventKind.START, number, int(start["step"]), at if at is not None else head.at_s, None, head.rank
                ),
            )
        if (params := _PARAMETERS.search(line)) is not None:
            self.facts = replace(self.facts, params=scaled(params["n"]))
            return ()
        event = self.event_of(_EVENTS, line, number)
        return () if event is None else (event,)


def _milli(text: str) -> float | None:
    """Seconds of a number of milliseconds with or without its suffix."""
    return shifted(text[:-1], 0) if text.endswith("K") else shifted(text, -3) if text[-1:].isdigit() else None


def _any(text: str | None) -> float | None:
    value = number(text)
    return value if value is not None else scaled(text)
