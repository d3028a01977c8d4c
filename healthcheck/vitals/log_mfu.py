"""MFU and HFU of ours, from the rate of a log and what the log or the user says of model and GPUs."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from healthcheck.model.message import Message, listed, say
from healthcheck.model.training import LogFacts, LogRemark
from healthcheck.model.vitals_log import Rate
from healthcheck.model.vitals_mfu import Formula, GpuRow, MfuAnswer, MfuQuestion, ModelShape
from healthcheck.vitals.mfu import answer

COUNTS_WITHIN = 0.15
"""Rule of thumb: what a formula leaves out and what versions count otherwise is less."""
ATTENTION_WITHIN = 0.5
"""Rule of thumb: 6 N leaves attention out, which a framework counts."""


class Ours(Struct, frozen=True):
    """Both None where something is missing (`missing` says what) or where they are impossible (a remark says why)."""

    mfu: float | None = None
    hfu: float | None = None
    basis: Message | None = None
    remarks: tuple[LogRemark, ...] = ()
    missing: tuple[Message, ...] = ()


def mfu_of(
    asked: MfuQuestion, facts: LogFacts, rate: Rate | None, printed: float | None, table: Sequence[GpuRow]
) -> Ours:
    """What is `asked` of model and GPUs wins; what is known of the run fills in the rest. Nothing is assumed.

    `printed`: TFLOP/s per GPU as the framework prints them.
    """
    shape, gpu, gpus = _filled(asked.shape, facts), asked.gpu or facts.gpu, asked.gpus or facts.gpus
    per_gpu, tokens = (None, None) if rate is None else (rate.per_gpu, rate.tokens_per_s)
    wanted = {
        "--params": shape.params or shape.active_params or (shape.layers and shape.hidden),
        "--gpu": gpu,
        "--gpus": gpus or per_gpu,
    }
    missing = [option for option, value in wanted.items() if not value]
    if missing:
        return Ours(missing=(say("log.missing.mfu", options=listed(missing)),))
    if per_gpu is None and tokens is None:
        return Ours()  # what would give tokens is said of the rate
    known = {"shape": shape, "gpu": gpu, "gpus": gpus}
    pace = {"tokens_per_s_per_gpu": per_gpu, "tokens_per_s": None if per_gpu else tokens}
    found = answer(replace(asked, **known, **pace), table)
    notes = tuple(LogRemark(note, 0) for note in found.notes)
    if found.refused is not None:
        fits = tuple(LogRemark(each, 0) for each in found.would_fit)
        return Ours(remarks=(LogRemark(found.refused, 0), *fits, *notes), missing=(say("log.mfu_refused"),))
    assert found.peak is not None
    basis = say(
        "log.mfu_basis",
        formula=found.formula.value if found.formula else "",
        gpu=found.peak.gpu,
        peak=found.peak.dense_tflops,
        dtype=asked.dtype.value.upper(),
    )
    lacks = (say("log.missing.attention"),) if found.formula is Formula.SIX_N else ()
    return Ours(found.mfu, found.hfu, basis, (*_clash(found, printed), *notes), lacks)


def _filled(shape: ModelShape, facts: LogFacts) -> ModelShape:
    told = {name: getattr(facts, name) for name in ("params", "layers", "hidden", "vocab", "seq_len")}
    shape = replace(shape, **{name: value for name, value in told.items() if getattr(shape, name) is None})
    if shape.layers is None or shape.hidden is None:  # without both, the rest of the shape counts for nothing
        shape = replace(shape, layers=None, hidden=None, seq_len=None, vocab=None)
    return shape


def _clash(found: MfuAnswer, printed: float | None) -> tuple[LogRemark, ...]:
    """Model FLOPs of ours and what the framework prints are two counts of one thing, and need not be the same count."""
    ours = found.hardware_tflops if printed and found.hardware_tflops and found.mfu != found.hfu else None
    counts = [count for count in (found.achieved_tflops, ours) if count is not None]
    above = ATTENTION_WITHIN if found.formula is Formula.SIX_N else COUNTS_WITHIN
    if printed is None or not counts or any(-COUNTS_WITHIN <= printed / count - 1 <= above for count in counts):
        return ()
    return (LogRemark(say("log.count_clash", printed=printed, ours=counts[0]), 0),)
