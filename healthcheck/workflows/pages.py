"""The files of a run directory that are views of its record."""

from __future__ import annotations

from healthcheck.model.record import RunRecord
from healthcheck.ports import RunStore
from healthcheck.reporting.files import report_files


def write_pages(record: RunRecord, store: RunStore) -> None:
    """Render everything again from the record. Host lists are always written: one without hosts says why."""
    for name, content in report_files(record).items():
        store.write(name, content)
