"""The files of a run directory that are views of its record."""

from __future__ import annotations

from healthcheck.model.earlier import Earlier
from healthcheck.model.record import RunRecord
from healthcheck.ports import RunStore
from healthcheck.reporting.files import report_files
from healthcheck.reporting.training_page import TrainingShown


def write_pages(
    record: RunRecord, store: RunStore, earlier: Earlier | None = None, training: TrainingShown | None = None
) -> None:
    """Render everything again from the record. Host lists are always written: one without hosts says why.

    `earlier` is the run the pages hold this one against, None where nobody asked for one; `training` what is known of
    the training on these nodes.
    """
    for name, content in report_files(record, earlier, training).items():
        store.write(name, content)
