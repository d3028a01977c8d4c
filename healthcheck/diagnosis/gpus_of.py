"""Which GPU of a node is slow, or what joins two of them: from pairs around the ring of its GPUs, and its halves."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from statistics import median

from healthcheck.evaluation.reading import told_at
from healthcheck.model.component import Component, gpu, node
from healthcheck.model.finding import CheckResult, Confidence
from healthcheck.model.message import Message, say
from healthcheck.model.reading import Evidence, noted
from healthcheck.model.units import signed
from healthcheck.model.verdict import Verdict

CHECK = "localise.gpu"
STAGE = "localise"
LEAST_LOSS = 0.08
"""Pairs of GPUs of one board differ by one or two percent; one lost link of twelve costs eight."""
_FASTEST_SHARE = 4
_LEAST_PAIRS = 3
Gpus = tuple[int, ...]


def gpu_checks(
    host: str, readings: Mapping[Gpus, float | None], verdict: Verdict, size_bytes: int | None = None
) -> tuple[CheckResult, ...]:
    """One result a GPU whose pairs are both slow; one for the node where a pair alone is; a PASS where nothing differs.

    `readings`: GB/s of each set of GPUs at `size_bytes`, None where the job did not finish. `verdict` is that of the
    node alone.
    """
    pairs = {gpus: value for gpus, value in readings.items() if len(gpus) == 2}
    finished = sorted((value for value in pairs.values() if value is not None), reverse=True)
    if len(pairs) < _LEAST_PAIRS or not finished:
        return ()
    # Most pairs may touch a sick GPU; the fastest quarter shows what the board can do.
    usual = median(finished[: max(2, len(finished) // _FASTEST_SHARE)])
    losses = {gpus: 1.0 if value is None else 1 - value / usual for gpus, value in pairs.items()}
    slow = [gpus for gpus, loss in losses.items() if loss >= LEAST_LOSS]
    evidence = tuple(_quoted(gpus, value, usual, size_bytes) for gpus, value in readings.items())

    def told(component: Component, message: Message, rule: str, sure: Confidence) -> CheckResult:
        name = f"{rule}.{sure.value}"
        return CheckResult(CHECK, component, verdict, message, name, STAGE, evidence=evidence, confidence=sure)

    if not slow:
        message = say("search.gpu.alike", pairs=len(pairs))
        return (CheckResult(CHECK, node(host), Verdict.PASS, message, "slow_gpu.none", STAGE, evidence=evidence),)
    sick = _slow_on_both_sides(slow)
    checks = []
    for index in sick:
        percent = round(100 * min(losses[gpus] for gpus in slow if index in gpus))
        # Between two sick ones a healthy GPU is slow with both neighbours, too.
        beside = any(index in gpus and other in gpus for gpus in slow for other in sick if other != index)
        sure = Confidence.LIKELY if beside else Confidence.CONFIRMED
        checks.append(told(gpu(host, index), say("search.gpu.slow", gpu=index, percent=percent), "slow_gpu", sure))
    for gpus in slow:
        if set(gpus).isdisjoint(sick):
            message = say("search.gpu.pair", a=gpus[0], b=gpus[1], percent=round(100 * losses[gpus]))
            checks.append(told(node(host), message, "slow_gpu_pair", Confidence.LIKELY))
    return tuple(checks)


def _slow_on_both_sides(slow: Collection[Gpus]) -> Sequence[int]:
    met = [index for gpus in slow for index in gpus]
    return sorted({index for index in met if met.count(index) > 1})


def _quoted(gpus: Gpus, value: float | None, usual: float, size_bytes: int | None) -> Evidence:
    source = say("search.gpu.source", gpus=", ".join(map(str, gpus)))
    if value is None:
        return noted(source, say("search.reading_stuck"))
    change = signed(100 * (value / usual - 1), 0)
    measured = told_at(value, size_bytes)
    return noted(source, say("search.reading", measured=measured, expected=round(usual, 1), change=change))
