"""How long it will take, before anything runs. A bound for planning, not a promise."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from healthcheck.model.command import CollectiveJob

# Seconds of launching, NCCL start-up and teardown; measured on real clusters between 5 and 20.
START_UP_S = 10.0
START_UP_PER_HOST_S = 0.05


def job_seconds(job: CollectiveJob, busbw_gbyte_s: float) -> float:
    """Wall time of one job in seconds if it reaches `busbw_gbyte_s` (GB/s), never more than its own deadline.

    Each size is run (warm-up + iterations) times in both placements, and once more per placement to check.
    """
    algbw = busbw_gbyte_s / max(job.collective.factor(job.n_ranks), 0.01)
    moved = sum(job.sizes) * 2 * (job.iterations + job.warmup + (1 if job.check else 0))
    start_up = START_UP_S + START_UP_PER_HOST_S * len(job.hosts)
    return min(start_up + moved / (algbw * 1e9), job.timeout_s)


def stage_seconds(jobs: Sequence[CollectiveJob], busbw_gbyte_s: float) -> float:
    """Wall time of a stage in seconds: jobs that share a host follow each other, the others run at once."""
    per_host: dict[str, float] = {}
    for job in jobs:
        begin = max((per_host.get(host, 0.0) for host in job.hosts), default=0.0)
        for host in job.hosts:
            per_host[host] = begin + job_seconds(job, busbw_gbyte_s)
    return max(per_host.values(), default=0.0)


class SearchCost(Struct, frozen=True):
    """What a search takes, the slow run not counted: rounds, wall time in seconds, and hours of nodes."""

    rounds: int
    seconds: float
    node_hours: float


def search_costs(
    nodes: int, pair_s: float, joint_s: float, max_rounds: int, budget_s: float | None, tournament_up_to: int = 8
) -> tuple[SearchCost, SearchCost]:
    """(one culprit that the walk shows, the most it may take); `pair_s` and `joint_s` are the times of one job.

    The first is the walk and one verification; a retest or two may come on top. The second is all rounds, or the
    budget where that is used up before.
    """
    walk = min(nodes - 1 + nodes % 2 if nodes <= tournament_up_to else 2, max_rounds - 1)
    rounds = min(walk + 1, max_rounds - 1)
    clean = SearchCost(rounds, walk * pair_s + (rounds - walk) * joint_s, 0.0)
    most = max_rounds - 1
    worst_s = most * max(pair_s, joint_s)
    if budget_s is not None and worst_s > budget_s:
        most, worst_s = max(int(most * budget_s / worst_s), 0), budget_s
    worst = SearchCost(most, worst_s, 0.0)
    return _costed(clean, nodes), _costed(worst, nodes)


def _costed(cost: SearchCost, nodes: int) -> SearchCost:
    return SearchCost(cost.rounds, cost.seconds, nodes * cost.seconds / 3600)
