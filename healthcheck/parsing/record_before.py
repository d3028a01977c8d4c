"""Records of earlier versions, read as if they had been written by this one."""

from __future__ import annotations

from msgspec.structs import replace

from healthcheck.model.record import RunRecord
from healthcheck.model.search_jobs import SEARCH_STAGE


def as_written_now(record: RunRecord) -> RunRecord:
    """The record in the words of today; one of today is returned as it is."""
    return _proven(_unjudged(record))


def _unjudged(record: RunRecord) -> RunRecord:
    """Before docs/adr/0010 a job of a search had the verdict that it could be read: PASS, however slow it was."""
    if all(job.verdict is None or job.stage != SEARCH_STAGE for job in record.jobs):
        return record
    jobs = (replace(job, verdict=None) if job.stage == SEARCH_STAGE else job for job in record.jobs)
    return replace(record, jobs=tuple(jobs))


def _proven(record: RunRecord) -> RunRecord:
    """Who ran in the job that proved the healthy set was not kept: the last one over several nodes, where they did."""
    if record.proven_together or not record.healthy_hosts:
        return record
    joint = [job.hosts for job in record.jobs if job.stage == "multi_node"]
    together = joint[-1] if joint and set(joint[-1]).issuperset(record.healthy_hosts) else record.healthy_hosts
    return replace(record, proven_together=together)
