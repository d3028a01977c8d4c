"""Megatron-LM's `progress.txt` (`--log-progress`): a line of fields, separated by tabs, for each start and checkpoint.

`Job throughput` is the mean since this job started, so it holds everything that cost time; tokens are in thousandths of
a billion at best. Each checkpoint gives a report and an event.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec.structs import replace

from healthcheck.model.training import EventKind, Framework, RunEvent, StepRecord
from healthcheck.vitals.logs.dialect import Dialect, Item, Means
from healthcheck.vitals.logs.figures import count, positive
from healthcheck.vitals.logs.remarks import Odd

_LINE = re.compile(
    r"\tJob ID: (?P<job>[^\t]{0,80})\t# GPUs: (?P<gpus>\d{1,7})\t(?P<what>[^\t]{1,40})(?=\t|$)", re.ASCII
)
_SAVED = {
    "Saved checkpoint": EventKind.CHECKPOINT_SAVED,
    "Saving async checkpoint": EventKind.CHECKPOINT_BEGUN,
    "Saved async checkpoint": EventKind.CHECKPOINT_SAVED,
}


class Progress(Dialect):
    """The best log for goodput: every start, and what each checkpoint holds."""

    framework = Framework.MEGATRON_PROGRESS
    means = Means.SINCE_LAST
    marks = ("\tJob ID: ",)

    def read(self, line: str, number: int) -> Iterable[Item]:
        found = _LINE.search(line)
        if found is None:
            return ()
        if _LINE.search(line, found.end()) is not None:
            self.note(Odd.CROSSED, number)
            return ()
        head = self.heads.read(line[: found.start()])
        self.facts = replace(self.facts, gpus=int(found["gpus"]))
        what = found["what"].strip()
        if what == "Starting job":
            return (RunEvent(EventKind.START, number, None, head.at_s, None, head.rank),)
        kind = _SAVED.get(what)
        # The last field ends the line, so it may have been cut; two decimals are whole.
        fields = dict(part.split(": ", 1) for part in line[found.end() :].split("\t") if ": " in part)
        step = count(fields.get("Iteration"))
        if kind is None or step is None:
            return ()
        event = RunEvent(kind, number, step, head.at_s, None, head.rank)
        if "Job throughput" not in fields:
            return (event,)
        tokens = re.fullmatch(r"(\d{1,9}\.\d\d)\s*", fields.get("Tokens (in billions)", ""), re.ASCII)
        record = StepRecord(
            step=step,
            line=number,
            at_s=head.at_s,
            consumed_tokens=None if tokens is None else float(tokens[1]) * 1e9,
            tflops_per_gpu=_throughput(fields["Job throughput"]),
            rank=head.rank,
        )
        return (record, event)


def _throughput(text: str) -> float | None:
    value, _, unit = text.strip().partition(" ")
    return positive(value) if unit == "TFLOP/s/GPU" else None
