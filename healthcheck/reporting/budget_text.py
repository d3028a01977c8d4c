"""The answer of `vitals budget` as lines: the answer first, then how it came about and what to know about it."""

from __future__ import annotations

from collections.abc import Iterator

from healthcheck.model.message import Message, say
from healthcheck.model.vitals_mfu import CollectiveBudget
from healthcheck.reporting.mfu_text import answer_lines

GIGA = 1e9


def budget_lines(found: CollectiveBudget) -> list[str]:
    """The first line answers; every other one begins with what it is about."""
    line = _line(found)
    return answer_lines(say("budget.line.simulated", line=line) if found.simulated else line, tuple(_rows(found)))


def _line(found: CollectiveBudget) -> Message:
    if found.exit_code and found.source is not None:
        return say("budget.line.unknown", why=found.source)
    target = 100 * found.target_share
    if found.collective_s is None:
        step, needed = found.step_time_s, found.needed_busbw_gbyte_s
        if step is not None and needed is not None:
            return say("budget.line.needed", busbw=needed, target=target, step=step)
        return say("budget.line.traffic", traffic=(found.traffic_bytes or 0) / GIGA)
    if found.share is None or found.step_time_s is None:
        return say("budget.line.time", time=found.collective_s)
    told = {"time": found.collective_s, "share": 100 * found.share, "step": found.step_time_s}
    measured = found.measured is None and (found.source is None or found.source.code == "budget.busbw.effective")
    line = say("budget.line.measured", **told) if measured else say("budget.line.share", **told)
    return say("budget.line.over", line=line, target=target) if found.share > found.target_share else line


def _rows(found: CollectiveBudget) -> Iterator[tuple[Message, Message | str]]:
    if found.gradient_bytes is not None and found.ranks is not None:
        yield say("budget.row.gradients"), _gradients(found, found.gradient_bytes / GIGA, found.ranks)
    if found.formula_text:
        yield say("budget.row.collective"), found.formula_text
    if found.busbw_gbyte_s is not None and found.source is not None:
        yield say("budget.row.busbw"), say("budget.busbw", busbw=found.busbw_gbyte_s, source=found.source)
    if found.needed_busbw_gbyte_s is not None:
        target = 100 * found.target_share
        yield say("budget.row.needed"), say("budget.needed", busbw=found.needed_busbw_gbyte_s, target=target)
    for message in found.notes:
        yield say("mfu.row.note"), message


def _gradients(found: CollectiveBudget, size: float, ranks: int) -> Message:
    if found.params is None:
        return say("budget.gradients", size=size, ranks=ranks)
    dtype = found.gradient_dtype.upper()
    return say(
        "budget.gradients.params", size=size, params=found.params, tp=found.tp, pp=found.pp, dtype=dtype, ranks=ranks
    )
