"""Megatron-LM and what grew out of it: Megatron-DeepSpeed, GPT-NeoX, Megatron-Bridge, Primus, FlagScale, MindSpeed.

`iteration 43/ 100 | consumed samples: 5504 | elapsed time per iteration (ms): 5444.9 | ... |`: every field ends in a
bar, so that one without was cut. Before 2021 there were no samples and `lm loss 1.0E+01` had no colon; GPT-NeoX puts
`samples/sec: 2.3 |` in front. Primus prints `last/mean` of times and rates. The numbers are means of the log interval.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from healthcheck.model.training import Framework, StepRecord
from healthcheck.vitals.logs import megatron_events, megatron_facts
from healthcheck.vitals.logs.dialect import Dialect, Item, Means
from healthcheck.vitals.logs.figures import count, number, positive

_START = re.compile(r"iteration\s{1,12}(\d{1,12})\s{0,8}/\s{0,12}(\d{1,12})\s{0,4}\|", re.ASCII)
_NEOX_RATE = re.compile(r"samples/sec: (\d{1,9}\.\d{1,6}) \| $", re.ASCII)
_TIME_MS = "elapsed time per iteration (ms)"
_TIME_S = "elapsed time per iteration (s)"
_LOSSES = ("lm loss", "lm_loss", "loss", "train loss")
_BATCHES = ("global batch size", "gloabl batch size")
_DEEPSPEED = ("TFLOPs", "samples per second", "consumed tokens", _TIME_S)
_NEOX = ("approx flops per GPU", "lm_loss")


class Megatron(Dialect):
    """The framework is what the first iteration lines look like."""

    framework = Framework.MEGATRON
    means = Means.INTERVAL
    weight = 3
    marks = ("iteration", *megatron_events.MARKS, *megatron_facts.MARKS)

    def __init__(self) -> None:
        super().__init__()
        self._events = megatron_events.Events(self.heads)

    def read(self, line: str, number: int) -> Iterable[Item]:
        starts = list(_START.finditer(line)) if "iteration" in line and "|" in line else []
        if not starts:
            self.facts = megatron_facts.learnt(self.facts, line)
            return self._events.read(line, number)
        items: list[Item] = [*self._events.close()]
        # Two ranks may have written into one line; each piece is read by itself.
        ends = [start.start() for start in starts[1:]] + [len(line)]
        head = self.heads.read(line[: starts[0].start()])
        for start, end in zip(starts, ends, strict=True):
            fields = _fields(line[start.end() : end])
            before = _NEOX_RATE.search(line, 0, start.start()) if "samples/sec: " in line else None
            if before is not None:
                fields["samples/sec"] = before[1]
            if not fields or (_TIME_MS not in fields and _TIME_S not in fields):
                continue
            self._recognise(fields)
            items.append(_record(int(start[1]), number, fields, head.rank, head.at_s, self._events.utilisation()))
        return items

    def close(self) -> Iterable[Item]:
        return self._events.close()

    def _recognise(self, fields: dict[str, str]) -> None:
        if self.framework is not Framework.MEGATRON:
            return
        if any(name in fields for name in _NEOX):
            self.framework = Framework.GPT_NEOX
        elif any(name in fields for name in _DEEPSPEED):
            self.framework = Framework.MEGATRON_DEEPSPEED


def _fields(text: str) -> dict[str, str]:
    """Name -> value of each field that ends in a bar. One that stands twice was mixed from two lines: neither."""
    fields: dict[str, str] = {}
    twice = set()
    for part in text.split("|")[:-1]:
        name, colon, value = part.partition(":")
        if not colon:
            name, _, value = part.strip().rpartition(" ")
        name = name.strip()
        if name in fields:
            twice.add(name)
        fields[name] = value
    for name in twice:
        del fields[name]
    return fields


def _record(
    step: int, line: int, fields: dict[str, str], rank: str | None, at_s: float | None, tflops: float | None
) -> StepRecord:
    get = fields.get
    time_ms = _first_of_pair(get(_TIME_MS))
    time_s = time_ms / 1e3 if time_ms is not None else _first_of_pair(get(_TIME_S))
    loss = next((number(text) for name in _LOSSES if (text := get(name)) is not None), None)
    norm = get("grad norm") or get("grad_norm")
    skipped = get("number of skipped iterations")
    printed = _first_of_pair(get("throughput per GPU (TFLOP/s/GPU)") or get("TFLOPs"))
    if printed is None and (flops := get("approx flops per GPU")) is not None:
        printed = positive(flops.strip().removesuffix("TFLOPS")) if flops.strip().endswith("TFLOPS") else None
    batch = next((size for name in _BATCHES if (size := count(get(name) or "")) is not None), None)
    return StepRecord(
        step=step,
        line=line,
        step_time_s=time_s,
        at_s=at_s,
        samples=batch,
        consumed_samples=_whole(get("consumed samples")),
        consumed_tokens=_whole(get("consumed tokens")),
        tokens_per_s_per_gpu=_first_of_pair(
            get("tokens per GPU (tokens/s/GPU)") or get("tokens per gpu per second (tgs)")
        ),
        samples_per_s=positive(get("samples per second") or get("samples/sec") or ""),
        tflops_per_gpu=printed if printed is not None else tflops,
        loss=loss,
        grad_norm=None if norm is None else number(norm),
        skipped=(count(skipped) or 0) if skipped is not None else 0,
        rank=rank,
    )


def _first_of_pair(text: str | None) -> float | None:
    """`16601.3/17219.3` is the last value and the mean of some: the last one."""
    return None if text is None else positive(text.partition("/")[0])


def _whole(text: str | None) -> float | None:
    value = None if text is None else count(text)
    return None if value is None else float(value)
