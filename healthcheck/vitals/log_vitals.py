"""From the rows of a log to everything there is to say about the training: the document of `vitals log`."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from msgspec import Struct
from msgspec.structs import replace

from healthcheck.errors import InputError
from healthcheck.model.message import say
from healthcheck.model.training import EventKind, LogFacts, LogRemark, RunEvent
from healthcheck.model.vitals_log import LogVitals, Point, StepTime
from healthcheck.model.vitals_mfu import Dtype, GpuRow, MfuQuestion, ModelShape, Recompute
from healthcheck.vitals.log_checks import check_one, folded
from healthcheck.vitals.log_clock import clock_of, lend_stamps
from healthcheck.vitals.log_goodput import Measured, measured_of
from healthcheck.vitals.log_jumps import settle_jumps
from healthcheck.vitals.log_mfu import Ours, mfu_of
from healthcheck.vitals.log_missing import missing_of
from healthcheck.vitals.log_pace import pace_of, step_time
from healthcheck.vitals.log_pieces import joined
from healthcheck.vitals.log_rates import Rates, rates_of
from healthcheck.vitals.log_rows import NAN, Training
from healthcheck.vitals.log_seen import Seen
from healthcheck.vitals.log_survival import survival_of
from healthcheck.vitals.log_times import times_of
from healthcheck.vitals.log_window import Window, rows_in
from healthcheck.vitals.log_work import GivenWork, work_of
from healthcheck.vitals.peaks import peak_of

FEWEST_REPORTS = 3
"""With fewer reports after warm-up nothing is said of a steady state."""
FASTER = 0.9
"""Rule of thumb: where a tenth of the steps is faster than this part of the median, the training had another pace."""
_FEWEST_TO_COMPARE = 20
_MOST_POINTS = 400
_MOST_EVENTS = 200
_TELLING = frozenset((EventKind.START, EventKind.CHECKPOINT_LOADED, EventKind.EXIT, EventKind.FAILURE))
EXIT_TOO_FEW = 3


class Asked(Struct, frozen=True):
    """What the user says and wants: of the run, of the model, and which part of the log."""

    given: GivenWork = GivenWork()
    shape: ModelShape = ModelShape()
    gpu: str | None = None
    dtype: Dtype = Dtype.BF16
    recompute: Recompute = Recompute.NONE
    window: Window | None = None


def see(pieces: Sequence[Training], asked: Asked) -> Seen:
    """The rows of all files as one training; InputError where they are none, or hold no step time at all."""
    training = joined(pieces)
    lend_stamps(training)
    training.remarks += settle_jumps(training)
    training.remarks += check_one(training)
    work = work_of(training, asked.given)
    clock = clock_of(training, _printed_busy(training))
    times = times_of(training, work, clock.at, asked.given)
    pace = None if times is None else pace_of(training, work, times)
    if pace is None:
        raise InputError(
            training.files[0],
            "its lines have neither step times nor rates nor a clock, so nothing says how long a step takes; "
            "give a log with one of them (Megatron: --log-throughput; others: a time stamp before each line)",
        )
    low, high = rows_in(asked.window, training, clock)
    return Seen(training, work, clock, pace, survival_of(training), low, high)


def vitals_of(seen: Seen, asked: Asked, table: Sequence[GpuRow] = ()) -> LogVitals:
    """The document; `table` is that of GPU peaks."""
    training, part = seen.training, slice(seen.low, seen.high)
    step = step_time(training, seen.work, seen.pace, seen.low, seen.high)
    measured = measured_of(seen)
    facts = _facts(training.facts, asked)
    gpu = asked.gpu or facts.gpu
    peak = None if gpu is None else peak_of(gpu, asked.dtype, table)
    rates = rates_of(training, seen.work, seen.pace, step, part, asked.given, peak)
    printed = None if rates.printed is None else rates.printed.tflops_per_gpu
    question = MfuQuestion(
        shape=asked.shape, gpus=asked.given.gpus, gpu=asked.gpu, dtype=asked.dtype, recompute=asked.recompute
    )
    ours = mfu_of(question, facts, rates.rate, printed, table)
    enough = step is not None and step.reports >= FEWEST_REPORTS
    return _document(seen, facts, step, measured, rates, ours, 0 if enough else EXIT_TOO_FEW)


def _document(
    seen: Seen, facts: LogFacts, step: StepTime | None, measured: Measured, rates: Rates, ours: Ours, exit_code: int
) -> LogVitals:
    training, low, high = seen.training, seen.low, seen.high
    rows, ends = training.rows, training.ends()
    inside = [number for number, one in enumerate(training.segments) if one.first < high and ends[number] > low]
    share = measured.goodput.share
    remarks = (
        *training.remarks,
        *_was_faster(step, share, rows.line[low]),
        *seen.clock.remarks,
        *seen.pace.remarks,
        *seen.work.remarks,
        *measured.remarks,
        *rates.remarks,
        *ours.remarks,
    )
    return LogVitals(
        files=(*training.files, *training.copies_of),
        framework=training.framework,
        facts=facts,
        first_step=min(rows.step[low:high]),
        last_step=max(rows.step[low:high]),
        starts=len(inside),
        rank_copies=training.copies,
        step_time=step,
        rate=rates.rate,
        printed=rates.printed,
        mfu=ours.mfu,
        hfu=ours.hfu,
        mfu_basis=ours.basis,
        goodput=measured.goodput,
        rollbacks=_rollbacks(seen, inside),
        skipped=sum(rows.lost[low:high]) - sum(rows.nan[low:high]),
        nan_losses=sum(rows.nan[low:high]),
        events=_events(training, low, high),
        remarks=tuple(folded((remark, remark.what.english) for remark in remarks)),
        missing=missing_of(training, seen.work, seen.clock, seen.pace, measured, step, rates, ours),
        points=_points(seen),
        exit_code=exit_code,
        checkpoints=measured.checkpoints,
        starts_in_vain=training.in_vain,
        timers=rates.timers,
    )


def _was_faster(step: StepTime | None, share: float | None, line: int) -> tuple[LogRemark, ...]:
    """A training that slowed down for good is steady at its slow pace: told by the pace it once had."""
    if step is None or step.p10_s is None or share is None or step.reports < _FEWEST_TO_COMPARE:
        return ()
    if step.p10_s >= FASTER * step.median_s:
        return ()
    told = say("log.faster", fast=step.p10_s, median=step.median_s, percent=100 * share * step.p10_s / step.steady_s)
    return (LogRemark(told, line),)


def _printed_busy(training: Training) -> array[float]:
    """Before anything is known of the pace: printed times, else what lies between two lines as a rule."""
    rows = training.rows
    if any(value > 0 for value in rows.time):
        return array(
            "d", (time * steps if time > 0 else NAN for time, steps in zip(rows.time, rows.steps, strict=True))
        )
    gaps = [other - one for one, other in pairwise(rows.at) if other >= one]
    return array("d", [median(gaps) if gaps else NAN]) * len(rows)


def _facts(facts: LogFacts, asked: Asked) -> LogFacts:
    """What the log says, and what the user says where it says nothing; the number of GPUs as the rates take it."""
    given = asked.given
    told = {"gpu": asked.gpu, "seq_len": given.seq_len, "global_batch": given.global_batch}
    missing = {name: value for name, value in told.items() if value is not None and getattr(facts, name) is None}
    return replace(facts, gpus=given.gpus or facts.gpus, **missing)


def _rollbacks(seen: Seen, inside: Sequence[int]) -> int:
    rows, segments = seen.training.rows, seen.training.segments
    went_back = 0
    for number in inside[1:]:
        first = segments[number].first
        went_back += rows.since(first) < rows.step[first - 1]
    return went_back


def _events(training: Training, low: int, high: int) -> tuple[RunEvent, ...]:
    """Those of the window; of a great many, the starts and failures before the saves."""
    inside = [event for before, event in training.events if (low < before or low == 0) and before <= high]
    if len(inside) <= _MOST_EVENTS:
        return tuple(inside)
    telling = [event for event in inside if event.kind in _TELLING][:_MOST_EVENTS]
    kept = {id(event) for event in (*telling, *inside[: _MOST_EVENTS - len(telling)])}
    return tuple(event for event in inside if id(event) in kept)


def _points(seen: Seen) -> tuple[Point, ...]:
    """For the chart: at most some 400, each the median of neighbours of one start."""
    training, busy = seen.training, seen.pace.busy
    size = max(1, math.ceil((seen.high - seen.low) / _MOST_POINTS))
    begin = next((at for at in seen.clock.at[seen.low : seen.high] if not math.isnan(at)), NAN)
    found = []
    for number, (segment, end) in enumerate(zip(training.segments, training.ends(), strict=True)):
        for first in range(max(segment.first, seen.low), min(end, seen.high), size):
            last = min(first + size, end, seen.high)
            times = [busy[row] / training.rows.steps[row] for row in range(first, last) if busy[row] > 0]
            if times:
                at = seen.clock.at[last - 1] - begin
                x = None if math.isnan(at) else max(0.0, at)
                found.append(Point(training.rows.step[last - 1], x, median(times), number))
    return tuple(found[:: math.ceil(len(found) / _MOST_POINTS / 2) or 1])
