"""Megatron-LM and what grew out of it: Megatron-DeepSpeed, GPT-NeoX, Megatron-Bridge, Primus, FlagScale, MindSpeed.

`iteration 43/ 100 | consumed samples: 5504 | elapsed time per iteration (ms): 5444.9 | ... |`: every field ends in a
bar, so that one without was cut. Before 2021 there were no samples and `lm loss 1.0E+01` had no colon; GPT-NeoX puts
`samples/sec: 2.3 |` in front. Primus prints `last/mean` of times and rates. The numbers are means of the log interval.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec.structs import replace

from healthcheck.model.training import EventKind, Framework, RunEvent, StepRecord
from healthcheck.vitals.logs import megatron_events, megatron_facts, megatron_timers
from healthcheck.vitals.logs.crossed import reports_in
from healthcheck.vitals.logs.dialect import Dialect, Item, Means
from healthcheck.vitals.logs.figures import count, number, positive, shifted
from healthcheck.vitals.logs.remarks import Odd
from healthcheck.vitals.logs.stamps import Head

_START = re.compile(r"iteration(?:\s{1,12}|=\s{0,12})(\d{1,12})\s{0,8}/\s{0,12}(\d{1,12})\s{0,4}\|", re.ASCII)
_NEOX_RATE = re.compile(r"samples/sec: (\d{1,9}\.\d{1,6}) \| $", re.ASCII)
_DEEPSPEED_STEP = re.compile(r"(?<![\w/])step=(\d{1,12}), skipped=\d", re.ASCII)
_TIME_MS = "elapsed time per iteration (ms)"
_TIME_S = "elapsed time per iteration (s)"
_UNITS = {
    "elapsed time per iteration ms": _TIME_MS,
    "elapsed time per iteration s": _TIME_S,
    "tokens per gpu per second tgs": "tokens per gpu per second (tgs)",
}
"""How the fork of Argonne (`elapsed_time_per_iteration_ms=63383.5 | ...`) writes what has a unit."""
_DEEPSPEED = frozenset(("TFLOPs", "samples per second", "consumed tokens", _TIME_S))
_NEOX = frozenset(("approx flops per GPU", "lm_loss"))


class Megatron(Dialect):
    """The framework is what the first iteration lines look like."""

    framework = Framework.MEGATRON
    means = Means.INTERVAL
    marks = ("iteration", "skipped=", *megatron_events.MARKS, *megatron_facts.MARKS, *megatron_timers.MARKS)

    def __init__(self) -> None:
        super().__init__()
        self._events = megatron_events.Events(self.heads)
        self._told = megatron_facts.Told()
        self._stamped: tuple[int, float | None] | None = None
        self._last: int | None = None

    def read(self, line: str, number: int) -> Iterable[Item]:
        reports = reports_in(line, "iteration", _START)
        if not reports and (told := _DEEPSPEED_STEP.search(line)) is not None:
            # DeepSpeed stamps its line of a step, which stands right before the iteration line without a stamp.
            self._stamped = int(told[1]), self.heads.read(line[: told.start()]).at_s
            return ()
        if not reports and (timed := megatron_timers.timed_in(line)):
            return [RunEvent(EventKind.TIMED, number, self._last, took_s=seconds, text=name) for name, seconds in timed]
        if not reports:
            self._told.read(line)
            self.facts = self._told.facts
            return self._events.read(line, number)
        items: list[Item] = [*self._events.close()]
        if len(reports) > 1:
            self.note(Odd.CROSSED, number)
        head = self.heads.read(line[: reports[0][0].start()])
        for start, text in reports:
            fields = _fields(text)
            before = _NEOX_RATE.search(line, 0, start.start()) if "samples/sec: " in line else None
            if before is not None:
                fields["samples/sec"] = before[1]
            if not fields or (_TIME_MS not in fields and _TIME_S not in fields):
                continue
            self._recognise(fields)
            step = self._last = int(start[1])
            record = _record(step, number, fields, head, self._events.utilisation(), self.facts.seq_len)
            if record.at_s is None and self._stamped is not None and self._stamped[0] == step:
                record = replace(record, at_s=self._stamped[1])
            items.append(record)
        return items

    def close(self) -> Iterable[Item]:
        return self._events.close()

    def _recognise(self, fields: dict[str, str]) -> None:
        if self.framework is not Framework.MEGATRON:
            return
        if not _NEOX.isdisjoint(fields):
            self.framework = Framework.GPT_NEOX
        elif not _DEEPSPEED.isdisjoint(fields):
            self.framework = Framework.MEGATRON_DEEPSPEED


def _fields(text: str) -> dict[str, str]:
    """Name -> value of each field that ends in a bar. One that stands twice was mixed from two lines: neither."""
    fields: dict[str, str] = {}
    twice = set()
    for part in text.split("|")[:-1]:
        name, colon, value = part.partition(":")
        if not colon and "=" in part:
            name, _, value = part.partition("=")
            name = name.strip().replace("_", " ")
            name = _UNITS.get(name, name)
        elif not colon:
            name, _, value = part.strip().rpartition(" ")
        name = name.strip()
        if name in fields:
            twice.add(name)
        fields[name] = value
    for name in twice:
        del fields[name]
    return fields


def _record(
    step: int, line: int, fields: dict[str, str], head: Head, tflops: float | None, seq_len: int | None
) -> StepRecord:
    get = fields.get
    time_ms = get(_TIME_MS)
    time_s = _first_of_pair(get(_TIME_S)) if time_ms is None else shifted(time_ms.partition("/")[0], -3)
    loss = get("lm loss") or get("lm_loss") or get("loss") or get("train loss")
    norm = get("grad norm") or get("grad_norm")
    skipped = get("number of skipped iterations")
    printed = _first_of_pair(get("throughput per GPU (TFLOP/s/GPU)") or get("TFLOPs"))
    if printed is None and (flops := get("approx flops per GPU")) is not None:
        printed = _tflops(flops.strip())
    batch = count(get("global batch size") or get("gloabl batch size"))
    if (actual := get("actual seqlen")) is not None:
        seq_len = count(actual)
    return StepRecord(
        step=step,
        line=line,
        step_time_s=time_s,
        at_s=head.at_s,
        samples=None if batch is None else float(batch),
        tokens=None if batch is None or seq_len is None else float(batch * seq_len),
        consumed_samples=_whole(get("consumed samples")),
        consumed_tokens=_whole(get("consumed tokens")),
        tokens_per_s_per_gpu=_first_of_pair(
            get("tokens per GPU (tokens/s/GPU)") or get("tokens per gpu per second (tgs)")
        ),
        samples_per_s=positive(get("samples per second") or get("samples/sec")),
        tflops_per_gpu=printed if printed is not None else tflops,
        loss=number(loss),
        grad_norm=number(norm),
        skipped=count(skipped) or 0,
        rank=head.rank,
    )


def _tflops(text: str) -> float | None:
    """`112.9TFLOPS`, or with another letter, as GPT-NeoX prints FLOP/s."""
    power = {"G": -3, "T": 0, "P": 3}.get(text[-6:-5]) if text.endswith("FLOPS") else None
    return None if power is None else shifted(text[:-6], power)


def _first_of_pair(text: str | None) -> float | None:
    """`16601.3/17219.3` is the last value and the mean of some: the last one."""
    return None if text is None else positive(text.partition("/")[0])


def _whole(text: str | None) -> float | None:
    value = count(text)
    return None if value is None else float(value)
