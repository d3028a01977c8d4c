"""Which logs each host of a job wrote, and which ranks live on which host."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from healthcheck.model.command import CollectiveJob
from healthcheck.model.nccl import NcclRankLog


def logs_by_host(job: CollectiveJob, logs: Sequence[NcclRankLog]) -> dict[str, list[NcclRankLog]]:
    """The logs of the hosts of a job; those of others are left out."""
    of_job = frozenset(job.hosts)
    found: dict[str, list[NcclRankLog]] = {}
    for log in logs:
        if log.host in of_job:
            found.setdefault(log.host, []).append(log)
    return found


def ranks_by_host(job: CollectiveJob, by_host: Mapping[str, Sequence[NcclRankLog]]) -> dict[int, str]:
    """The host of every rank. Where a log contradicts the order of the hosts, only what the logs say themselves."""
    said: dict[int, str] = {}
    for host, written in by_host.items():
        for log in written:
            if log.rank is not None and said.setdefault(log.rank, host) != host:
                return {}  # several communicators: a rank number says nothing
            if log.n_ranks not in (None, job.n_ranks):
                return {}
    placed = _placed(job)
    return placed if all(placed.get(rank) == host for rank, host in said.items()) else said


def _placed(job: CollectiveJob) -> dict[int, str]:
    owners = [host for host, ranks in zip(job.hosts, job.ranks_per_host, strict=False) for _ in range(ranks)]
    return dict(enumerate(owners))
