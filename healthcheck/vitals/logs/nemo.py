"""NeMo: `Training epoch 0, iteration 120/149 | global_step: 120 | train_step_timing in s: 0.03146 | ...`, or a bar.

Numbers are means of its log interval, and so is `consumed_samples`, which is therefore taken only where each step is
reported. As a bar: `Epoch 0: 1%| 10/1000 [01:10<1:56:00, global_step=9.000, train_step_timing in s=6.890]`, older
`... 795/77225 [9:07:58<878:01:48, 41.36s/it, loss=3.1, ...]`; it is drawn again and again, each step counts once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec.structs import replace

from healthcheck.model.training import EventKind, Framework, RunEvent, StepRecord
from healthcheck.vitals.logs.bars import bar_of, fields_of, whole
from healthcheck.vitals.logs.dialect import Dialect, Item, Means
from healthcheck.vitals.logs.figures import bounded, count, number, positive
from healthcheck.vitals.logs.remarks import Odd

_LINE = re.compile(r"Training epoch \d{1,9}, iteration (?P<n>\d{1,12})/\d{1,12} \| ", re.ASCII)
_EPOCH = re.compile(r"Epoch \d{1,9}: ", re.ASCII)
_BAR_START = re.compile(
    r"(?P<n>\d{1,12})(?:/(?:\d{1,12}|\?) \[(?:\d{1,4}:)?\d{1,2}:\d\d<[^,\]]{1,20}, |it \[(?:\d{1,4}:)?\d{1,2}:\d\d, )",
    re.ASCII,
)
"""A bar whose rate is not drawn, or that does not know its end: `12/? [...]`, `12it [00:40,  3.4s/it, ...]`."""
_TIME = "train_step_timing in s"
_FLOPS = "TFLOPS_per_GPU"
_ROUNDED = (_TIME, _FLOPS, "reduced_train_loss", "grad_norm")
"""Fields that are printed with four digits, so that a line that ends in one shows whether it was cut."""
_SAVE = re.compile(
    r"Global Checkpoint Save : Rank: \d{1,7} : Iteration: (?P<step>\d{1,12}) : Start time: (?P<at>\d{9,11}\.\d{3})s : "
    r"Save duration: (?P<took>\d{1,9}\.\d{3})s",
    re.ASCII,
)
_SAVED = re.compile(r"[Ss]uccessfully saved checkpoint from iteration {1,12}(?P<step>\d{1,12}) to ", re.ASCII)
_LOAD = re.compile(
    r"Global Checkpoint Load : .{0,80}?Time spent in load_checkpoint: (?P<took>\d{1,9}\.\d{3})s", re.ASCII
)
_RESTORE = re.compile(r"[Rr]estor(?:ing|ed) .{0,4096}?step=(?P<step>\d{1,12})(?!\d)", re.ASCII)


class Nemo(Dialect):
    """A checkpoint counts as saved with the next step, or when its background save says so."""

    framework = Framework.NEMO
    means = Means.SINCE_LAST
    marks = (
        "Training epoch ",
        "Epoch ",
        "heckpoint",
        "Experiments will be logged at",
        "estor",
        "Validation: iteration 1/",
    )

    def __init__(self) -> None:
        super().__init__()
        self._last: int | None = None
        self._saved: RunEvent | None = None
        self._restored: int | None = None

    def read(self, line: str, number: int) -> Iterable[Item]:
        if "Training epoch " in line and (found := _LINE.search(line)) is not None:
            return self._line(found, line, number)
        if "Epoch " in line and "/" in line and (epoch := _EPOCH.search(line)) is not None:
            return self._bar(line, epoch, number)
        return self._event(line, number)

    def close(self) -> Iterable[Item]:
        saved, self._saved = self._saved, None
        return () if saved is None else (saved,)

    def _line(self, found: re.Match[str], line: str, number: int) -> Iterable[Item]:
        if (later := _LINE.search(line, found.end())) is not None:
            self.note(Odd.CROSSED, number)
            return self._line(later, line, number)
        fields, last = fields_of(line[found.end() :])
        if last is not None and not (last in _ROUNDED and whole(fields[last])):
            del fields[last]
        return self._given(int(found["n"]), fields, None, line[: found.start()], number)

    def _drawn_again(self, fields: dict[str, str], n: int) -> bool:
        return self._last is not None and self._last == _step_of(fields, n)

    def _bar(self, line: str, epoch: re.Match[str], number: int) -> Iterable[Item]:
        bar = bar_of(line)
        start = _BAR_START.search(line, epoch.end())
        inside = bar.rest if bar is not None else line[start.end() :] if start is not None else ""
        inside, closed, _ = inside.partition("]")
        if not closed or "[" in inside:  # it was cut, and another line may have followed
            return ()
        fields = {}
        for part in inside.split(", "):
            name, equals, value = part.rpartition("=")
            if equals:
                fields[name.strip()] = value
        if "global_step" not in fields and "reduced_train_loss" not in fields:
            return ()
        n = bar.n if bar is not None else int(start["n"]) if start is not None else 0
        if self._drawn_again(fields, n):
            return ()
        return self._given(n, fields, bar.step_s if bar is not None else None, line[: epoch.start()], number)

    def _given(self, n: int, fields: dict[str, str], rate_s: float | None, before: str, line: int) -> Iterable[Item]:
        step = _step_of(fields, n)
        each = self._last is not None and step - self._last == 1
        batch = count(fields.get("global_batch_size", "").removesuffix(".0"))
        if batch is not None and self.facts.global_batch != batch:
            self.facts = replace(self.facts, global_batch=batch)
        head = self.heads.read(before)
        samples = fields.get("consumed_samples", "").removesuffix(".0").removesuffix(".000")
        consumed = count(samples) if each else None
        time_s = positive(fields.get(_TIME))
        self._last = step
        record = StepRecord(
            step=step,
            line=line,
            step_time_s=time_s if time_s is not None else rate_s,
            at_s=head.at_s,
            samples=batch,
            consumed_samples=None if consumed is None else float(consumed),
            tokens_per_s_per_gpu=positive(fields.get("tps", fields.get("tokens_per_sec_per_gpu"))),
            tflops_per_gpu=bounded(0, positive(fields.get(_FLOPS)), 1e5),
            loss=number(fields.get("reduced_train_loss", fields.get("loss"))),
            grad_norm=number(fields.get("grad_norm")),
            rank=head.rank,
        )
        return (*self.close(), record)

    def _event(self, line: str, number: int) -> Iterable[Item]:
        if (save := _SAVE.search(line)) is not None:
            step, took = int(save["step"]), positive(save["took"])
            rank = self.heads.read(line[: save.start()]).rank
            at = float(save["at"])
            before = self.close()
            self._saved = RunEvent(EventKind.CHECKPOINT_SAVED, number, step, at + (took or 0.0), took, rank)
            return (*before, RunEvent(EventKind.CHECKPOINT_BEGUN, number, step, at, took, rank))
        if "async checkpoint save" in line:
            self._saved = None  # it is saved once the background says so
            return ()
        if (saved := _SAVED.search(line)) is not None:
            self._saved = None
            return (self.event(EventKind.CHECKPOINT_SAVED, line[: saved.start()], number, int(saved["step"])),)
        return self._start_or_load(line, number)

    def _start_or_load(self, line: str, number: int) -> Iterable[Item]:
        if (load := _LOAD.search(line)) is not None:
            step, self._restored = self._restored, None
            before, took = line[: load.start()], positive(load["took"])
            return (self.event(EventKind.CHECKPOINT_LOADED, before, number, step, took),)
        if (restore := _RESTORE.search(line)) is not None:
            self._restored = int(restore["step"])
            return ()
        for kind, words in (
            (EventKind.START, "Experiments will be logged at"),
            (EventKind.EVALUATION, "Validation: iteration 1/"),
        ):
            if (at := line.find(words)) >= 0:
                self._last = None if kind is EventKind.START else self._last
                return (self.event(kind, line[:at], number, self._last),)
        return ()


def _step_of(fields: dict[str, str], n: int) -> int:
    """`global_step`, which goes on over epochs, where it is whole; else what the line or the bar counts.

    A bar rounds it to three digits where that is shorter (`1.23e+5`): then the count of the bar is taken, if it fits.
    """
    text = fields.get("global_step", "")
    named = number(text)
    if named is None or not named.is_integer() or not 0 <= named < 1e12:
        return n
    counted = n - 1  # a bar counts the steps that are done, and global_step begins at 0
    return counted if "e" in text and f"{counted:.2e}" == f"{named:.2e}" else int(named)
