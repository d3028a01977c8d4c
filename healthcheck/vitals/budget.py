"""What the collectives of the gradients cost: time, share of the step if nothing overlaps, the busbw that is needed.

BusBW is what nccl-tests prints, and the factor 2(N-1)/N of an all_reduce is in it: bytes times factor, over BusBW, is
the time. Nothing else is multiplied.
"""

from __future__ import annotations

from collections.abc import Iterator

from healthcheck.model.collective import Collective
from healthcheck.model.message import Message, say
from healthcheck.model.units import Bytes
from healthcheck.model.vitals_mfu import BudgetQuestion, CollectiveBudget, Dtype, MeasuredBusbw
from healthcheck.vitals.mfu_remarks import CLAIM_WITHIN

GIGA = 1e9
_GATHERS = {0: 0, 1: 1, 2: 1, 3: 2}
"""How often parameters are gathered in a step, by ZeRO stage; FSDP that frees them after the forward pass is 3."""


def gradient_bytes(params: float, tp: int, pp: int, dtype: Dtype) -> float:
    """Of one GPU: tensor and pipeline parallel ranks hold a part of the model each."""
    return params / (tp * pp) * dtype.size_bytes


def traffic_bytes(gradients: float, parameters: float, ranks: int, zero_stage: int) -> float:
    """Bytes that BusBW has to carry in a step, by the factors of nccl-tests.

    Stage 0: one all_reduce of the gradients. Stages 1 to 3: a reduce_scatter of them and one all_gather of the
    parameters, or two (stage 3).
    """
    if zero_stage == 0:
        return gradients * Collective.ALL_REDUCE.factor(ranks)
    gathered = parameters * _GATHERS[zero_stage] * Collective.ALL_GATHER.factor(ranks)
    return gradients * Collective.REDUCE_SCATTER.factor(ranks) + gathered


def budget(asked: BudgetQuestion) -> CollectiveBudget:
    """The answer to a question whose numbers are finite and above 0."""
    size = _gradients(asked)
    traffic = None
    if size is not None and asked.ranks is not None:
        traffic = traffic_bytes(size, _parameters(asked, size), asked.ranks, asked.zero_stage)
    busbw = _busbw(asked, traffic)
    seconds = asked.collective_s
    if seconds is None and traffic is not None and busbw is not None:
        seconds = traffic / (busbw * GIGA)
    share = None if seconds is None or asked.step_time_s is None else seconds / asked.step_time_s
    needed = None
    if traffic and asked.step_time_s is not None:
        needed = traffic / (asked.target_share * asked.step_time_s) / GIGA
    return CollectiveBudget(
        params=asked.params,
        gradient_bytes=size,
        gradient_dtype=asked.gradient_dtype,
        param_dtype=_param_dtype(asked),
        ranks=asked.ranks,
        tp=asked.tp,
        pp=asked.pp,
        zero_stage=asked.zero_stage,
        traffic_bytes=traffic,
        busbw_gbyte_s=busbw,
        measured=asked.measured,
        source=asked.unmeasured or _source(asked, busbw),
        collective_s=seconds,
        step_time_s=asked.step_time_s,
        share=share,
        target_share=asked.target_share,
        needed_busbw_gbyte_s=needed,
        claimed_share=asked.claimed_share,
        simulated=asked.measured is not None and asked.measured.simulated,
        formula_text=_formula(asked, size, traffic, busbw),
        notes=tuple(_notes(asked, seconds, share)),
        exit_code=3 if asked.unmeasured is not None else 0,
    )


def _gradients(asked: BudgetQuestion) -> float | None:
    if asked.gradient_bytes is not None or asked.params is None:
        return asked.gradient_bytes
    return gradient_bytes(asked.params, asked.tp, asked.pp, asked.gradient_dtype)


def _param_dtype(asked: BudgetQuestion) -> Dtype:
    return asked.param_dtype or asked.gradient_dtype


def _parameters(asked: BudgetQuestion, gradients: float) -> float:
    """Bytes of the parameters whose gradients have so many."""
    return gradients / asked.gradient_dtype.size_bytes * _param_dtype(asked).size_bytes


def _busbw(asked: BudgetQuestion, traffic: float | None) -> float | None:
    """As given, as measured, or what a measured time makes of the traffic."""
    if asked.busbw_gbyte_s is not None:
        return asked.busbw_gbyte_s
    if asked.measured is not None:
        return asked.measured.gbyte_s
    return traffic / asked.collective_s / GIGA if traffic and asked.collective_s is not None else None


def _source(asked: BudgetQuestion, busbw: float | None) -> Message | None:
    if busbw is None:
        return None
    if asked.measured is not None:
        return _job(asked.measured)
    if asked.collective_s is not None:
        return say("budget.busbw.effective", time=asked.collective_s)
    return say("budget.busbw.given")


def _job(found: MeasuredBusbw) -> Message:
    small, large = (_size(size) for size in found.sizes_bytes)
    sizes = say("budget.size", size=large) if small == large else say("budget.sizes", small=small, large=large)
    return say(
        "budget.busbw.record", job=found.job, run_id=found.run_id, hosts=found.hosts, ranks=found.ranks, sizes=sizes
    )


def _size(size_bytes: int) -> str:
    """`8 GiB`, of a size that nccl-tests cut a little so that it divides by the ranks, too."""
    asked = 1 << max(0, size_bytes - 1).bit_length()
    text = str(Bytes(asked if asked - size_bytes < asked / 1000 else size_bytes))
    return f"{text[:-1]} {text[-1]}iB" if text[-1].isalpha() else f"{text} B"


def _formula(asked: BudgetQuestion, size: float | None, traffic: float | None, busbw: float | None) -> str:
    """What was multiplied and divided, for a pocket calculator; empty where nothing was."""
    if traffic is None or size is None or asked.ranks is None:
        return ""
    n, gradients = asked.ranks, f"{size / GIGA:.4g} GB"
    one = f"({n}-1)/{n}"
    parameters = f"{_parameters(asked, size) / GIGA:.4g} GB"
    words = {
        0: f"all_reduce {gradients} x 2{one}",
        3: f"reduce_scatter {gradients} x {one} + 2 all_gather {parameters} x {one}",
    }.get(asked.zero_stage, f"reduce_scatter {gradients} x {one} + all_gather {parameters} x {one}")
    sent = f"{words} = {traffic / GIGA:.4g} GB"
    if busbw is None or asked.collective_s is not None:
        return sent
    return f"{sent}; / {busbw:.5g} GB/s = {traffic / GIGA / busbw:.4g} s"


def _notes(asked: BudgetQuestion, seconds: float | None, share: float | None) -> Iterator[Message]:
    if asked.ranks == 1:
        yield say("budget.note.nothing")
    if share is not None and share > 1:
        measured = asked.collective_s is not None
        yield say("budget.note.above.measured") if measured else say("budget.note.above")
    if share is not None and asked.claimed_share is not None:
        claimed = 100 * asked.claimed_share
        if abs(share - asked.claimed_share) <= CLAIM_WITHIN:
            yield say("mfu.note.follows", claimed=claimed)
        else:
            yield say("mfu.note.does_not_follow", claimed=claimed, percent=100 * share)
    found = asked.measured
    spans_nodes = asked.collective_s is None and (found is None or found.hosts > 1)
    if asked.tp > 1 and spans_nodes and seconds is not None:
        yield say("budget.note.tensor", tp=asked.tp, time=seconds * asked.tp)
    if found is None:
        return
    if found.simulated:
        yield say("budget.note.simulated")
    if found.verdict is None:
        yield say("budget.note.no_verdict")
    elif found.verdict != "PASS":
        yield say("budget.note.verdict", verdict=found.verdict)
    if asked.ranks is not None and asked.ranks != found.ranks:
        yield say("budget.note.ranks", measured=found.ranks, ranks=asked.ranks)
    yield say("budget.note.sizes")
