"""Two calculations side by side: MFU only of one formula and one peak, speed only of one model on one kind of GPU."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import astuple

from healthcheck.model.message import Message, listed, say
from healthcheck.model.vitals_compare import Metric, Noise, Unit
from healthcheck.model.vitals_mfu import MfuAnswer
from healthcheck.vitals.compare import noise
from healthcheck.vitals.compare.judging import difference, metric, said_by_one, shown, told


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
    unlike = [(fact, *sides) for fact, *sides in pairs if sides[0] != sides[1]]
    for fact, one, other in unlike:
        yield difference(fact, one, other) if one and other else said_by_one(fact)
    same = _same_model(before, after)
    named = {fact for fact, one, other in unlike if (one and other) or same is None}
    if same is not True and not named & {"params", "seq_len"}:
        yield say("vcompare.other_shape") if same is False else said_by_one("shape")


def _formula(answer: MfuAnswer) -> str:
    return "" if answer.formula is None else answer.formula.value


def _peak(answer: MfuAnswer) -> str:
    return "" if answer.peak is None else f"{answer.peak.dense_tflops:g} TFLOP/s"


def _number(value: float | None) -> str:
    return "" if value is None else shown(value)


def _same_model(before: MfuAnswer, after: MfuAnswer) -> bool | None:
    """None where one says what the other does not, and nothing else speaks against it."""
    sides = list(zip(astuple(before.shape), astuple(after.shape), strict=True))
    if any(one != other for one, other in sides if one is not None and other is not None):
        return False
    return True if before.shape == after.shape else None


def _same_peak(before: MfuAnswer, after: MfuAnswer) -> bool | None:
    """None where one of them, or neither, has one."""
    one, other = _peak(before), _peak(after)
    return one == other if one and other else None


def metrics(before: MfuAnswer, after: MfuAnswer, floor: float) -> Iterator[Metric | Message]:
    """Every number both hold, and in words what is not compared and why."""
    same_count = before.formula is after.formula and before.formula is not None
    same_model, same_peak = _same_model(before, after), _same_peak(before, after)
    relative = noise.of_inputs(floor)
    for side, answer in (("BEFORE", before), ("AFTER", after)):
        if answer.refused is not None:
            yield say("vcompare.not.refused", side=side, why=answer.refused)
    if not same_count:
        yield say("vcompare.not.formula")
    elif not same_peak:
        yield say("vcompare.not.peak_unsaid" if same_peak is None else "vcompare.not.peak")
    elif before.mfu is not None and after.mfu is not None:
        bar = noise.of_inputs(floor, before.mfu)
        found = metric("mfu", Unit.SHARE, (before.mfu, after.mfu), bar, better="higher", speed=True)
        yield told("mfu", found)
    if not (same_model and same_peak):
        unlike = {"vcompare.why.gpu": same_peak, "vcompare.why.model": same_model}
        why = next((code for code, same in unlike.items() if same is False), "vcompare.why.unsaid")
        yield say("vcompare.not.speed", why=say(why))
        return
    yield from _step_time(before, after, relative)
    rates = (before.tokens_per_s_per_gpu, after.tokens_per_s_per_gpu)
    if rates != (None, None):
        found = metric("tokens_per_gpu", Unit.TOKENS_PER_S, rates, relative, better="higher", speed=True)
        yield told("tokens_per_gpu", found)


def _step_time(before: MfuAnswer, after: MfuAnswer, bar: Noise) -> Iterator[Metric | Message]:
    """Of the same amount of work on both sides; in words where it is not, or nobody knows."""
    times = (before.step_time_s, after.step_time_s)
    if None in times:
        return
    work = (("gpus", before.gpus, after.gpus), ("batch", before.tokens_per_step, after.tokens_per_step))
    unlike = [(say(f"vcompare.fact.{fact}"), None not in sides) for fact, *sides in work if sides[0] != sides[1]]
    if other := [fact for fact, both_say in unlike if both_say]:
        yield say("vcompare.not.step_time", what=listed(other))
    elif unlike:
        yield say("vcompare.not.step_unsaid", what=listed(fact for fact, _ in unlike))
    else:
        yield told("step_time", metric("step_time", Unit.SECONDS, times, bar, speed=True))
