"""The reports of one training in columns: some 60 bytes a report, so that a log of gigabytes fits into memory."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_right
from collections.abc import Callable

from msgspec import Struct, field

from healthcheck.model.training import Framework, LogFacts, LogRemark, RunEvent, StepRecord

NAN = math.nan
# Columns that exist once a line of the log has such a number.
PRINTED = (
    "tokens",
    "samples",
    "consumed_tokens",
    "consumed_samples",
    "tokens_per_s",
    "tokens_per_s_per_gpu",
    "samples_per_s",
    "tflops_per_gpu",
    "mfu",
)
_OF_A_RANK = ("tokens_per_s_per_gpu", "tokens_per_s", "samples_per_s", "tflops_per_gpu", "mfu")
_COLUMNS = ("step", "line", "steps", "covers", "time", "at", "lost", "nan")
_LOSSLESS = frozenset(("tokens", "samples", "consumed_tokens", "consumed_samples"))

_MOST_STEPS = 2_000_000_000
_MOST_TIMERS = 32


class Segment(Struct):
    """What one start of the training printed: rows from `first` on. `loaded`: the step of the checkpoint it took up.

    `silent`: nothing told of a start, the steps went back. `opened_at_s`: when the log says that it started. `facts`:
    what was known of the run then.
    """

    first: int
    loaded: int | None = None
    silent: bool = False
    opened_at_s: float | None = None
    facts: LogFacts = LogFacts()


class Rows(Struct):
    """One value a report in each column; NaN where a line does not say it.

    `steps`: how many steps the row stands for (those since the report before); `busy` their time in all, in seconds;
    `covers` and `time` as printed: the mean of so many. `lost`: steps that changed no weight or had no loss; `nan`
    of them had a loss that is no number. `timers`: seconds by the name of a timer, as far down as one was printed.
    """

    step: array[int] = field(default_factory=lambda: array("q"))
    line: array[int] = field(default_factory=lambda: array("q"))
    steps: array[int] = field(default_factory=lambda: array("i"))
    covers: array[int] = field(default_factory=lambda: array("i"))
    time: array[float] = field(default_factory=lambda: array("d"))
    at: array[float] = field(default_factory=lambda: array("d"))
    lost: array[int] = field(default_factory=lambda: array("i"))
    nan: array[int] = field(default_factory=lambda: array("i"))
    printed: dict[str, array[float]] = field(default_factory=dict)
    timers: dict[str, array[float]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.step)

    def append(self, record: StepRecord, steps: int, lost: int, nan: int) -> None:
        """One report at the end."""
        before = len(self.step)
        self.step.append(record.step)
        self.line.append(record.line)
        self.steps.append(_small(steps))
        self.covers.append(_small(record.covers))
        self.time.append(NAN if record.step_time_s is None else record.step_time_s)
        self.at.append(NAN if record.at_s is None else record.at_s)
        self.lost.append(_small(lost))
        self.nan.append(_small(nan))
        columns = self.printed
        for name in PRINTED:
            value = getattr(record, name)
            if name in columns:
                columns[name].append(NAN if value is None else value)
            elif value is not None:
                self.put(name, before, value)

    def swap_last(self) -> None:
        """The last two rows the other way round: the last one stood below the one that follows it."""
        for timer in self.timers.values():
            timer.extend([NAN] * (len(self.step) - len(timer)))
        for column in (*(getattr(self, name) for name in _COLUMNS), *self.printed.values(), *self.timers.values()):
            column[-1], column[-2] = column[-2], column[-1]
        self.steps[-2] = _small(self.step[-2] - self.step[-3])
        self.steps[-1] = _small(self.step[-1] - self.step[-2])

    def since(self, row: int) -> int:
        """The step after which those of a row came: the last one before them."""
        return self.step[row] - self.steps[row]

    def tokens_per_s(self, row: int, gpus: int | None) -> float | None:
        """The printed rate of all GPUs, or that of one times their number; None where neither is known."""
        rate = self.value("tokens_per_s", row)
        if rate is None and gpus is not None and (one := self.value("tokens_per_s_per_gpu", row)) is not None:
            rate = one * gpus
        return rate

    def value(self, name: str, row: int) -> float | None:
        """A printed number of a row; None where its line does not say it."""
        column = self.printed.get(name)
        if column is None or math.isnan(column[row]):
            return None
        return column[row]

    def put(self, name: str, row: int, value: float) -> None:
        """Replace a printed number."""
        if name not in self.printed:
            self.printed[name] = array("d" if name in _LOSSLESS else "f", [NAN]) * len(self.step)
        self.printed[name][row] = value

    def clock(self, name: str, row: int, seconds: float) -> None:
        """What a timer says of a row; the slower one where it says it twice."""
        if name not in self.timers and len(self.timers) >= _MOST_TIMERS:
            return
        column = self.timers.setdefault(name, array("f"))
        column.extend([NAN] * (row + 1 - len(column)))
        if not column[row] >= seconds:
            column[row] = seconds

    def join(self, row: int, at_s: float, time_s: float, printed: Callable[[str], float | None]) -> None:
        """The report of another rank of this step. The last rank ends the step; the slowest one's time and rates are
        the row's. NaN and None where the other report does not say it."""
        if at_s > self.at[row] or math.isnan(self.at[row]):
            self.at[row] = at_s
        mine = self.time[row]
        slower = time_s > mine or (math.isnan(mine) and not math.isnan(time_s))
        if math.isnan(mine) and math.isnan(time_s):
            slower = (printed("tokens_per_s_per_gpu") or math.inf) < (self.value("tokens_per_s_per_gpu", row) or 0.0)
        if slower:
            self.time[row] = time_s
            for name in _OF_A_RANK:
                if (value := printed(name)) is not None:
                    self.put(name, row, value)

    def part(self, low: int, high: int) -> Rows:
        """The rows from `low` to before `high`, by themselves."""
        printed = {name: column[low:high] for name, column in self.printed.items()}
        timers = {name: column[low:high] for name, column in self.timers.items()}
        return Rows(**{name: getattr(self, name)[low:high] for name in _COLUMNS}, printed=printed, timers=timers)

    def extend(self, other: Rows) -> None:
        """The rows of another piece behind these."""
        before = len(self.step)
        for name in (*self.printed, *(name for name in other.printed if name not in self.printed)):
            kind = "d" if name in _LOSSLESS else "f"
            mine = self.printed.setdefault(name, array(kind, [NAN]) * before)
            theirs = other.printed.get(name)
            mine.extend(theirs if theirs is not None else array(kind, [NAN]) * len(other))
        for name, timer in other.timers.items():
            mine = self.timers.setdefault(name, array("f"))
            mine.extend([NAN] * (before - len(mine)))
            mine.extend(timer)
        for column in _COLUMNS:
            getattr(self, column).extend(getattr(other, column))


class Training(Struct):
    """All reports of one training, or of one file of it. `events`: (rows before it, event), in their order.

    `begins`: the first row of each file. `copies`: reports left out because another rank had printed the same one.
    `copies_of`: files that are such copies as a whole. `in_vain`: starts that came to no step.
    """

    files: tuple[str, ...]
    rows: Rows
    segments: list[Segment]
    events: list[tuple[int, RunEvent]]
    framework: Framework
    facts: LogFacts
    remarks: list[LogRemark]
    begins: tuple[int, ...] = (0,)
    copies: int = 0
    copies_of: tuple[str, ...] = ()
    in_vain: int = 0

    def ends(self) -> list[int]:
        """Where each segment ends: the row after its last."""
        return [*(segment.first for segment in self.segments[1:]), len(self.rows)]

    def file_of(self, row: int) -> str:
        """The file a row is from."""
        return self.files[bisect_right(self.begins, row) - 1]

    def place(self, row: int) -> str:
        """`FILE:LINE` of a row."""
        return f"{self.file_of(row)}:{self.rows.line[row]}"


def _small(value: int) -> int:
    if 0 <= value <= _MOST_STEPS:  # as almost always: min() and max() take five times as long
        return value
    return 0 if value < 0 else _MOST_STEPS
