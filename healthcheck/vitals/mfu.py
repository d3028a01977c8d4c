"""MFU and HFU: how much of the GPUs' dense peak a training uses, the formula beside it, and no grade above 1.

MFU counts what the model needs; what is computed a second time to save memory (recompute) counts in HFU alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from healthcheck.model.vitals_mfu import (
    GIVEN_PEAK,
    GpuPeak,
    GpuRow,
    MfuAnswer,
    MfuQuestion,
    Recompute,
)
from healthcheck.vitals.formulas import (
    TokenFlops,
    choose,
    leaves_out,
    token_flops,
)
from healthcheck.vitals.mfu_remarks import Worked, notes_of, refusal_of, would_fit
from healthcheck.vitals.mfu_words import formula_words
from healthcheck.vitals.peaks import peak_of

TERA = 1e12


class Pace(Struct, frozen=True):
    """What was found of the speed: TFLOP/s per GPU (`model`, `hardware`) and tokens/s per GPU, None where unknown."""

    model: float | None = None
    hardware: float | None = None
    tokens_per_s: float | None = None


def achieved_tflops(model_flops: float, seconds: float, gpus: int) -> float:
    """TFLOP/s per GPU of FLOPs that `gpus` did in `seconds`."""
    return model_flops / seconds / gpus / TERA


def later_mfu(was_mfu: float, was_step_time_s: float, step_time_s: float) -> float:
    """MFU after the step time alone has changed: same model, tokens a step and GPUs."""
    return was_mfu * was_step_time_s / step_time_s


def answer(asked: MfuQuestion, table: Sequence[GpuRow]) -> MfuAnswer:
    """The answer to a question whose numbers are finite and above 0; `table` is the one of peaks.

    The formula is the one that is asked for, else the most complete for what is known of the shape; ValueError where
    the one that is asked for lacks something. Nothing is assumed of a GPU that is not in the table.
    """
    formula = asked.formula or choose(asked.shape)
    counted = None if formula is None else token_flops(asked.shape, formula)
    peak = _peak(asked, table)
    pace = _pace(asked, counted)
    mfu = _over(pace.model, peak)
    if pace.model is None and asked.was_mfu and asked.was_step_time_s and asked.step_time_s:
        mfu = later_mfu(asked.was_mfu, asked.was_step_time_s, asked.step_time_s)
    found = Worked(peak, pace.model, pace.hardware, mfu, _over(pace.hardware, peak), _was_mfu(asked, mfu))
    refused = refusal_of(asked, table, found)
    impossible = refused is not None and peak is not None
    tokens_per_s = _times(pace.tokens_per_s, asked.gpus)
    return MfuAnswer(
        shape=asked.shape,
        formula=formula,
        formula_text=formula_words(asked, formula, counted, pace.model),
        leaves_out=() if formula is None else leaves_out(asked.shape, formula),
        gpus=asked.gpus,
        gpu=asked.gpu,
        dtype=asked.dtype,
        peak=peak,
        recompute=asked.recompute,
        tokens_per_s=tokens_per_s,
        tokens_per_s_per_gpu=pace.tokens_per_s,
        step_time_s=asked.step_time_s,
        tokens_per_step=asked.tokens_per_step,
        tokens_total=asked.tokens_total,
        training_s=asked.tokens_total / tokens_per_s
        if asked.tokens_total and tokens_per_s and not impossible
        else None,
        model_flops_per_token=None if counted is None else counted.model,
        achieved_tflops=pace.model,
        hardware_tflops=pace.hardware,
        mfu=None if refused else found.mfu,
        hfu=None if refused else found.hfu,
        was_step_time_s=asked.was_step_time_s,
        was_mfu=None if refused else found.was_mfu,
        claimed_mfu=asked.claimed_mfu,
        refused=refused,
        would_fit=would_fit(asked, found),
        notes=notes_of(asked, table, formula, counted, mfu),
        exit_code=2 if refused else 0,
    )


def _peak(asked: MfuQuestion, table: Sequence[GpuRow]) -> GpuPeak | None:
    if asked.peak_tflops is not None:
        return GpuPeak(asked.gpu or "", asked.dtype, asked.peak_tflops, GIVEN_PEAK)
    return None if asked.gpu is None else peak_of(asked.gpu, asked.dtype, table)


def _pace(asked: MfuQuestion, counted: TokenFlops | None) -> Pace:
    """By what was given of the speed, whichever way."""
    more = _more(asked.recompute, counted)
    if asked.hardware_tflops is not None:
        model = None if more is None else asked.hardware_tflops / more
        return Pace(model, asked.hardware_tflops, _tokens(model, counted))
    model = asked.model_tflops
    if asked.model_flops is not None and asked.step_time_s is not None and asked.gpus is not None:
        model = achieved_tflops(asked.model_flops, asked.step_time_s, asked.gpus)
    if model is not None:
        return Pace(model, _times(model, more), _tokens(model, counted))
    tokens = _tokens_per_gpu(asked)
    if tokens is None or counted is None:
        return Pace(tokens_per_s=tokens)
    model = counted.model * tokens / TERA
    return Pace(model, _times(model, more), tokens)


def _more(recompute: Recompute, counted: TokenFlops | None) -> float | None:
    """Hardware FLOPs over model FLOPs; None where that is not known."""
    if counted is None:
        return {Recompute.NONE: 1.0, Recompute.FULL: 4 / 3}.get(recompute)
    hardware = counted.hardware(recompute)
    return None if hardware is None else hardware / counted.model


def _tokens_per_gpu(asked: MfuQuestion) -> float | None:
    if asked.tokens_per_s_per_gpu is not None:
        return asked.tokens_per_s_per_gpu
    if asked.gpu_hours is not None and asked.tokens_total is not None:
        return asked.tokens_total / (asked.gpu_hours * 3600)
    total = asked.tokens_per_s
    if total is None and asked.tokens_per_step is not None and asked.step_time_s is not None:
        total = asked.tokens_per_step / asked.step_time_s
    return None if total is None or asked.gpus is None else total / asked.gpus


def _tokens(model_tflops: float | None, counted: TokenFlops | None) -> float | None:
    return None if counted is None or model_tflops is None else model_tflops * TERA / counted.model


def _was_mfu(asked: MfuQuestion, mfu: float | None) -> float | None:
    if asked.was_mfu is not None or mfu is None or asked.was_step_time_s is None or asked.step_time_s is None:
        return asked.was_mfu
    return later_mfu(mfu, asked.step_time_s, asked.was_step_time_s)


def _over(tflops: float | None, peak: GpuPeak | None) -> float | None:
    return None if tflops is None or peak is None else tflops / peak.dense_tflops


def _times(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one * other
