"""The files of a run directory that are made from its record. A new report is a new row here."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from healthcheck.model.earlier import Earlier
from healthcheck.model.language import ENGLISH, speaking
from healthcheck.model.record import RunRecord
from healthcheck.reporting.actions import suggested_actions
from healthcheck.reporting.hostlists import exclude_hosts, healthy_hosts
from healthcheck.reporting.html import render_html
from healthcheck.reporting.junit import render_junit
from healthcheck.reporting.markdown import render_markdown
from healthcheck.reporting.prometheus import render_metrics
from healthcheck.reporting.since import BeforeAfter, before_after

RENDERERS: Mapping[str, Callable[[RunRecord], str]] = {
    "healthy.hosts": healthy_hosts,
    "exclude.hosts": exclude_hosts,
    "suggested-actions.sh": suggested_actions,
    "junit.xml": render_junit,
    "metrics.prom": render_metrics,
}
"""What a record alone says, for programs and for every operator of a machine: English, whatever language is spoken."""
PAGES: Mapping[str, Callable[[RunRecord, BeforeAfter | None], str]] = {
    "report.md": render_markdown,
    "report.html": render_html,
}
"""What also says what changed since an earlier run."""


def report_files(record: RunRecord, earlier: Earlier | None = None) -> dict[str, str]:
    """File name to content, in the order of writing: the lists first, the pages that name them last.

    `earlier` is the run the pages hold this one against, None where nobody asked for one.
    """
    with speaking(ENGLISH):
        files = {name: render(record) for name, render in RENDERERS.items()}
    before = before_after(record, earlier)
    return {**files, **{name: render(record, before) for name, render in PAGES.items()}}
