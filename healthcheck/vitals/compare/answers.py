"""Two calculations side by side: MFU only of one formula and one peak, speed only of one model on one kind of GPU."""

from __future__ import annotations

from collections.abc import Iterator

from healthcheck.model.message import Message, say
from healthcheck.model.vitals_compare import Metric, Unit
from healthcheck.model.vitals_mfu import MfuAnswer
from healthcheck.vitals.compare import noise
from healthcheck.vitals.compare.judging import difference, metric, shown, told


def differences(before: MfuAnswer, after: MfuAnswer) -> Iterator[Message]:
    """What is not the same, in words."""
    pairs = (
        ("formula", _formula(before), _formula(after)),
        ("peak", _peak(before), _peak(after)),
        ("dtype", before.dtype.value, after.dtype.value),
        ("recompute", before.recompute.value, after.recompute.value),
        ("gpus", _number(before.gpus), _number(after.gpus)),
        ("params", _number(before.shape.params), _number(after.shape.params)),
        ("seq_len", _number(before.shape.seq_len), _number(after.shape.seq_len)),
        ("batch", _number(before.tokens_per_step), _number(after.tokens_per_step)),
    )
    unknown = say("vcompare.unknown")
    differing = [(fact, *sides) for fact, *sides in pairs if sides[0] != sides[1]]
    for fact, one, other in differing:
        yield difference(fact, one or unknown, other or unknown)
    named = {fact for fact, *_ in differing}
    if before.shape != after.shape and not named & {"params", "seq_len"}:
        yield say("vcompare.other_shape")


def _formula(answer: MfuAnswer) -> str:
    return "" if answer.formula is None else answer.formula.value


def _peak(answer: MfuAnswer) -> str:
    return "" if answer.peak is None else f"{answer.peak.dense_tflops:g} TFLOP/s"


def _number(value: float | None) -> str:
    return "" if value is None else shown(value)


def metrics(before: MfuAnswer, after: MfuAnswer, floor: float) -> Iterator[Metric | Message]:
    """Every number both hold, and in words what is not compared and why."""
    same_count = before.formula is after.formula and before.formula is not None
    same_peak = _peak(before) == _peak(after) != ""
    relative = noise.of_inputs(floor)
    for side, answer in (("BEFORE", before), ("AFTER", after)):
        if answer.refused is not None:
            yield say("vcompare.not.refused", side=side, why=answer.refused)
    if not same_count or not same_peak:
        yield say("vcompare.not.formula" if not same_count else "vcompare.not.peak")
    elif before.mfu is not None and after.mfu is not None:
        bar = noise.of_inputs(floor, before.mfu)
        found = metric("mfu", Unit.SHARE, (before.mfu, after.mfu), bar, better="higher", speed=True)
        yield told("mfu", found)
    if before.shape != after.shape or not same_peak:
        yield say("vcompare.not.speed", why=say("vcompare.why.model" if same_peak else "vcompare.why.gpu"))
        return
    if before.gpus == after.gpus and before.tokens_per_step == after.tokens_per_step:
        times = (before.step_time_s, after.step_time_s)
        if None not in times:
            yield told("step_time", metric("step_time", Unit.SECONDS, times, relative, speed=True))
    rates = (before.tokens_per_s_per_gpu, after.tokens_per_s_per_gpu)
    if rates != (None, None):
        found = metric("tokens_per_gpu", Unit.TOKENS_PER_S, rates, relative, better="higher", speed=True)
        yield told("tokens_per_gpu", found)
