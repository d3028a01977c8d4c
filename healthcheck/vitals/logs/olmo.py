"""OLMo and OLMo-core: `[step=10/739328,epoch=1,eta=3:12:05]`, then `throughput/device/TPS=9,912`, a line a number.

`TPS` and `MFU` (percent) are of that step, on one GPU; `(actual avg)` is the mean since the start and not read. A
number has as many decimals as its size asks for, so one that has fewer was cut.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec.structs import replace

from healthcheck.model.training import EventKind, Framework, StepRecord
from healthcheck.vitals.logs.blocks import Blocks
from healthcheck.vitals.logs.dialect import Item, Shapes
from healthcheck.vitals.logs.figures import count, number, once, percent
from healthcheck.vitals.logs.stamps import Head

_HEAD = re.compile(
    r"\[step=(?P<step>\d{1,12})/(?:\d{1,12}|\?\?\?)(?:,epoch=\d{1,9})?(?:,eta=[^\]]{1,60})?\]\s{0,40}$", re.ASCII
)
_GROUPS = ("throughput/", "train/", "optim/")
_FIELD = re.compile(rf"(?<![\w/])(?:{'|'.join(_GROUPS)})(?!\d)", re.ASCII)
"""Not `train/0` of torchx in front of a line, nor `pretrain/0`."""
_OTHER_GROUPS = ("gpu_memory/", "ystem/", "checkpoint/")
_PRINTED = re.compile(
    r"\d{1,3}(?:,\d{3})+|1000|\d{3}\.\d|\d\d\.\d\d|\d\.\d{3}|[01]\.\d{4}|\d\.\d\d[eE][-+]\d\d|nan|inf", re.ASCII
)
_DEVICE = re.compile(r"Device: (?P<gpu>[^,]{2,80}), Device peak FLOPS: (?P<peak>\d{12,17})(?!\d)", re.ASCII)
_PARAMETERS = re.compile(r"Total number of parameters: (?P<n>[\d,]{1,20})(?![\d,])", re.ASCII)
_EVENTS: Shapes = (
    (
        EventKind.CHECKPOINT_SAVED,
        re.compile(r"[Cc]heckpoint saved(?: to \S{0,4096}?step(?P<step>\d{1,12})(?!\d)|\s{0,40}$)", re.ASCII),
    ),
    (EventKind.CHECKPOINT_SAVED, re.compile(r"[Cc]heckpoint for step (?P<step>\d{1,12}) saved successfully", re.ASCII)),
    (
        EventKind.CHECKPOINT_LOADED,
        re.compile(r"Loading (?:model|checkpoint) .{0,40}?from \S{0,4096}?step(?P<step>\d{1,12})(?!\d)", re.ASCII),
    ),
    (
        EventKind.CHECKPOINT_BEGUN,
        re.compile(r"Saving (?:ephemeral |unsharded |sharded |)checkpoint(?: for step (?P<step>\d{1,12}))?", re.ASCII),
    ),
    (EventKind.EVALUATION, re.compile(r"\[eval_step=1/", re.ASCII)),
)


class Olmo(Blocks):
    """A report of one step; OLMo writes one every few steps."""

    framework = Framework.OLMO
    marks = (
        *_GROUPS,
        "[step=",
        *_OTHER_GROUPS,
        "heckpoint",
        "Device peak FLOPS",
        "Total number of parameters: ",
        "[eval_step=1/",
    )

    def __init__(self) -> None:
        super().__init__()
        self._begun: int | None = None

    def read(self, line: str, number: int) -> Iterable[Item]:
        if "[step=" in line and (found := _HEAD.search(line)) is not None:
            return self.opened(int(found["step"]), number, self.heads.read(line[: found.start()]))
        if (field := _FIELD.search(line)) is not None:
            name, equals, value = line[field.start() :].rstrip().rpartition("=")
            if equals:
                self.took(name, value)
            return ()
        for group in _OTHER_GROUPS:
            if group in line:
                self.went_on()
                return ()
        return self._other(line, number)

    def _other(self, line: str, number: int) -> Iterable[Item]:
        if (event := self.event_of(_EVENTS, line, number)) is not None:
            before = self.close()
            if event.step is None:
                event = replace(event, step=self._begun if event.kind is EventKind.CHECKPOINT_SAVED else self.last)
            if event.kind is EventKind.CHECKPOINT_BEGUN:
                self._begun = event.step
            return (*before, event)
        if (device := _DEVICE.search(line)) is not None:
            # It is told once, before the first step.
            self.facts = replace(self.facts, gpu=device["gpu"], peak_tflops=int(device["peak"]) / 1e12)
            return (*self.close(), self.event(EventKind.START, line[: device.start()], number))
        if (params := _PARAMETERS.search(line)) is not None:
            n = count(params["n"])
            self.facts = replace(self.facts, params=None if n is None else float(n))
            return ()
        return ()

    def record(self, step: int, line: int, head: Head, fields: dict[str, str]) -> StepRecord | None:
        if not fields:  # only the mark of a step; those with numbers may come later, all at once
            return None

        def value(*names: str) -> float | None:
            for name in names:
                if name in fields and (whole := _whole(fields[name])) is not None:
                    return whole
            return None

        per_s = _rate(value("throughput/device/BPS", "throughput/device/batches_per_second"))
        skipped = value("optim/step skipped")
        return StepRecord(
            step=step,
            line=line,
            at_s=head.at_s,
            step_time_s=1 / per_s if per_s is not None and per_s >= 0.01 else None,
            consumed_tokens=value("throughput/total tokens", "throughput/total_tokens"),
            tokens_per_s_per_gpu=_rate(value("throughput/device/TPS", "throughput/device/tokens_per_second")),
            mfu=percent(fields["throughput/device/MFU"] + "%") if value("throughput/device/MFU") else None,
            loss=value("train/CE loss", "train/CrossEntropyLoss"),
            grad_norm=value("optim/total grad norm", "optim/total_grad_norm"),
            skipped=1 if skipped == 1 else 0,
            rank=head.rank,
        )


@once
def _whole(text: str) -> float | None:
    return number(text) if _PRINTED.fullmatch(text) else None


def _rate(value: float | None) -> float | None:
    return value if value is not None and 0 < value < float("inf") else None
