"""The files of a run directory that are views of its record."""

from __future__ import annotations

from healthcheck.model.record import RunRecord
from healthcheck.ports import RunStore
from healthcheck.reporting.actions import suggested_actions
from healthcheck.reporting.hostlists import exclude_hosts, healthy_hosts
from healthcheck.reporting.html import render_html
from healthcheck.reporting.markdown import render_markdown


def write_pages(record: RunRecord, store: RunStore) -> None:
    """Render everything again from the record. Host lists are always written: an empty one says 'none proven'."""
    store.write("healthy.hosts", healthy_hosts(record))
    store.write("exclude.hosts", exclude_hosts(record))
    store.write("suggested-actions.sh", suggested_actions(record))
    store.write("report.md", render_markdown(record))
    store.write("report.html", render_html(record))
