"""MaxText: `completed step: 9, seconds: 5.667, TFLOP/s/device: 134.924, Tokens/s/device: 8672.758, ..., loss: 10.374`.

The time of a step is measured between calls that only hand work to the devices: one of the first steps after a start
returns at once and prints thousands of TFLOP/s. Its time and rates are left out; numbers have three decimals each.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec.structs import replace

from healthcheck.model.training import EventKind, Framework, StepRecord
from healthcheck.vitals.logs.dialect import Dialect, Item, Shapes
from healthcheck.vitals.logs.figures import number, positive
from healthcheck.vitals.logs.remarks import Odd

_STEP = re.compile(r"completed step: (?P<step>\d{1,12}), ", re.ASCII)
_FIELD = re.compile(r"([\w/]{2,24}): (\d{1,12}\.\d{3}|nan|inf)(?=, |$)", re.ASCII)
_LAST_LOSS = re.compile(r"loss: (?P<loss>\d{1,9}\.\d{3}|nan|inf)(?=, |\s|$)", re.ASCII)
_PARAMETERS = re.compile(r"number parameters: (?P<n>\d{1,9}\.\d{3}) billion", re.ASCII)
_DEVICES = re.compile(r"Num_devices: (?P<n>\d{1,7}), shape ", re.ASCII)
_FACTS = {
    "max_target_length": "seq_len",
    "global_batch_size_to_train_on": "global_batch",
    "base_num_decoder_layers": "layers",
}
_CONFIG = re.compile(rf"Config param (?P<name>{'|'.join(_FACTS)}): (?P<n>\d{{1,9}})(?!\S)", re.ASCII)
_START = "System Information: Jax Version: "
_EVENTS: Shapes = (
    (EventKind.START, re.compile(_START, re.ASCII)),
    (EventKind.EVALUATION, re.compile(r"eval metrics after step: (?P<step>\d{1,12}), ", re.ASCII)),
    (
        EventKind.CHECKPOINT_SAVED,
        re.compile(r"[Ss]aved (?:a )?checkpoint at step (?P<step>\d{1,12})(?!\d)", re.ASCII),
    ),
    (
        EventKind.CHECKPOINT_BEGUN,
        re.compile(r"asynchronous checkpoint save for step (?P<step>\d{1,12})(?!\d)", re.ASCII),
    ),
    (
        EventKind.CHECKPOINT_LOADED,
        re.compile(r"restoring from this run's directory (?:latest )?step {1,20}(?P<step>\d{1,12})(?!\d)", re.ASCII),
    ),
)
_MUCH_FASTER = 3.0
_EARLY = 3
_MOST_COPIES = 4096


class MaxText(Dialect):
    """Holds the first few reports after a start until the next one, to tell a step's time from that of its dispatch."""

    framework = Framework.MAXTEXT
    marks = (
        "completed step: ",
        "number parameters: ",
        "Num_devices: ",
        "Config param ",
        "eval metrics after",
        _START,
        "checkpoint at step",
        "checkpoint save for step",
        "restoring from this run",
    )

    def __init__(self) -> None:
        super().__init__()
        self._held: list[StepRecord] = []
        self._seen = 0

    def read(self, line: str, number: int) -> Iterable[Item]:
        found = _STEP.search(line) if "completed step: " in line else None
        if found is None:
            return self._other(line, number)
        if _STEP.search(line, found.end()) is not None:
            self.note(Odd.CROSSED, number)
            return ()
        fields = dict(_FIELD.findall(line[found.end() :].rstrip()))
        seconds = positive(fields.get("seconds"))
        if seconds is None:
            return ()
        head = self.heads.read(line[: found.start()])
        loss = _LAST_LOSS.search(line, found.end())
        record = StepRecord(
            step=int(found["step"]),
            line=number,
            step_time_s=seconds,
            at_s=head.at_s,
            samples=self.facts.global_batch,
            tokens=self.facts.tokens_per_step,
            tokens_per_s_per_gpu=positive(fields.get("Tokens/s/device")),
            tflops_per_gpu=positive(fields.get("TFLOP/s/device")),
            loss=_loss(loss),
            rank=head.rank,
        )
        return self._early(record)

    def close(self) -> Iterable[Item]:
        held, self._held = self._held, []
        return held

    def _early(self, record: StepRecord) -> Iterable[Item]:
        """Hold the copies of a step until the next one."""
        if self._held and self._held[0].step == record.step and len(self._held) < _MOST_COPIES:
            self._held.append(record)
            return ()
        before = [self._checked(held, record) for held in self.close() if isinstance(held, StepRecord)]
        self._seen += 1
        if self._seen > _EARLY:
            return (*before, record)
        self._held = [record]
        return before

    def _checked(self, held: StepRecord, after: StepRecord) -> StepRecord:
        if not held.step_time_s or not after.step_time_s or after.step_time_s <= _MUCH_FASTER * held.step_time_s:
            return held
        self.note(Odd.DISPATCH, held.line)
        return replace(held, step_time_s=None, tokens_per_s_per_gpu=None, tflops_per_gpu=None)

    def _other(self, line: str, number: int) -> Iterable[Item]:
        if (event := self.event_of(_EVENTS, line, number)) is not None:
            if event.kind is EventKind.START:
                self._seen = 0
            return (*self.close(), event)
        self._learn(line)
        return ()

    def _learn(self, line: str) -> None:
        if (params := _PARAMETERS.search(line)) is not None:
            self.facts = replace(self.facts, params=float(params["n"]) * 1e9)
        elif (devices := _DEVICES.search(line)) is not None:
            self.facts = replace(self.facts, gpus=int(devices["n"]))
        elif (config := _CONFIG.search(line)) is not None:
            self.facts = replace(self.facts, **{_FACTS[config["name"]]: int(config["n"])})


def _loss(found: re.Match[str] | None) -> float | None:
    return None if found is None else number(found["loss"])
