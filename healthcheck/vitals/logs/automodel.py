"""NeMo Automodel: `step 9 | epoch 0 | loss 0.6974 | grad_norm 1.5436 | ... | tps 11278.56(1409.82/gpu) | ...`.

`tps` is over all GPUs, of that step. Its lines say no step time; it is in the time stamps.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec.structs import replace

from healthcheck.model.training import EventKind, Framework, StepRecord
from healthcheck.vitals.logs.dialect import Dialect, Item, Means, Shapes
from healthcheck.vitals.logs.figures import number, positive
from healthcheck.vitals.logs.remarks import Odd

_STEP = re.compile(r"(?<![\w-])step (?P<step>\d{1,12}) \| epoch \d{1,9} \| ", re.ASCII)
_TPS = re.compile(r"tps (?P<all>\d{1,15}\.\d\d)\((?P<one>\d{1,15}\.\d\d)/gpu\)", re.ASCII)
_LOSS = re.compile(r"(?:^|\| )loss (?P<loss>[-+\w.]{1,24}) \|", re.ASCII)
_NORM = re.compile(r"\| grad_norm (?P<norm>[-+\w.]{1,24}) \|", re.ASCII)
_WORLD = re.compile(r"World size: (?P<n>\d{1,7})(?!\d)", re.ASCII)
_EVENTS: Shapes = (
    (
        EventKind.CHECKPOINT_BEGUN,
        re.compile(r"Saving checkpoint to \S{0,4096}?step_(?P<step>\d{1,12})(?!\d)", re.ASCII),
    ),
    (
        EventKind.CHECKPOINT_LOADED,
        re.compile(r"Loading checkpoint from \S{0,4096}?step_(?P<step>\d{1,12})(?!\d)", re.ASCII),
    ),
    (EventKind.START, re.compile(r"Experiment_details:", re.ASCII)),
)


class Automodel(Dialect):
    """A step from one line; a validation has the same fields and is an event."""

    framework = Framework.AUTOMODEL
    means = Means.SINCE_LAST
    settles = 1
    marks = (" | epoch ", "checkpoint", "Experiment_details:", "World size: ")

    def read(self, line: str, number: int) -> Iterable[Item]:
        found = _STEP.search(line)
        if found is None:
            return self._event(line, number)
        step, before = int(found["step"]), line[: found.start()]
        if "[val]" in before:
            return (self.event(EventKind.EVALUATION, before, number, step),)
        if _STEP.search(line, found.end()) is not None:
            self.note(Odd.CROSSED, number)
            return ()
        rest = line[found.end() :]
        tps = _TPS.search(rest)
        loss = _LOSS.search(rest)
        norm = _NORM.search(rest)
        if tps is None and loss is None:
            return ()
        every = positive(tps["all"]) if tps is not None else None
        one = positive(tps["one"]) if tps is not None else None
        self.count_gpus(every, one)
        head = self.heads.read(before)
        return (
            StepRecord(
                step=step,
                line=number,
                at_s=head.at_s,
                tokens_per_s=every,
                tokens_per_s_per_gpu=one,
                loss=_number(loss, "loss"),
                grad_norm=_number(norm, "norm"),
                rank=head.rank,
            ),
        )

    def _event(self, line: str, number: int) -> Iterable[Item]:
        if (event := self.event_of(_EVENTS, line, number)) is not None:
            return (event,)
        if (world := _WORLD.search(line)) is not None:
            self.facts = replace(self.facts, gpus=int(world["n"]))
        return ()


def _number(found: re.Match[str] | None, name: str) -> float | None:
    return None if found is None else number(found[name])
