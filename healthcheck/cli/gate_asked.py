"""What is asked of a gate on the command line, read and checked."""

from __future__ import annotations

from pathlib import Path

from healthcheck.cli.durations import duration_or_zero_s, duration_s
from healthcheck.errors import InputError
from healthcheck.model.gate import GateAsked
from healthcheck.planning.gate_plan import LEAST_BUDGET_S

MOST_S = 7 * 86400.0


def gate_asked(
    budget: str, fresh_for: str | None, min_nodes: int | None, healthy: Path | None, exclude: Path | None
) -> GateAsked:
    """The wishes as values; InputError for the first that is wrong."""
    if min_nodes is not None and healthy is None and exclude is None:
        raise InputError(
            "--min-nodes", "needs --healthy-hosts FILE or --exclude-file FILE: the job has to start on the proven nodes"
        )
    budget_s = duration_s("--budget", budget)
    check_budget(budget_s, budget)
    fresh_s = 0.0 if fresh_for is None else duration_or_zero_s("--fresh-for", fresh_for)
    return GateAsked(budget_s, fresh_s, min_nodes, str(healthy or ""), str(exclude or ""))


def check_budget(budget_s: float, given: str) -> None:
    """Too little to measure anything in, or so much that it is a mistake."""
    if not LEAST_BUDGET_S <= budget_s <= MOST_S:
        raise InputError("--budget", f"must lie between {LEAST_BUDGET_S:.0f}s and 7d, got {given}")


def check_min_nodes(asked: GateAsked | None, hosts: int) -> None:
    """More nodes than were named are never there."""
    if asked is not None and asked.min_nodes is not None and asked.min_nodes > hosts:
        raise InputError("--min-nodes", f"asks for {asked.min_nodes} nodes, and {hosts} are named")
