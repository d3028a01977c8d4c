"""The jobs of a search, which ran and were not judged: what each was there for, and how many were slow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from msgspec import Struct

from healthcheck.model.message import say
from healthcheck.model.record import JobRecord, RunRecord
from healthcheck.model.search_jobs import Part, SearchJobs, Speed
from healthcheck.reporting.joining import in_a_row


class Evidence(Struct, frozen=True):
    """One job without a verdict, and what the search made of it."""

    job: JobRecord
    part: Part
    speed: Speed


def evidence_of(record: RunRecord) -> tuple[Evidence, ...]:
    """The jobs that nobody judged, in the order of the run."""
    jobs = SearchJobs(record.search)
    return tuple(_evidence(job, jobs) for job in record.jobs if job.verdict is None)


def _evidence(job: JobRecord, jobs: SearchJobs) -> Evidence:
    about = jobs.about(job.id, job.hosts)
    return Evidence(job, about.part, about.speed)


def speeds_told(found: Iterable[Evidence]) -> str:
    """`4 slow, 32 fast`, the slow ones first."""
    counted = Counter(one.speed for one in found)
    return in_a_row((say(f"report.speed.{speed}", n=counted[speed]) for speed in Speed if counted[speed]), "text.comma")


def part_text(part: Part) -> str:
    """What a job of a search is there for, in words."""
    return str(say(f"report.part.{part}"))
