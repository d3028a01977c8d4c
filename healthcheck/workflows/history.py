"""What earlier runs say: the past of a cluster, and what its nodes read when they were healthy."""

from __future__ import annotations

from collections.abc import Collection

from healthcheck.model.history import PastJob, PastMeasure, PastRun
from healthcheck.ports import HistoryIndex

NEWEST = 12
_HEALTHY = "PASS"


def past_measures(
    index: HistoryIndex,
    hosts: Collection[str],
    *,
    platform: str,
    simulated: bool,
    newest: int = NEWEST,
    but: str = "",
) -> tuple[PastMeasure, ...]:
    """What every job of only these `hosts` read in the `newest` runs in which it was PASS, newest run first.

    Only runs of the same `platform` and as real or simulated as `simulated` says; never the run with the id `but`.
    """
    wanted = frozenset(hosts)
    seen: dict[tuple[str, str, tuple[str, ...], int], int] = {}
    found: list[PastMeasure] = []
    for run in reversed(index.past(wanted).runs):
        if run.platform != platform or run.simulated != simulated or run.run_id == but:
            continue
        for job in run.jobs:
            key = (job.stage, job.collective, job.hosts, job.n_ranks)
            if job.verdict == _HEALTHY and seen.get(key, 0) < newest and wanted.issuperset(job.hosts):
                seen[key] = seen.get(key, 0) + 1
                found += _measures(run, job)
    return tuple(found)


def _measures(run: PastRun, job: PastJob) -> list[PastMeasure]:
    halves = (("out_of_place", job.out_of_place), ("in_place", job.in_place))
    return [
        PastMeasure(run.run_id, job.stage, job.collective, job.hosts, job.n_ranks, size, placement, value)
        for placement, values in halves
        for size, value in zip(job.sizes, values, strict=True)
        if value is not None
    ]
