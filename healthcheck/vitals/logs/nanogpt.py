"""nanoGPT: `iter 5: loss 3.7441, time 563.15ms, mfu 36.47%`; `mfu` is -100 % at first, then a running mean,
of the peak of an A100 on any GPU.

The time is of that one iteration; one that also evaluated or saved holds that, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec.structs import replace

from healthcheck.model.training import EventKind, Framework, RunEvent, StepRecord
from healthcheck.vitals.logs.crossed import reports_in
from healthcheck.vitals.logs.dialect import Dialect, Item
from healthcheck.vitals.logs.figures import count, number, percent, shifted

_ITER = re.compile(
    r"(?<!\w)iter (?P<step>\d{1,12}): loss (?P<loss>\d{1,9}\.\d{4}|nan|inf), time (?P<ms>\d{1,12}\.\d\d)ms"
    r"(?:, mfu (?P<mfu>-?\d{1,6}\.\d\d%))?",
    re.ASCII,
)
_EVAL = re.compile(r"(?<!\w)step (?P<step>\d{1,12}): train loss [\d.naif]{1,16}, val loss ", re.ASCII)
_PARAMETERS = re.compile(r"number of parameters: (?P<n>\d{1,9}\.\d\d)M(?!\w)", re.ASCII)
_TOKENS = re.compile(r"tokens per iteration will be: (?P<n>[\d,]{1,20})(?![\d,])", re.ASCII)


_PEAK_TFLOPS = 312.0
"""Of an A100: what its MFU is over, whatever the GPU is."""


class NanoGpt(Dialect):
    """The log of one rank. A checkpoint is announced right after an evaluation."""

    framework = Framework.NANOGPT
    settles = 0  # it saves before it prints the iteration
    marks = (
        "iter ",
        "train loss ",
        "number of parameters: ",
        "tokens per iteration",
        "saving checkpoint to ",
        "Resuming training from ",
    )

    def __init__(self) -> None:
        super().__init__()
        self._tokens: float | None = None
        self._evaluated: int | None = None

    def read(self, line: str, number: int) -> Iterable[Item]:
        reports = reports_in(line, "iter ", _ITER)
        if not reports:
            return self._other(line, number)
        head = self.heads.read(line[: reports[0][0].start()])
        return [self._record(one, number, head.rank, head.at_s) for one, _ in reports]

    def _record(self, found: re.Match[str], line: int, rank: str | None, at_s: float | None) -> StepRecord:
        if found["mfu"] and self.facts.peak_tflops is None:
            self.facts = replace(self.facts, peak_tflops=_PEAK_TFLOPS)
        return StepRecord(
            step=int(found["step"]),
            line=line,
            step_time_s=shifted(found["ms"], -3),
            at_s=at_s,
            tokens=self._tokens,
            mfu=percent(found["mfu"]),
            loss=number(found["loss"]),
            rank=rank,
        )

    def _other(self, line: str, number: int) -> Iterable[Item]:
        if (found := _EVAL.search(line)) is not None:
            self._evaluated = int(found["step"])
            return (self.event(EventKind.EVALUATION, line[: found.start()], number, self._evaluated),)
        if (at := line.find("saving checkpoint to ")) >= 0:
            return (self.event(EventKind.CHECKPOINT_BEGUN, line[:at], number, self._evaluated),)
        if "Resuming training from " in line:
            return (RunEvent(EventKind.CHECKPOINT_LOADED, number),)
        if (params := _PARAMETERS.search(line)) is not None:
            self.facts = replace(self.facts, params=float(params["n"]) * 1e6)
        elif (tokens := _TOKENS.search(line)) is not None:
            # It is printed first of all.
            value = count(tokens["n"])
            self._tokens = None if value is None else float(value)
            return (RunEvent(EventKind.START, number, None, self.heads.read(line[: tokens.start()]).at_s),)
        return ()
