"""At which size a job of a search was read: beside its number, which is not the one that a job is judged by."""

from __future__ import annotations

from collections.abc import Iterable

from healthcheck.model.message import say
from healthcheck.model.record import RunRecord
from healthcheck.reporting.figures import size


class ReadAt:
    """The largest size of each job of a record; a search reads its jobs there."""

    def __init__(self, record: RunRecord) -> None:
        self._bytes = {job.id: max(row.size_bytes for row in job.rows) for job in record.jobs if job.rows}

    def told(self, value: str, jobs: Iterable[str]) -> str:
        """`95.3 at 8 GiB`; the value alone where nobody knows, or where the jobs have different sizes."""
        sizes = {self._bytes.get(job) for job in jobs}
        known = sizes.pop() if len(sizes) == 1 else None
        return value if known is None else str(say("report.search.at", value=value, size=size(known)))
