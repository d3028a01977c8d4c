"""DeepSpeed: `step=10, skipped=2, lr=[...]`, `epoch=0/micro_step=34/global_step=34, RunningAvgSamplesPerSec=...`.

Both lines are of one step and become one record. `skipped` is counted from the start of the run; the record has what
was added. Samples per second leave out the time between steps, and were wrong by the number of micro batches in some
versions, so no step time is made of them: that is between the time stamps. Pipelines print it: `steps: 10 loss: 5.8
iter time (s): 1.234 samples/sec: 45.6`, with losses by name between. Before 2022: `0/40, SamplesPerSec=83.4` with the
number of micro steps.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec.structs import replace

from healthcheck.model.training import EventKind, Framework, StepRecord
from healthcheck.vitals.logs.dialect import Dialect, Item, Means, Shapes
from healthcheck.vitals.logs.figures import number, positive

_STEP = re.compile(r"(?<![\w/])step=(?P<step>\d{1,12}), skipped=(?P<skipped>\d{1,9}), lr=\[", re.ASCII)
_RATE = re.compile(
    r"epoch=\d{1,9}/micro_step=\d{1,12}/global_step=(?P<step>\d{1,12}), RunningAvgSamplesPerSec=[-+\d.einfa]{1,32}, "
    r"CurrSamplesPerSec=(?P<rate>\d{1,12}\.\d{1,20}(?:e[-+]\d{1,3})?), ",
    re.ASCII,
)
_OLD_RATE = re.compile(
    r"(?<![\w./])\d{1,9}/(?P<step>\d{1,12}), (?:RunningAvgSamplesPerSec=[-+\d.einfa]{1,32}, Curr)?SamplesPerSec="
    r"(?P<rate>\d{1,12}\.\d{1,20}(?:e[-+]\d{1,3})?)(?:, |$)",
    re.ASCII,
)
_PIPELINE = re.compile(
    r"(?<!\w)steps: (?P<step>\d{1,12}) loss: (?P<loss>-?\d{1,12}\.\d{4}|nan|inf) "
    r"(?:[a-zA-Z][\w ]{1,40}: -?(?:\d{1,12}\.\d{4}|nan|inf) ){0,8}"
    r"iter time \(s\): (?P<time>\d{1,9}\.\d{3}) samples/sec: (?P<rate>\d{1,12}\.\d{3})(?!\d)",
    re.ASCII,
)
_INFO = re.compile(r"DeepSpeed info: version=(?P<version>[\w.+-]{1,40}), git-hash=", re.ASCII)
_FACTS = {"train_batch_size": "global_batch", "world_size": "gpus", "steps_per_print": "log_interval"}
_CONFIG = re.compile(rf"(?<!\w)(?P<name>{'|'.join(_FACTS)}) \.{{2,64}} (?P<n>\d{{1,9}})$", re.ASCII)
_EVENTS: Shapes = (
    (
        EventKind.CHECKPOINT_SAVED,
        re.compile(r"\[Torch\] Checkpoint global_step(?P<step>\d{1,12}) is ready now!", re.ASCII),
    ),
    (
        EventKind.CHECKPOINT_BEGUN,
        re.compile(r"\[Torch\] Checkpoint global_step(?P<step>\d{1,12}) is about to be saved!", re.ASCII),
    ),
    (
        EventKind.CHECKPOINT_LOADED,
        re.compile(r"\[Torch\] Loaded checkpoint from \S{0,4096}?global_step(?P<step>\d{1,12})/", re.ASCII),
    ),
)


class DeepSpeed(Dialect):
    """Holds the first line of a step for the second one."""

    framework = Framework.DEEPSPEED
    means = Means.SINCE_LAST
    weight = 1
    marks = ("skipped=", "SamplesPerSec=", "samples/sec: ", "DeepSpeed info: ", " ...", "[Torch] ")

    def __init__(self) -> None:
        super().__init__()
        self._held: StepRecord | None = None
        self._skipped: int | None = None

    def read(self, line: str, number: int) -> Iterable[Item]:
        if "skipped=" in line and (found := _STEP.search(line)) is not None:
            return self._step(found, line, number)
        if "SamplesPerSec=" in line:
            found = _RATE.search(line) if "global_step=" in line else _OLD_RATE.search(line)
        else:
            found = _PIPELINE.search(line) if "iter time (s): " in line else None
        if found is not None:
            return self._rate(found, line, number)
        if (info := _INFO.search(line)) is not None:
            self.facts = replace(self.facts, version=info["version"])
            self._skipped = None
            return (*self.close(), self.event(EventKind.START, line[: info.start()], number))
        if (event := self.event_of(_EVENTS, line, number)) is not None:
            return (*self.close(), event)
        if (config := _CONFIG.search(line.rstrip())) is not None:
            self.facts = replace(self.facts, **{_FACTS[config["name"]]: int(config["n"])})
        return ()

    def close(self) -> Iterable[Item]:
        held, self._held = self._held, None
        return () if held is None else (held,)

    def _step(self, found: re.Match[str], line: str, number: int) -> Iterable[Item]:
        before = self.close()
        total = int(found["skipped"])
        added = total - self._skipped if self._skipped is not None and total >= self._skipped else total
        self._skipped = total
        head = self.heads.read(line[: found.start()])
        self._held = StepRecord(
            step=int(found["step"]),
            line=number,
            at_s=head.at_s,
            samples=self.facts.global_batch,
            skipped=added,
            rank=head.rank,
        )
        return before

    def _rate(self, found: re.Match[str], line: str, line_number: int) -> Iterable[Item]:
        step, rate = int(found["step"]), positive(found["rate"])
        named = found.groupdict()
        time_s = positive(named["time"]) if named.get("time") else None
        loss = number(named["loss"]) if named.get("loss") else None
        held, self._held = self._held, None
        # The older line counts micro steps: it is of the step that was just told, whatever its own number says.
        if held is not None and (held.step == step or found.re is _OLD_RATE):
            return (replace(held, samples_per_s=rate, step_time_s=time_s, loss=loss),)
        before = () if held is None else (held,)
        if found.re is _OLD_RATE:
            return before
        head = self.heads.read(line[: found.start()])
        batch = self.facts.global_batch
        record = StepRecord(
            step,
            line_number,
            step_time_s=time_s,
            at_s=head.at_s,
            samples=batch,
            samples_per_s=rate,
            loss=loss,
            rank=head.rank,
        )
        return (*before, record)
