"""The search in a plan: when it runs, its first rounds, what it takes at least and at most."""

from __future__ import annotations

import shlex
from collections.abc import Callable

from msgspec import Struct

from healthcheck.evaluation.limits import expectation_gbyte_s
from healthcheck.model.collective import Collective
from healthcheck.model.command import CollectiveJob
from healthcheck.model.message import say
from healthcheck.model.playbook import Stage
from healthcheck.planning.estimate import SearchCost, job_seconds, search_costs
from healthcheck.planning.rails import PairWay, pair_job
from healthcheck.planning.stages import multi_node_jobs
from healthcheck.planning.walk import ring_rounds, tournament
from healthcheck.workflows.request import RunRequest

STAGE = "localise"
TOURNAMENT_UP_TO = 8
Argv = Callable[[RunRequest, CollectiveJob], tuple[str, ...]]


class PlannedSearch(Struct, frozen=True):
    """`rounds` are the pairs of the first ones, which do not depend on what is read; `example` is the first job."""

    when: str
    rounds: tuple[tuple[tuple[str, str], ...], ...]
    example: CollectiveJob
    clean: SearchCost
    worst: SearchCost


def planned_search(request: RunRequest) -> PlannedSearch | None:
    """None where the playbook has no search, or there are too few hosts for one."""
    stage, multi = request.playbook.stage(STAGE), request.playbook.stage("multi_node")
    if stage is None or multi is None or not request.wants(STAGE) or len(request.hosts) < 2:
        return None
    names = [host.name for host in request.hosts]
    first = tournament(names) if len(names) <= TOURNAMENT_UP_TO else tuple(filter(None, ring_rounds(names)[:2]))
    hosts = {host.name: host for host in request.hosts}
    pair = first[0][0]
    way = PairWay(request.playbook, multi, Collective.ALL_REDUCE, 1, _expected(request, 2))
    start = None if request.launch_from == "local" else pair.a
    example = pair_job(2, pair, (hosts[pair.a], hosts[pair.b]), start, way)
    joint = multi_node_jobs(request.playbook, multi, request.hosts, None)[0]
    clean, worst = search_costs(
        len(names),
        job_seconds(example, way.expected),
        job_seconds(joint, _expected(request, len(names))),
        request.max_rounds,
        _budget(request, stage),
        TOURNAMENT_UP_TO,
    )
    rounds = tuple(tuple((pair.a, pair.b) for pair in pairs) for pairs in first)
    return PlannedSearch(stage.when, rounds, example, clean, worst)


def _budget(request: RunRequest, stage: Stage) -> float | None:
    return request.budget_s if request.budget_s is not None else stage.budget


def _expected(request: RunRequest, nodes: int) -> float:
    return expectation_gbyte_s(request.platform, Collective.ALL_REDUCE, nodes)


def as_document(search: PlannedSearch) -> dict[str, object]:
    """The search in the JSON of a plan."""
    costs = {"clean": search.clean, "worst": search.worst}
    return {
        "when": search.when,
        "first_rounds": search.rounds,
        **{
            name: {"rounds": cost.rounds, "seconds": round(cost.seconds, 1), "node_hours": round(cost.node_hours, 2)}
            for name, cost in costs.items()
        },
    }


def as_lines(search: PlannedSearch, request: RunRequest, argv: Argv) -> list[str]:
    """The search in the text of a plan."""
    head = say("plan.search_if_slow") if search.when == "not_pass" else say("plan.search_always")
    lines = [str(head)]
    for number, pairs in enumerate(search.rounds, start=2):
        a, b = pairs[0]
        lines.append(f"  {say('plan.search_round', round=number, pairs=len(pairs), a=a, b=b)}")
    lines.append(f"    {shlex.join(argv(request, search.example))}")
    lines.append(f"  {say('plan.search_then')}")
    clean, worst = (
        {"rounds": cost.rounds, "minutes": max(cost.seconds / 60, 0.1), "hours": cost.node_hours}
        for cost in (search.clean, search.worst)
    )
    return [*lines, f"  {say('plan.search_clean', **clean)}", f"  {say('plan.search_worst', **worst)}"]
