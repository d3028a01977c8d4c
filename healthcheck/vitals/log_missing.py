"""What this log cannot show, and what would."""

from __future__ import annotations

from collections.abc import Iterator

from healthcheck.model.message import Message, say
from healthcheck.model.training import EventKind
from healthcheck.model.vitals_log import LossKind, StepTime
from healthcheck.vitals.log_clock import Clock
from healthcheck.vitals.log_goodput import Measured
from healthcheck.vitals.log_mfu import Ours
from healthcheck.vitals.log_pace import Pace
from healthcheck.vitals.log_rates import Rates
from healthcheck.vitals.log_rows import Training
from healthcheck.vitals.log_work import Work

_NOTICED = 0.01
_SAVES = frozenset((EventKind.CHECKPOINT_BEGUN, EventKind.CHECKPOINT_SAVED))


def missing_of(
    training: Training,
    work: Work,
    clock: Clock,
    pace: Pace,
    measured: Measured,
    step: StepTime | None,
    rates: Rates,
    ours: Ours,
) -> tuple[Message, ...]:
    """The sentences, most important first."""
    return (
        *_of_steps(step, pace),
        *_of_time(clock, measured),
        *_of_checkpoints(training, measured),
        *_of_rates(work, rates),
        *ours.missing,
    )


def _of_steps(step: StepTime | None, pace: Pace) -> Iterator[Message]:
    if step is None or step.reports < 3:
        yield say("log.missing.few", n=0 if step is None else step.reports)
    elif step.interval_means:
        yield say("log.missing.means")
    if pace.from_clock:
        yield say("log.missing.step_times")


def _of_time(clock: Clock, measured: Measured) -> Iterator[Message]:
    yield say("log.missing.edges") if measured.goodput.wall_clock else say("log.missing.clock")
    if clock.unknown_restarts:
        yield say("log.missing.down", n=len(clock.unknown_restarts))


def _of_checkpoints(training: Training, measured: Measured) -> Iterator[Message]:
    saves = any(event.kind in _SAVES for _, event in training.events)
    if not saves:
        yield say("log.missing.saves")
    elif measured.goodput.wall_clock and measured.checkpoints.stall_s is None and measured.checkpoints.saves:
        yield say("log.missing.stall")
    if measured.unkept:
        yield say("log.missing.unkept", n=measured.unkept)
    if measured.hidden:
        yield say("log.missing.hidden", n=measured.hidden)
    unknown = sum(loss.seconds for loss in measured.goodput.losses if loss.kind is LossKind.UNKNOWN)
    if measured.goodput.wall_clock and unknown > _NOTICED * measured.goodput.window_s:
        yield say("log.missing.unknown")


def _of_rates(work: Work, rates: Rates) -> Iterator[Message]:
    if rates.rate is None or rates.rate.tokens_per_s is None:
        yield say("log.missing.seq_len") if work.unit == "samples" else say("log.missing.tokens")
    elif rates.rate.per_gpu is None:
        yield say("log.missing.gpus")
