"""torchtitan: `step: 10  loss:  8.1  grad_norm:  0.8  memory: 50.1GiB(52.2%)  tps: 5,858  tflops: 339.16  mfu: 34.30%`.

Fields stand apart by two blanks. `tps` (in 2024 `wps`) is tokens per second and GPU over the steps since the report
before: the tokens of one data-parallel group, divided by how many GPUs share one. `mfu` is `N/A` with quantisation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec.structs import replace

from healthcheck.model.training import EventKind, Framework, RunEvent, StepRecord
from healthcheck.vitals.logs.dialect import Dialect, Item, Means, Shapes
from healthcheck.vitals.logs.figures import count, number, percent, positive
from healthcheck.vitals.logs.remarks import Odd
from healthcheck.vitals.logs.stamps import Head

_STEP = re.compile(r"(?<![\w-])(?P<validate>validate )?step: {1,12}(?P<step>\d{1,12})  ", re.ASCII)
_FIELD = re.compile(r"(\w{2,24}): {0,12}([^\s:]{1,40})(?:  |$)", re.ASCII)
_TRAINER = re.compile(
    r"local batch size (?P<local>\d{1,9}), global batch size (?P<batch>\d{1,9}), gradient accumulation steps "
    r"(?P<accumulate>\d{1,9}), sequence length (?P<seq>\d{1,9}), total steps \d",
    re.ASCII,
)
_MESH = re.compile(
    r"Building \d-D device mesh with [\[(](?P<names>[\w', ]{0,200})[\])], \[(?P<sizes>\d{1,7}(?:, \d{1,7}){0,7})\]",
    re.ASCII,
)
_PARALLEL = re.compile(
    r"Building device mesh with parallelism: (?P<sizes>\w{2,12}=\d{1,7}(?:, \w{2,12}=\d{1,7}){1,9})\s{0,40}$", re.ASCII
)
_SIZE = re.compile(r"Model \S{1,80} \S{1,80} size: (?P<params>[\d,]{1,24}) total parameters", re.ASCII)
_PEAK = re.compile(r"Peak FLOPS used for computing MFU: (?P<peak>\d\.\d{3}e\+\d\d)(?!\d)", re.ASCII)
_GPU = re.compile(r"(?:GPU|CUDA) capacity: (?P<gpu>.{2,80}?) (?:\(\d{1,3}\) )?with \d", re.ASCII)
_VERSION = re.compile(r"torchtitan version: (?P<version>\d[\w.+-]{0,40})", re.ASCII)
_START = re.compile(r"(?P<word>torchtitan version: |Starting job: |Building \d-D device mesh)", re.ASCII)
_EVENTS: Shapes = (
    (
        EventKind.CHECKPOINT_BEGUN,
        re.compile(r"Saving (?:the checkpoint|a .{0,60}?checkpoint .{0,60}?at last step)", re.ASCII),
    ),
    (
        EventKind.CHECKPOINT_SAVED,
        re.compile(r"Finished saving the checkpoint.{0,80}? in (?P<took>\d{1,9}\.\d\d) seconds", re.ASCII),
    ),
    (
        EventKind.CHECKPOINT_LOADED,
        re.compile(r"Finished loading the checkpoint in (?P<took>\d{1,9}\.\d\d) seconds", re.ASCII),
    ),
    (EventKind.EXIT, re.compile(r"Training completed", re.ASCII)),
)
_LOADING = re.compile(r"Loading the checkpoint (?:at step |from .{0,4096}?step-)(?P<step>\d{1,12})(?!\d)", re.ASCII)


class Torchtitan(Dialect):
    """Each rank that prints gives a copy of each report."""

    framework = Framework.TORCHTITAN
    means = Means.SINCE_LAST
    marks = (
        "step: ",
        "torchtitan version: ",
        "Starting job: ",
        " checkpoint",
        "Training ",
        "global batch size",
        "device mesh",
        "parameters",
        "capacity",
        "Peak FLOPS",
    )

    def __init__(self) -> None:
        super().__init__()
        self._word: str | None = None
        self._last: int | None = None
        self._loading: int | None = None

    def read(self, line: str, number: int) -> Iterable[Item]:
        at = line.find("step: ")
        found = _STEP.search(line, max(0, at - len("validate "))) if at >= 0 else None
        if found is None:
            self._learn(line)
            return self._event(line, number)
        head = self.heads.read(line[: found.start()])
        items = []
        while found is not None:
            later = _STEP.search(line, found.end()) if line.find("step: ", found.end()) >= 0 else None
            if later is not None:
                self.note(Odd.CROSSED, number)
            item = self._item(found, line[found.end() : later.start() if later is not None else None], number, head)
            items += [item] if item is not None else []
            found = later
        return items

    def _item(self, found: re.Match[str], text: str, line: int, head: Head) -> Item | None:
        step = int(found["step"])
        if found["validate"] is not None:
            return RunEvent(EventKind.EVALUATION, line, step, head.at_s, rank=head.rank)
        fields = dict(_FIELD.findall(text.rstrip()))
        tps = fields.get("tps", fields.get("wps"))
        if tps is None or "loss" not in fields:
            return None
        self._last = step
        # The last field ends the line: without its sign, or as a bare number, it may have been cut.
        mfu = percent(fields.get("mfu"))
        whole = "mfu" in fields
        rate = positive(tps) if whole or "tflops" in fields else None
        return StepRecord(
            step=step,
            line=line,
            at_s=head.at_s,
            step_time_s=self._step_time(rate),
            tokens=self.facts.tokens_per_step,
            samples=self.facts.global_batch,
            tokens_per_s_per_gpu=rate,
            tflops_per_gpu=positive(fields.get("tflops")) if whole else None,
            mfu=mfu,
            loss=number(fields["loss"]),
            grad_norm=number(fields.get("grad_norm")),
            rank=head.rank,
        )

    def _step_time(self, rate: float | None) -> float | None:
        """The step's tokens divided by the rate over all GPUs, where the log says how many there are."""
        tokens = self.facts.tokens_per_step
        return None if rate is None or tokens is None or self.facts.gpus is None else tokens / (rate * self.facts.gpus)

    def _event(self, line: str, number: int) -> Iterable[Item]:
        if (start := _START.search(line)) is not None:
            if self._word is not None and start["word"] != self._word:
                return ()
            self._word, self._last, self._loading = start["word"], None, None
            return (self.event(EventKind.START, line[: start.start()], number),)
        if (event := self.event_of(_EVENTS, line, number)) is not None:
            step = self._last
            if event.kind is EventKind.CHECKPOINT_LOADED:
                step, self._loading = self._loading, None
            return (replace(event, step=step),)
        if (loading := _LOADING.search(line)) is not None:
            self._loading = int(loading["step"])
        return ()

    def _learn(self, line: str) -> None:
        if (found := _TRAINER.search(line)) is not None:
            self.facts = replace(self.facts, global_batch=int(found["batch"]), seq_len=int(found["seq"]))
        elif (found := _MESH.search(line)) is not None or (found := _PARALLEL.search(line)) is not None:
            self._learn_mesh(found["sizes"], found.groupdict().get("names"))
        elif (found := _VERSION.search(line)) is not None:
            self.facts = replace(self.facts, version=found["version"])
        elif (found := _SIZE.search(line)) is not None:
            size = count(found["params"])
            self.facts = replace(self.facts, params=None if size is None else float(size))
        elif (found := _PEAK.search(line)) is not None:
            self.facts = replace(self.facts, peak_tflops=float(found["peak"]) / 1e12)
        elif (found := _GPU.search(line)) is not None:
            self.facts = replace(self.facts, gpu=found["gpu"])

    def _learn_mesh(self, sizes: str, names: str | None) -> None:
        parts = [part.rpartition("=") for part in sizes.split(", ")]
        named = [name.strip("' ") for name in names.strip(", ").split(",")] if names else [part[0] for part in parts]
        gpus, data = 1, 1
        for name, (_, _, size) in zip(named, parts, strict=False):
            if name in ("ep", "etp"):  # experts live on the same GPUs
                continue
            gpus *= int(size)
            data *= int(size) if name.startswith("dp") else 1
        if len(named) == len(parts):
            self.facts = replace(self.facts, gpus=gpus, data_parallel=data)
