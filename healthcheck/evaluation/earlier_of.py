"""Which earlier run a report is held against: the newest of the same nodes, as the same machine type."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from statistics import median

from healthcheck.model.earlier import EarlierRun, PastReading
from healthcheck.model.history import PastJob, PastRun
from healthcheck.model.playbook import BENCHMARK_STAGES
from healthcheck.model.verdict import Verdict

MOST_RUNS = 11
"""Earlier runs that are shown beside the one that is told of: a year of monthly ones, together."""
_LEAST_SHARED = 0.5
"""Of the nodes of the larger run: below that, two runs are of two clusters, whatever their nodes are called."""


def same_cluster(run: PastRun, hosts: Collection[str]) -> bool:
    """Whether a run named at least half of the nodes, and at least half of its nodes are among them."""
    named = {host.name for host in run.hosts}
    return len(named & set(hosts)) >= _LEAST_SHARED * max(len(named), len(hosts), 1)


def kinds(run: PastRun) -> frozenset[tuple[str, str]]:
    """(stage, collective) of everything that left a number another run can be held against."""
    found = (job for job in run.jobs if job.stage in BENCHMARK_STAGES and _has_number(job))
    return frozenset((job.stage, job.collective) for job in found)


def told_of(run: PastRun) -> EarlierRun:
    """A run as one point of each of its stages."""
    groups: dict[tuple[str, str], list[PastJob]] = {}
    for job in run.jobs:
        if job.stage in BENCHMARK_STAGES and job.judged is not None and job.hosts:
            groups.setdefault((job.stage, job.collective), []).append(job)
    return EarlierRun(run.run_id, run.started_at, run.verdict, tuple(map(_reading, groups.values())))


def _has_number(job: PastJob) -> bool:
    return any(value is not None and value > 0 for half in (job.out_of_place, job.in_place) for value in half)


def _reading(jobs: Sequence[PastJob]) -> PastReading:
    alone = [job for job in jobs if len(job.hosts) == 1]
    if not alone:
        first = jobs[0]
        value = first.judged or 0.0
        return PastReading(first.stage, first.collective, len(first.hosts), value, value, "", first.verdict)
    values = [(job.judged or 0.0, job.hosts[0]) for job in alone]
    lowest, host = min(values)
    middle = median(value for value, _ in values)
    return PastReading(alone[0].stage, alone[0].collective, len(alone), middle, lowest, host, _worst(alone))


def _worst(jobs: Iterable[PastJob]) -> str:
    """By the order of verdicts; a name nobody knows is worse than all."""
    return max((job.verdict for job in jobs), key=lambda name: Verdict.__members__.get(name, len(Verdict)))
