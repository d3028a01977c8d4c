"""What `healthcheck vitals budget` was given, as one question; contradictions are refused first."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from healthcheck.cli.vitals_amounts import amount, only_one
from healthcheck.errors import InputError
from healthcheck.model.message import Message
from healthcheck.model.vitals_mfu import TARGET_SHARE, BudgetQuestion, Dtype, MeasuredBusbw
from healthcheck.parsing.amounts import bandwidth_of, bytes_of, count_of, fraction_of, seconds_of


class BudgetOptions(Struct, frozen=True):
    """Options as they were written, None where they were not."""

    params: str | None
    gradient_bytes: str | None
    busbw: str | None
    record: str | None
    collective_time: str | None
    step_time: str | None
    target: str | None
    claimed_share: str | None
    dtype: Dtype
    param_dtype: Dtype | None
    dp: int | None
    gpus: int | None
    tp: int
    pp: int
    zero: int


def question(given: BudgetOptions, measured: Callable[[int | None], MeasuredBusbw | Message | None]) -> BudgetQuestion:
    """The question; InputError naming the option that is missing, wrong, or at odds with another one.

    `measured` reads the check-up that was named; it is given how many GPUs the training has.
    """
    only_one((("--params", given.params), ("--gradient-bytes", given.gradient_bytes)), "how large gradients are")
    ways = (("--busbw", given.busbw), ("--record", given.record), ("--collective-time", given.collective_time))
    only_one(ways, "how fast it goes")
    if given.param_dtype is not None and given.zero == 0:
        raise InputError("--param-dtype", "is what --zero 1, 2 or 3 gathers parameters in; without it nothing is")
    if given.gradient_bytes is not None and (given.tp, given.pp) != (1, 1) and given.gpus is None:
        raise InputError(
            "--gradient-bytes", "is of one GPU: leave out --tp and --pp, or give --gpus for them to divide"
        )
    ranks = _ranks(given.dp, given.gpus, given.tp, given.pp)
    sized = given.params is not None or given.gradient_bytes is not None
    _check_complete(given, sized, ranks)
    found = measured(None if ranks is None else ranks * given.tp * given.pp)
    return BudgetQuestion(
        ranks=ranks,
        params=amount("--params", given.params, _parameters),
        gradient_bytes=amount("--gradient-bytes", given.gradient_bytes, bytes_of),
        gradient_dtype=given.dtype,
        param_dtype=given.param_dtype,
        tp=given.tp,
        pp=given.pp,
        zero_stage=given.zero,
        busbw_gbyte_s=amount("--busbw", given.busbw, bandwidth_of),
        measured=found if isinstance(found, MeasuredBusbw) else None,
        unmeasured=found if isinstance(found, Message) else None,
        collective_s=amount("--collective-time", given.collective_time, seconds_of),
        step_time_s=amount("--step-time", given.step_time, seconds_of),
        target_share=amount("--target", given.target, fraction_of) or TARGET_SHARE,
        claimed_share=amount("--claimed-share", given.claimed_share, fraction_of),
    )


def _parameters(text: str) -> float:
    return count_of(text, 1e18)


def _ranks(dp: int | None, gpus: int | None, tp: int, pp: int) -> int | None:
    """N; None where it was not said."""
    if gpus is None:
        return dp
    if tp * pp > gpus:
        raise InputError("--gpus", f"{gpus} are fewer than --tp {tp} x --pp {pp} = {tp * pp}, which one replica needs")
    if gpus % (tp * pp):
        raise InputError("--gpus", f"{gpus} cannot be divided by --tp {tp} x --pp {pp} = {tp * pp}")
    left = gpus // (tp * pp)
    if dp is not None and dp != left:
        raise InputError("--dp", f"{dp} x --tp {tp} x --pp {pp} are {dp * tp * pp} GPUs, and --gpus says {gpus}")
    return left


def _check_complete(given: BudgetOptions, sized: bool, ranks: int | None) -> None:
    if not sized and (given.collective_time is None or given.step_time is None):
        raise InputError(
            "--params",
            "is missing: how large are the gradients? Write for example --params 13B (or --gradient-bytes 26GB; "
            "--collective-time with --step-time needs neither)",
        )
    if sized and ranks is None:
        raise InputError(
            "--dp", "is missing: over how many GPUs are gradients reduced? --gpus with --tp and --pp says it"
        )
    if given.claimed_share is not None and given.step_time is None:
        raise InputError("--claimed-share", "is a share of a step; give --step-time, too")
