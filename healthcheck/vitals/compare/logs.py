"""Two logs side by side: step time, tokens/s, goodput and its losses, what the framework prints."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from healthcheck.model.message import Message, listed, say
from healthcheck.model.vitals_compare import Metric, Unit
from healthcheck.model.vitals_log import Goodput, LogVitals, Loss, LossKind
from healthcheck.vitals.compare import noise
from healthcheck.vitals.compare.judging import difference, metric, shown, told

_ROUNDED = 0.01
"""So far apart two numbers of one thing may lie because they were rounded."""
_LEAST_LOSS = 0.005
"""Losses that take less of the wall time in both are not listed."""
_WORK = ("gpus", "global_batch")
"""What nearly every log says, so that it is worth a word where neither does."""
_SHAPE = ("layers", "hidden", "vocab")


class LogPair(Struct, frozen=True):
    """Two logs, and what is not the same in them."""

    before: LogVitals
    after: LogVitals

    def differ(self, fact: str) -> bool:
        """Whether both say this fact, and not the same; a number of parameters may be rounded."""
        one, other = (getattr(side.facts, fact) for side in (self.before, self.after))
        if one is None or other is None:
            return False
        if fact == "params":
            return bool(abs(one - other) > _ROUNDED * max(one, other))
        return bool(one != other)

    @property
    def other_model(self) -> bool:
        """Another model: the same step is another amount of work."""
        return self.differ("params") or any(map(self.differ, _SHAPE))

    @property
    def same_batch(self) -> bool | None:
        """Whether a step of both makes as many tokens, whatever the facts say; None where one does not tell."""
        rates = (self.before.rate, self.after.rate)
        steps = [rate.tokens_per_step for rate in rates if rate is not None and rate.tokens_per_step]
        return abs(steps[0] - steps[1]) <= _ROUNDED * max(steps) if len(steps) == 2 else None

    @property
    def same_version(self) -> bool:
        """Whether both are known to be printed by one version of one framework."""
        versions = {self.before.facts.version, self.after.facts.version}
        return self.before.framework is self.after.framework and len(versions) == 1 and None not in versions


def differences(pair: LogPair) -> Iterator[Message]:
    """What is not the same, in words."""
    before, after = pair.before, pair.after
    if before.framework is not after.framework:
        yield difference("framework", before.framework.value, after.framework.value)
    for fact in ("version", "gpu", "gpus", "params", *_SHAPE, "seq_len", "global_batch", "data_parallel"):
        if pair.differ(fact):
            yield difference(fact, *(shown(getattr(side.facts, fact)) for side in (before, after)))
    for fact in ("gpu", "gpus", "params", "seq_len", "global_batch"):
        said = [getattr(side.facts, fact) is not None for side in (before, after)]
        if all(said) or (fact == "global_batch" and pair.same_batch):
            continue
        if any(said):
            yield say("vcompare.unsaid", fact=say(f"vcompare.fact.{fact}"))
        elif fact in _WORK:
            yield say("vcompare.unsaid_both", fact=say(f"vcompare.fact.{fact}"))


def metrics(pair: LogPair, floor: float) -> Iterator[Metric | Message]:
    """Every number both hold, and in words what is not compared and why."""
    yield from _speed(pair, floor)
    yield from _goodput(pair, floor)
    yield from _spread(pair, floor)
    yield from _printed(pair, floor)
    yield from _own_mfu(pair, floor)


def _speed(pair: LogPair, floor: float) -> Iterator[Metric | Message]:
    before, after = pair.before, pair.after
    if before.step_time is None or after.step_time is None or before.exit_code or after.exit_code:
        first = before.step_time is None or before.exit_code
        yield say("vcompare.not.no_steps", side="BEFORE" if first else "AFTER")
        return
    why = _not_speed(pair)
    if why is not None:
        yield say("vcompare.not.speed", why=why)
        return
    bar = noise.of_steps(before.step_time, after.step_time, floor)
    work = [fact for fact in ("gpus", "global_batch") if pair.differ(fact)]
    if not work and pair.same_batch is False:
        work = ["global_batch"]
    if work:
        yield say("vcompare.not.step_time", what=listed(say(f"vcompare.fact.{fact}") for fact in work))
    else:
        times = (before.step_time.median_s, after.step_time.median_s)
        yield told("step_time", metric("step_time", Unit.SECONDS, times, bar, speed=True))
    rates = (before.rate, after.rate)
    totals = tuple(None if rate is None else rate.tokens_per_s for rate in rates)
    each = tuple(None if rate is None else rate.per_gpu for rate in rates)
    if not pair.differ("gpus"):
        one = metric("tokens_per_s", Unit.TOKENS_PER_S, (totals[0], totals[1]), bar, better="higher", speed=True)
        yield told("tokens_per_s", one)
    if pair.differ("gpus") or totals == (None, None):
        one = metric("tokens_per_gpu", Unit.TOKENS_PER_S, (each[0], each[1]), bar, better="higher", speed=True)
        yield told("tokens_per_gpu", one)


def _not_speed(pair: LogPair) -> Message | None:
    """Why step time and tokens/s say nothing about each other."""
    if pair.other_model:
        return say("vcompare.why.model")
    if pair.differ("seq_len"):
        return say("vcompare.why.seq_len")
    return say("vcompare.why.gpu") if pair.differ("gpu") else None


def _goodput(pair: LogPair, floor: float) -> Iterator[Metric | Message]:
    """The share; and each loss as a share of the wall time."""
    before, after = pair.before.goodput, pair.after.goodput
    if before is None or after is None or not (before.wall_clock and after.wall_clock):
        yield say("vcompare.not.goodput")
        return
    windows = (before.window_s, after.window_s)
    if not min(windows) > 0:
        yield say("vcompare.not.goodput")
        return
    bar = noise.of_losses(before.losses, after.losses, windows, floor)
    yield told("goodput", metric("goodput", Unit.SHARE, (before.share, after.share), bar, better="higher"))
    for kind in LossKind:
        lost = tuple(_lost(side, kind) for side in (before, after))
        shares = (lost[0].seconds / windows[0], lost[1].seconds / windows[1])
        if max(shares) >= _LEAST_LOSS:
            own = noise.of_losses(lost[:1], lost[1:], windows, floor)
            yield told("loss", metric("loss", Unit.SHARE, shares, own, of=say(f"training.loss.{kind.value}")))


def _lost(goodput: Goodput, kind: LossKind) -> Loss:
    return next((loss for loss in goodput.losses if loss.kind is kind), Loss(kind, 0.0, 0))


def _spread(pair: LogPair, floor: float) -> Iterator[Metric | Message]:
    before, after = pair.before.step_time, pair.after.step_time
    if before is None or after is None:
        return
    if before.interval_means is not after.interval_means:
        yield say("vcompare.not.spread")
        return
    bar = noise.of_spread(before, after, floor)
    yield told("spread", metric("spread", Unit.SHARE, (before.spread, after.spread), bar))


def _printed(pair: LogPair, floor: float) -> Iterator[Metric | Message]:
    """TFLOP/s as printed: only of one version, for versions count FLOPs in different ways."""
    before, after = pair.before.printed, pair.after.printed
    if before is None or after is None:
        return
    if not pair.same_version:
        yield say("vcompare.not.printed")
        return
    times = (pair.before.step_time, pair.after.step_time)
    bar = noise.of_inputs(floor) if times[0] is None or times[1] is None else noise.of_steps(times[0], times[1], floor)
    tflops = (before.tflops_per_gpu, after.tflops_per_gpu)
    if None not in tflops:
        yield told("printed", metric("printed", Unit.TFLOPS, tflops, bar, better="higher"))


def _own_mfu(pair: LogPair, floor: float) -> Iterator[Metric | Message]:
    before, after = pair.before, pair.after
    if before.mfu is None or after.mfu is None:
        return
    if before.mfu_basis != after.mfu_basis:
        yield say("vcompare.not.mfu_basis")
        return
    yield told(
        "mfu", metric("mfu", Unit.SHARE, (before.mfu, after.mfu), noise.of_inputs(floor, before.mfu), better="higher")
    )
