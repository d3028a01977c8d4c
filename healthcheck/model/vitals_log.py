"""What a training log says about the health of the training: step time, rates, goodput, and each loss by its name.

Document `healthcheck.vitals.log/1`. Seconds, tokens, tokens/s, TFLOP/s; fractions from 0 to 1.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from healthcheck.model.message import Message
from healthcheck.model.training import Framework, LogFacts, LogRemark, RunEvent

SCHEMA = "healthcheck.vitals.log/1"


class StepTime(Struct, frozen=True):
    """Step Time after warm-up. `spread` is (p95 - median) / median; `steady_s` the mean that a rate is made of.

    `warm_up` reports were left out at the start and after each restart. `median_s`, `p95_s` and `worst_s` are of the
    `reports` that remain, of `steps` steps; `outliers` of them are above median + 3 MAD and not in `steady_s`.
    `interval_means`: a report is the mean of several steps, so p95 and spread are of means and hide single slow steps.
    `basis`: printed, or made of what. Steps of another batch size than most are not in it. `p10_s`: a tenth of the
    reports took at most so long.
    """

    median_s: float
    p95_s: float
    spread: float
    steady_s: float
    reports: int
    steps: int
    warm_up: int
    outliers: int
    interval_means: bool
    worst_s: float | None = None
    basis: Message | None = None
    p10_s: float | None = None


class Rate(Struct, frozen=True):
    """A throughput and where it comes from. `tokens_per_s` over all GPUs; `per_gpu` where their number is known.

    `tokens_per_step` over all GPUs; `printed_tokens_per_s` what the framework prints, over all GPUs: where it clashes
    with `tokens_per_s`, the batch over Step Time is trusted and a remark says so.
    """

    tokens_per_s: float | None
    per_gpu: float | None
    basis: Message
    tokens_per_step: float | None = None
    samples_per_s: float | None = None
    printed_tokens_per_s: float | None = None


class Printed(Struct, frozen=True):
    """What the framework prints of itself, median of the steady steps, and the peak it implies (TFLOP/s per GPU).

    `mfu` a fraction, None where what is printed is impossible (then a remark says so); `basis` says whether it counts
    recomputed FLOPs (then it is an HFU), as far as that is known. `gpu_peak_tflops` is the dense peak of the GPU that
    the log or the user names, `share_of_peak` the printed TFLOP/s over it.
    """

    tflops_per_gpu: float | None
    mfu: float | None
    implied_peak_tflops: float | None
    basis: Message | None
    gpu_peak_tflops: float | None = None
    share_of_peak: float | None = None


class LossKind(StrEnum):
    """The losses goodput is told by.

    `redone`: steps after the checkpoint that was loaded, done again. `restart`: from the last step before a stop to the
    first one after it without that step itself, the first start and the last stop too. `not_kept`: steps after the last
    checkpoint of a training that failed.
    `skipped`: steps that changed no weight or had no loss. `slow_steps`: what steps took above the steady time.
    """

    REDONE = "redone"
    RESTART = "restart"
    CHECKPOINT = "checkpoint"
    EVALUATION = "evaluation"
    WARM_UP = "warm_up"
    SLOW_STEPS = "slow_steps"
    SKIPPED = "skipped"
    NOT_KEPT = "not_kept"
    UNKNOWN = "unknown"


class Loss(Struct, frozen=True):
    """Time that made no token that survives: `seconds` of the window, in `count` places; `steps` where steps were lost.

    `begins_s` and `ends_s` (wall clock as in the log) are the first place's start and the last one's end, if known;
    `longest_s` the longest place, which ends at `longest_line` of `longest_file`.
    """

    kind: LossKind
    seconds: float
    count: int
    steps: int = 0
    first_line: int | None = None
    begins_s: float | None = None
    ends_s: float | None = None
    longest_s: float | None = None
    longest_line: int | None = None
    longest_file: str | None = None


class Checkpoints(Struct, frozen=True):
    """How often the training saves: `saves` in the window, `interval_steps` between two (median), None below two.

    `at_risk_s` is what a crash right before a save costs, in steady steps; `stall_s` what a save held the steps up
    (median of those that did; None where none was seen to).
    """

    saves: int
    interval_steps: int | None
    at_risk_s: float | None
    stall_s: float | None


class Timer(Struct, frozen=True):
    """A timer that the framework prints of the collectives of a step: its name there, the median of the steady steps.

    Of the slowest rank where the line tells of all, else of the one that prints. `share` of the median Step Time.
    Timers may enclose each other, and hold neither what overlaps with computing nor what lies inside layers, so no sum
    is made of them.
    """

    name: str
    median_s: float
    share: float
    reports: int


class Goodput(Struct, frozen=True):
    """Tokens that survive over wall time, and that as a share of the steady rate.

    `window_s` is the wall time from `begins_s` to `ends_s`; `window` says in words what bounds it. `tokens` survive
    to the last step or kept checkpoint (a step that was redone counts once); None where no line gives tokens, then
    `share` counts steps. `useful_s` + the seconds of `losses` = `window_s`.
    """

    window_s: float
    begins_s: float | None
    ends_s: float | None
    window: Message
    steps: int
    tokens: float | None
    tokens_per_s: float | None
    share: float | None
    useful_s: float
    losses: tuple[Loss, ...]
    wall_clock: bool = True
    """False where no line has a time: then the window is the sum of step times, without what lies between steps."""


class Point(Struct, frozen=True):
    """For the chart: one report or the median of several neighbours. `x_s` from the start of the window."""

    step: int
    x_s: float | None
    step_time_s: float
    segment: int
    """Which start of the training it belongs to, from 0."""


class LogVitals(Struct, frozen=True):
    """Everything about one training. `mfu` and `hfu` are ours, by `mfu_basis`; None with a reason in `missing`.

    `events` are what matters to a reader (starts, loads, saves, failures); `missing`: what this log
    cannot show and what would; `starts` came to a step, `starts_in_vain` of the whole log to none; `exit_code` 0, or 3
    where it is not enough to say.
    """

    files: tuple[str, ...]
    framework: Framework
    facts: LogFacts
    first_step: int
    last_step: int
    starts: int
    rank_copies: int
    """Reports that were left out because another rank had printed the same one."""
    step_time: StepTime | None
    rate: Rate | None
    printed: Printed | None
    mfu: float | None
    hfu: float | None
    mfu_basis: Message | None
    goodput: Goodput | None
    rollbacks: int
    skipped: int
    nan_losses: int
    events: tuple[RunEvent, ...]
    remarks: tuple[LogRemark, ...]
    missing: tuple[Message, ...]
    points: tuple[Point, ...]
    exit_code: int
    checkpoints: Checkpoints | None = None
    starts_in_vain: int = 0
    timers: tuple[Timer, ...] = ()
    """Of the collectives of a step, the longest first."""
