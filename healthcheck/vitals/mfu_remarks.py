"""What has to be said beside an MFU: why there is none, what would fit, what looks odd in the inputs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from msgspec import Struct

from healthcheck.model.message import Arg, Message, listed, phrase, say
from healthcheck.model.vitals_mfu import Formula, GpuPeak, GpuRow, MfuQuestion, ModelShape, Recompute
from healthcheck.vitals.formulas import TokenFlops, parameters
from healthcheck.vitals.peaks import near, row_of

# Rules of thumb.
FITTING_MFU = 0.40
"""A good training; used to say which inputs would be consistent."""
SUSPICIOUSLY_LOW = 0.01
CLAIM_WITHIN = 0.01
"""A printed share follows from the inputs within one percentage point."""
_PEAK_WITHIN = 0.05
_SHAPE_WITHIN = 4.0


class Worked(Struct, frozen=True):
    """What was worked out, before it is doubted; None where unknown. TFLOP/s per GPU, and shares of the peak."""

    peak: GpuPeak | None
    model_tflops: float | None
    hardware_tflops: float | None
    mfu: float | None
    hfu: float | None
    was_mfu: float | None


def refusal_of(asked: MfuQuestion, table: Sequence[GpuRow], found: Worked) -> Message | None:
    """Why there is no grade; None where there is one."""
    peak, mfu = found.peak, found.mfu
    if peak is None and mfu is None:
        return _no_peak(asked, table)
    if peak is not None and mfu is not None and mfu > 1 and found.model_tflops is not None:
        return say("mfu.refused.above", tflops=found.model_tflops, **_beside(asked, peak), mfu=mfu)
    if peak is not None and found.hfu is not None and found.hfu > 1 and found.hardware_tflops is not None:
        return say("mfu.refused.hardware", tflops=found.hardware_tflops, **_beside(asked, peak), hfu=found.hfu)
    if mfu is not None and mfu > 1:
        return say("mfu.refused.ratio", mfu=mfu)
    if mfu is not None and found.was_mfu is not None and found.was_mfu > 1:
        return say("mfu.refused.before", step=asked.was_step_time_s or 0.0, mfu=found.was_mfu)
    return say("mfu.refused.selective") if mfu is None else None


def _beside(asked: MfuQuestion, peak: GpuPeak) -> dict[str, Arg]:
    """The peak that a number is above, in words."""
    gpu = say("mfu.peak.given") if asked.peak_tflops is not None else peak.gpu
    return {"gpu": gpu, "dtype": asked.dtype.upper(), "peak": peak.dense_tflops}


def _no_peak(asked: MfuQuestion, table: Sequence[GpuRow]) -> Message:
    if asked.gpu is None:
        return say("mfu.refused.no_gpu")
    row = row_of(asked.gpu, table)
    if row is None:
        return say("mfu.refused.gpu", gpu=asked.gpu, near=", ".join(near(asked.gpu, table)))
    known = ", ".join(dtype.upper() for dtype in row.dense_tflops)
    if asked.dtype in row.lacks:
        return say("mfu.refused.lacks", gpu=row.gpu, dtype=asked.dtype.upper(), known=known)
    return say("mfu.refused.dtype", gpu=row.gpu, dtype=asked.dtype.upper(), known=known)


def would_fit(asked: MfuQuestion, found: Worked) -> tuple[Message, ...]:
    """What would be consistent with the other inputs, where the answer is impossible."""
    if found.peak is None or found.model_tflops is None or max(found.mfu or 0, found.hfu or 0) <= 1:
        return ()
    return tuple(_fits(asked, found.model_tflops / found.peak.dense_tflops / FITTING_MFU))


def _fits(asked: MfuQuestion, times: float) -> Iterator[Message]:
    """`times`: how often a training of that MFU would have to be as fast to be this one."""
    percent = 100 * FITTING_MFU
    if asked.step_time_s is not None:
        yield say("mfu.fit.step", percent=percent, step=asked.step_time_s * times)
    if asked.gpus is not None and (asked.tokens_per_s or asked.step_time_s):
        yield say("mfu.fit.gpus", percent=percent, gpus=math.ceil(asked.gpus * times))
    if asked.tokens_per_s is not None:
        yield say("mfu.fit.rate", percent=percent, rate=asked.tokens_per_s / times)
    if asked.tokens_per_s_per_gpu is not None:
        yield say("mfu.fit.rate_per_gpu", percent=percent, rate=asked.tokens_per_s_per_gpu / times)
    if asked.gpu_hours is not None:
        yield say("mfu.fit.hours", percent=percent, hours=asked.gpu_hours * times)
    yield say("mfu.fit.usual")


def notes_of(
    asked: MfuQuestion,
    table: Sequence[GpuRow],
    formula: Formula | None,
    counted: TokenFlops | None,
    mfu: float | None,
) -> tuple[Message, ...]:
    """What looks odd, or has to be known to read the numbers."""
    return (
        *_of_value(asked, mfu),
        *_of_peak(asked, table),
        *_of_recompute(asked, counted),
        *_of_shape(asked, formula),
        *_of_claim(asked, mfu),
    )


def _of_value(asked: MfuQuestion, mfu: float | None) -> Iterator[Message]:
    if mfu is None or mfu > 1:
        return
    if mfu > asked.warn_above:
        yield say("mfu.note.high", percent=100 * mfu, limit=100 * asked.warn_above)
    if mfu < SUSPICIOUSLY_LOW:
        yield say("mfu.note.low", limit=100 * SUSPICIOUSLY_LOW)


def _of_peak(asked: MfuQuestion, table: Sequence[GpuRow]) -> Iterator[Message]:
    row = None if asked.gpu is None else row_of(asked.gpu, table)
    if row is None:
        return
    listed_tflops = row.dense_tflops.get(asked.dtype)
    given = asked.peak_tflops
    if given is None:
        if row.note:
            yield say("mfu.note.row", gpu=row.gpu, note=phrase(row.note))
        return
    if listed_tflops is None:
        if asked.dtype in row.lacks:
            yield say("mfu.note.lacks", gpu=row.gpu, dtype=asked.dtype.upper())
        return
    times = given / listed_tflops
    if abs(times - 2) <= 2 * _PEAK_WITHIN:
        yield say("mfu.note.sparse", given=given, gpu=row.gpu, listed=listed_tflops)
    elif abs(times - 1) > _PEAK_WITHIN:
        yield say("mfu.note.peak", given=given, gpu=row.gpu, listed=listed_tflops, times=times)


def _of_recompute(asked: MfuQuestion, counted: TokenFlops | None) -> Iterator[Message]:
    if asked.recompute is Recompute.NONE:
        return
    if asked.recompute is Recompute.SELECTIVE and (counted is None or not counted.attention):
        yield say("mfu.note.selective")
    else:
        yield say("mfu.note.recompute")


def _of_shape(asked: MfuQuestion, formula: Formula | None) -> Iterator[Message]:
    """What was given and not used, and an N that the shape cannot have."""
    shape = asked.shape
    if formula is Formula.SIX_N and asked.formula is None:
        unused = [f"--{name.replace('_', '-')}" for name in ("layers", "hidden", "seq_len") if getattr(shape, name)]
        if unused:
            yield say("mfu.note.unused", options=listed(unused))
    n = parameters(shape)
    if n is None or shape.layers is None or shape.hidden is None:
        return
    of_shape = 12.0 * shape.layers * shape.hidden**2 + (shape.vocab or 0) * shape.hidden
    if not 1 / _SHAPE_WITHIN <= n / of_shape <= _SHAPE_WITHIN:
        yield say("mfu.note.shape", params=n, of_shape=of_shape)


def _of_claim(asked: MfuQuestion, mfu: float | None) -> Iterator[Message]:
    claimed = asked.claimed_mfu
    if claimed is None or mfu is None:
        return
    if abs(claimed - mfu) <= CLAIM_WITHIN:
        yield say("mfu.note.follows", claimed=100 * claimed)
    elif asked.step_time_s is not None:
        step = asked.step_time_s * mfu / claimed
        yield say("mfu.note.does_not_follow.step", claimed=100 * claimed, percent=100 * mfu, step=step)
    else:
        yield say("mfu.note.does_not_follow", claimed=100 * claimed, percent=100 * mfu)


def problem_of(shape: ModelShape, formula: Formula | None) -> tuple[str, str] | None:
    """(field of the shape, what is wrong and what would be right) of the first contradiction, None without one."""
    total, active = shape.params, shape.active_params
    if total is not None and active is not None and active > total:
        return "active_params", f"{active:,.0f} is above the {total:,.0f} of --params, which counts all experts"
    if shape.heads is not None and shape.kv_heads is not None and shape.heads % shape.kv_heads:
        return "kv_heads", f"{shape.kv_heads} does not divide the {shape.heads} of --heads"
    if shape.heads is not None and shape.hidden is not None and shape.head_dim is None and shape.hidden % shape.heads:
        return "heads", f"{shape.heads} does not divide --hidden {shape.hidden}; give --head-dim where it is not h/n"
    n = parameters(shape)
    if formula is Formula.TORCHTITAN and n is not None and shape.vocab and shape.hidden:
        looked_up = shape.vocab * shape.hidden
        if looked_up >= n:
            return "vocab", f"the embedding of {looked_up:,} parameters would be more than the whole model of {n:,.0f}"
    return None
