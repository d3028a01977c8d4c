"""Which host of the job wrote a log, and which ranks live on which host."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from healthcheck.model.command import CollectiveJob
from healthcheck.model.nccl import NcclRankLog


def logs_by_host(
    job: CollectiveJob, logs: Sequence[NcclRankLog], names: Mapping[str, str]
) -> dict[str, list[NcclRankLog]]:
    """The logs under the name their host has in the hostfile; those of hosts that are not of the job are left out.

    `names` maps what NCCL prints, the node's own name, to the name in the hostfile. A node that is not in it is
    found by its short name, by being alone, or by the rank it says it has: mpirun fills hosts in their order.
    """
    short: dict[str, set[str]] = {}
    for name in job.hosts:
        short.setdefault(_short(name), set()).add(name)
    placed, of_job = _placed(job), frozenset(job.hosts)
    found: dict[str, list[NcclRankLog]] = {}
    for log in logs:
        host = job.hosts[0] if len(job.hosts) == 1 else _named(log.host, of_job, names, short)
        if host is None and log.n_ranks == job.n_ranks and log.rank is not None:
            host = placed.get(log.rank)
        if host is not None:
            found.setdefault(host, []).append(log)
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


def _named(printed: str, of_job: frozenset[str], names: Mapping[str, str], short: Mapping[str, set[str]]) -> str | None:
    known = names.get(printed)
    if known is not None:
        return known if known in of_job else None
    if printed in of_job:
        return printed
    same = short.get(_short(printed), set())
    return next(iter(same)) if len(same) == 1 else None


def _short(name: str) -> str:
    return name.partition(".")[0].lower()
