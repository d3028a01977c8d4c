"""The numbers that stand for a job: those that were judged, so that a reader who divides gets the same percent."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median

from msgspec import Struct
from msgspec.structs import replace

from healthcheck.model.judged import counted_rows
from healthcheck.model.record import JobRecord, RunRecord


class Measured(Struct, frozen=True):
    """Medians over the judged sizes of a job, in GB/s; None where nothing was printed. Sizes in bytes."""

    out_of_place: float | None = None
    in_place: float | None = None
    algbw: float | None = None
    smallest: int = 0
    largest: int = 0

    @property
    def slower(self) -> float | None:
        """Bus bandwidth of the slower placement, which decides; None when nothing was measured."""
        return min((value for value in (self.out_of_place, self.in_place) if value is not None), default=None)


def measured(job: JobRecord) -> Measured:
    """What a job measured. Where all sizes are too small to be judged, its largest one."""
    largest = max((row.size_bytes for row in job.rows), default=0)
    rows = counted_rows(job.rows)
    if not rows:
        return Measured()
    outer = [row.out_of_place for row in rows if row.out_of_place is not None]
    inner = [row.in_place for row in rows if row.in_place is not None]
    return Measured(
        out_of_place=middle(half.busbw_gbyte_s for half in outer),
        in_place=middle(half.busbw_gbyte_s for half in inner),
        algbw=middle(half.algbw_gbyte_s for half in outer),
        smallest=min(row.size_bytes for row in rows),
        largest=largest,
    )


def middle(values: Iterable[float | None]) -> float | None:
    """The median of what is known; None when nothing is."""
    known = [value for value in values if value is not None]
    return median(known) if known else None


def together(record: RunRecord) -> tuple[JobRecord, ...]:
    """The jobs of a record with all repeats of one job as one: they were judged as one."""
    return merged(record.jobs)


def merged(jobs: Iterable[JobRecord]) -> tuple[JobRecord, ...]:
    """These jobs with all repeats of one job as one, in their order."""
    found: dict[tuple[str, str, tuple[str, ...]], JobRecord] = {}
    for job in jobs:
        if job.verdict is None:
            continue  # evidence of a search: told round by round, and no measure of a node by itself
        key = (job.stage, job.collective, job.hosts)
        first = found.get(key)
        if first is None:
            found[key] = job
        else:
            found[key] = replace(first, rows=first.rows + job.rows, verdict=max(first.judged_as, job.judged_as))
    return tuple(found.values())
