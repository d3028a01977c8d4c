"""Rates: what the training does, what the framework prints of itself, and whether the two agree."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from healthcheck.model.message import Message, say
from healthcheck.model.training import Framework, LogRemark
from healthcheck.model.vitals_log import Printed, Rate, StepTime, Timer
from healthcheck.model.vitals_mfu import GpuPeak
from healthcheck.vitals.log_pace import Pace, RowKind
from healthcheck.vitals.log_rows import Training
from healthcheck.vitals.log_work import GivenWork, Work

Chosen = NDArray[np.bool_]
CLASH = 0.05
"""Rule of thumb: two numbers of one thing that differ by more are told."""
_HARDWARE = frozenset((Framework.MEGATRON_DEEPSPEED, Framework.GPT_NEOX))
"""Their FLOPs hold what is computed again when activations are recomputed."""
_UNSAID = frozenset((Framework.MEGATRON, Framework.MEGATRON_PROGRESS))
"""Model FLOPs; but the count changed with the version, and before 2022 it held recomputed ones."""


class Rates(Struct, frozen=True):
    """The two of them, with what is odd."""

    rate: Rate | None
    printed: Printed | None
    timers: tuple[Timer, ...]
    remarks: tuple[LogRemark, ...]


def rates_of(
    training: Training,
    work: Work,
    pace: Pace,
    step: StepTime | None,
    part: slice,
    given: GivenWork,
    peak: GpuPeak | None,
) -> Rates:
    """The rates over the steady rows of a part; `peak`: that of the GPU which the log or the user names."""
    steady = np.zeros(len(training.rows), bool)
    steady[part] = np.frombuffer(pace.kinds, np.uint8)[part] == RowKind.STEADY
    if not steady.any():
        steady[part] = True
    rate = _rate(training, work, pace, step, steady, given)
    tflops, mfu = _median(training, "tflops_per_gpu", steady), _median(training, "mfu", steady)
    implied = tflops / mfu if tflops is not None and mfu else training.facts.peak_tflops
    printed = _printed(training, tflops, mfu, implied, peak)
    line = training.rows.line[int(steady.argmax())]
    samples = None if step is None or work.samples is None else work.samples / step.steady_s
    told = (*_clashes(training, rate, given), *_samples_clash(training, rate, samples, steady))
    remarks = [LogRemark(each, line) for each in (*told, *_oddities(tflops, mfu, implied, peak))]
    return Rates(rate, printed, _timers(training, step, steady), tuple(remarks))


def _timers(training: Training, step: StepTime | None, rows: Chosen) -> tuple[Timer, ...]:
    found: list[Timer] = []
    if step is None:
        return ()
    for name, column in training.rows.timers.items():
        seconds = np.frombuffer(column, column.typecode)[rows[: len(column)]]
        seconds = seconds[~np.isnan(seconds)]
        if len(seconds):
            median = float(np.median(seconds))
            found.append(Timer(name, median, median / step.median_s, len(seconds)))
    return tuple(sorted(found, key=lambda timer: (-timer.median_s, timer.name)))


def _median(training: Training, name: str, rows: Chosen) -> float | None:
    column = training.rows.printed.get(name)
    if column is None:
        return None
    values = np.frombuffer(column, column.typecode)[rows]
    values = values[~np.isnan(values)]
    return float(np.median(values)) if len(values) else None


def _rate(
    training: Training, work: Work, pace: Pace, step: StepTime | None, rows: Chosen, given: GivenWork
) -> Rate | None:
    gpus = given.gpus or training.facts.gpus
    per_gpu = _median(training, "tokens_per_s_per_gpu", rows)
    printed = _median(training, "tokens_per_s", rows)
    if printed is None and per_gpu is not None and gpus is not None:
        printed = per_gpu * gpus
    samples = _median(training, "samples_per_s", rows)
    if printed is None and samples is not None and work.seq_len is not None:
        printed = samples * work.seq_len
    if work.has_tokens:
        tokens = 1 / pace.seconds_a_unit
        return Rate(
            tokens_per_s=tokens,
            per_gpu=tokens / gpus if gpus else None,
            basis=say("log.rate.batch", basis=work.basis),
            tokens_per_step=None if step is None else tokens * step.steady_s,
            samples_per_s=None if work.seq_len is None else tokens / work.seq_len,
            printed_tokens_per_s=printed,
        )
    if printed is not None or per_gpu is not None:
        return Rate(printed, per_gpu, say("log.rate.printed"), printed_tokens_per_s=printed)
    if work.unit == "samples":
        return Rate(None, None, say("log.rate.samples"), samples_per_s=1 / pace.seconds_a_unit)
    return None


def _printed(
    training: Training, tflops: float | None, mfu: float | None, implied: float | None, peak: GpuPeak | None
) -> Printed | None:
    if tflops is None and mfu is None:
        return None
    dense = None if peak is None else peak.dense_tflops
    return Printed(
        tflops_per_gpu=tflops,
        mfu=mfu if mfu is not None and mfu <= 1 else None,
        implied_peak_tflops=implied,
        basis=_basis(training.framework),
        gpu_peak_tflops=dense,
        share_of_peak=None if tflops is None or dense is None else tflops / dense,
    )


def _basis(framework: Framework) -> Message:
    if framework in _HARDWARE:
        return say("log.basis.hardware")
    return say("log.basis.version") if framework in _UNSAID else say("log.basis.model")


def _clashes(training: Training, rate: Rate | None, given: GivenWork) -> Iterator[Message]:
    """Two numbers of one thing that differ."""
    if rate is not None and rate.tokens_per_s and rate.printed_tokens_per_s and rate.tokens_per_step is not None:
        factor = rate.printed_tokens_per_s / rate.tokens_per_s
        if abs(factor - 1) > CLASH:
            yield say(
                "log.rate_clash", printed=rate.printed_tokens_per_s, trusted=rate.tokens_per_s, factor=round(factor, 2)
            )
    if given.gpus is not None and training.facts.gpus is not None and given.gpus != training.facts.gpus:
        yield say("log.gpus_given", log=training.facts.gpus, given=given.gpus)


def _samples_clash(training: Training, rate: Rate | None, trusted: float | None, rows: Chosen) -> Iterator[Message]:
    """Printed samples/s beside the batch over the step time, where no tokens/s are printed that would show it."""
    printed = _median(training, "samples_per_s", rows)
    if printed is None or not trusted or (rate is not None and rate.printed_tokens_per_s is not None):
        return
    factor = printed / trusted
    if abs(factor - 1) > CLASH:
        yield say("log.samples_clash", printed=printed, trusted=trusted, factor=round(factor, 2))


def _oddities(
    tflops: float | None, mfu: float | None, implied: float | None, peak: GpuPeak | None
) -> Iterator[Message]:
    """What the framework prints of itself and cannot be, or is over another GPU's peak."""
    if mfu is not None and mfu > 1:
        code = "log.mfu_impossible" if implied is None else "log.mfu_impossible_peak"
        yield say(code, percent=100 * mfu, peak=implied or 0.0)
    if peak is None:
        return
    if tflops is not None and tflops > peak.dense_tflops:
        yield say("log.tflops_impossible", tflops=tflops, gpu=peak.gpu, peak=peak.dense_tflops)
    if implied is not None and abs(implied / peak.dense_tflops - 1) > CLASH:
        yield say(
            "log.peak_clash", implied=implied, gpu=peak.gpu, peak=peak.dense_tflops, factor=implied / peak.dense_tflops
        )
