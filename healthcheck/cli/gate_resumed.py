"""A gate that is taken up again: what of its budget was used before it was interrupted counts."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from msgspec.structs import replace

from healthcheck.cli.gate_asked import check_budget
from healthcheck.cli.search_options import search_time_s
from healthcheck.errors import InputError
from healthcheck.model.command import JobOutcome
from healthcheck.model.gate import GateAsked, GateRecord
from healthcheck.model.record import RunRecord
from healthcheck.model.units import Seconds
from healthcheck.planning.gate_plan import LEAST_BUDGET_S

MINUTE_S, HOUR_S, DAY_S = 60.0, 3600.0, 86400.0


def gate_again(
    asked: GateAsked | None,
    budget: str | None,
    record: RunRecord,
    outcomes: Iterable[JobOutcome],
    run: str,
    now: datetime,
    *,
    search: bool,
) -> GateRecord | None:
    """The gate of a run that is taken up again, with what it has behind it; None where it is no gate.

    Where it is searched in (`localise --resume`) it is asked anew, and so is its time: `budget` where that was given.
    InputError where so little is left of the budget that nothing fits into it, and where it began so long ago that what
    it measured says nothing of a job that starts now.
    """
    if asked is None:
        return None
    outcomes = tuple(outcomes)
    _check_age(record, outcomes, run, now, DAY_S if search else asked.budget_s + HOUR_S)
    before = replace(record.gate or GateRecord(asked), asked=asked)
    if search:
        return replace(before, asked=_longer(asked, budget), used_s=0.0)
    used_s = before.used_s + _took_s(record, outcomes)
    if asked.budget_s - used_s < LEAST_BUDGET_S:
        used, whole = Seconds(min(round(used_s), asked.budget_s)), Seconds(asked.budget_s)
        raise InputError(
            "--resume",
            f"{run} had used {used} of its budget of {whole} when it was interrupted, and too little is left to "
            "measure in; begin a new gate (--fresh-for 24h keeps the passes of single nodes)",
        )
    return replace(before, used_s=used_s)


def _check_age(record: RunRecord, outcomes: Iterable[JobOutcome], run: str, now: datetime, most_s: float) -> None:
    """A node may have been broken since, and none of what a resumed run looks at tells that.

    A beginning in the future is that of a clock that was set back: how old it is nobody knows.
    """
    starts = (
        datetime.fromisoformat(text) for text in (record.started_at, *(one.started_at for one in outcomes)) if text
    )
    began = min(starts)
    if not -MINUTE_S <= (now - began).total_seconds() <= most_s:
        raise InputError(
            "--resume",
            f"{run} began to measure at {began:%Y-%m-%d %H:%M} UTC and it is {now:%Y-%m-%d %H:%M} now: what it found "
            "does not say whether a job may start today; begin a new gate (--fresh-for 24h keeps what still holds)",
        )


def _longer(asked: GateAsked, budget: str | None) -> GateAsked:
    budget_s = search_time_s(budget)
    if not budget_s or budget is None:
        return asked
    check_budget(budget_s, budget)
    return replace(asked, budget_s=budget_s)


def _took_s(record: RunRecord, outcomes: Iterable[JobOutcome]) -> float:
    """How long the run was at work; of one that was killed, until the end of the last job that is known."""
    began = datetime.fromisoformat(record.started_at)
    if record.finished_at is not None:
        return (datetime.fromisoformat(record.finished_at) - began).total_seconds()
    ends = (
        (datetime.fromisoformat(one.started_at) - began).total_seconds() + one.result.duration_s
        for one in outcomes
        if one.started_at
    )
    return max((0.0, *ends))
