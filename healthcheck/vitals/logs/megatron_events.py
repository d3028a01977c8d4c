"""What Megatron-LM says beside iterations: starts, checkpoints, evaluation, and the ends of a run."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec.structs import replace

from healthcheck.model.training import EventKind, RunEvent
from healthcheck.vitals.logs.dialect import Item, Shapes
from healthcheck.vitals.logs.figures import positive, shifted
from healthcheck.vitals.logs.stamps import Heads

MARKS = (" checkpoint", "save-checkpoint", "using world size:", "] datetime:", "exiting program", "Step Time : ")

_EXITING = re.compile(
    r"(?:exiting program (?:at iteration (?P<step>\d{1,12})(?!\d)|after )|after training is done)", re.ASCII
)
_AT_ITERATION = r"(?: (?:at|from) iteration\s{1,12}(?P<step>\d{1,12})(?!\d))"
_SHAPES: Shapes = (
    (EventKind.CHECKPOINT_SAVED, re.compile(rf"successfully saved checkpoint{_AT_ITERATION}", re.ASCII)),
    (
        EventKind.CHECKPOINT_BEGUN,
        re.compile(rf"(?:saving checkpoint|scheduled an async checkpoint save){_AT_ITERATION} to ", re.ASCII),
    ),
    (
        EventKind.CHECKPOINT_LOADED,
        re.compile(rf"successfully loaded checkpoint (?:from .{{1,4096}}?)?{_AT_ITERATION}", re.ASCII),
    ),
    (
        EventKind.EVALUATION,
        re.compile(r"validation (?:loss|results) at iteration (?P<step>\d{1,12})(?: on [\w ]{1,40})? ?\|", re.ASCII),
    ),
    (EventKind.EXIT, _EXITING),
    (EventKind.START, re.compile(r"using world size: \d{1,9}", re.ASCII)),
)
_DATETIME = re.compile(r"\[(?:before|after|exiting program) [^\]]{1,120}\] datetime: ", re.ASCII)
_SAVE_TOOK = re.compile(
    r"save-checkpoint(?:: (?P<old>\d{1,12}\.\d\d)| \.{2,64}: \(\d{1,12}\.\d\d, (?P<new>\d{1,12}\.\d\d)\))", re.ASCII
)
_BRIDGE = re.compile(r"Step Time : \d{1,9}\.\d{1,4}s GPU utilization: (\d{1,9}\.\d{1,4})MODEL_TFLOP/s/GPU", re.ASCII)


class Events:
    """Holds a start until its time is printed, and a saved checkpoint until its duration is."""

    def __init__(self, heads: Heads) -> None:
        self._heads = heads
        self._held: RunEvent | None = None
        self._started = False
        self._utilisation: float | None = None

    def read(self, line: str, number: int) -> Iterable[Item]:
        """The event of a line that is no iteration line, if it is one."""
        if (took := _SAVE_TOOK.search(line)) is not None:
            return self._took(shifted(took["old"] or took["new"], -3))
        if (bridge := _BRIDGE.search(line)) is not None:
            self._utilisation = positive(bridge[1])
            return ()
        if (told := _DATETIME.search(line)) is not None:
            return self._datetime(line, number, told.start(), told.end())
        for kind, shape in _SHAPES:
            if (found := shape.search(line)) is not None:
                head = self._heads.read(line[: found.start()])
                step = found.groupdict().get("step")
                event = RunEvent(kind, number, None if step is None else int(step), head.at_s, rank=head.rank)
                return self._given(event)
        return ()

    def utilisation(self) -> float | None:
        """TFLOP/s that Megatron-Bridge printed for the iteration that is told now."""
        value, self._utilisation = self._utilisation, None
        return value

    def close(self) -> Iterable[Item]:
        """What is held; called before an iteration is given, too."""
        held, self._held = self._held, None
        self._started = False
        return () if held is None else (held,)

    def _given(self, event: RunEvent) -> Iterable[Item]:
        held, self._held = self._held, None
        before = () if held is None else (held,)
        if event.kind in (EventKind.START, EventKind.CHECKPOINT_SAVED):
            self._started = self._started or event.kind is EventKind.START
            self._held = event
            return before
        return (*before, event)

    def _took(self, seconds: float | None) -> Iterable[Item]:
        held = self._held
        if held is None or held.kind is not EventKind.CHECKPOINT_SAVED:
            return ()
        self._held = None
        return (replace(held, took_s=seconds),)

    def _datetime(self, line: str, number: int, begin: int, end: int) -> Iterable[Item]:
        head = self._heads.read(line[:begin])
        at = self._heads.read(line[end:]).at_s
        if (exiting := _EXITING.search(line, begin, end)) is not None:
            step = None if exiting["step"] is None else int(exiting["step"])
            return self._given(RunEvent(EventKind.EXIT, number, step, at, rank=head.rank))
        held = self._held
        if held is not None and held.kind is EventKind.START:
            self._held = None
            return (replace(held, at_s=held.at_s if held.at_s is not None else at),)
        if self._started:
            return ()
        self._started = True
        return self._given(RunEvent(EventKind.START, number, None, at, rank=head.rank))
