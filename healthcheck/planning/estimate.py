"""How long it will take, before anything runs. A bound for planning, not a promise."""

from __future__ import annotations

from collections.abc import Sequence

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
