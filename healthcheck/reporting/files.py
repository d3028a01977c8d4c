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
from healthcheck.reporting.training_page import TrainingShown, render_training
from healthcheck.reporting.training_told import VITALS_PAGE

RENDERERS: Mapping[str, Callable[[RunRecord], str]] = {
    "healthy.hosts": healthy_hosts,
    "exclude.hosts": exclude_hosts,
    "suggested-actions.sh": suggested_actions,
    "junit.xml": render_junit,
    "metrics.prom": render_metrics,
}
"""What a record alone says, for programs and for every operator of a machine: English, whatever language is spoken."""
PAGES: Mapping[str, Callable[[RunRecord, BeforeAfter | None, TrainingShown | None], str]] = {
    "report.md": render_markdown,
    "report.html": render_html,
}
"""What also says what changed since an earlier run, and what is known of the training on these nodes."""


def report_files(
    record: RunRecord, earlier: Earlier | None = None, training: TrainingShown | None = None
) -> dict[str, str]:
    """File name to content, in the order of writing: the lists first, the pages that name them last.

    `earlier` is the run the pages hold this one against, None where nobody asked for one; `training` what was
    given of the training on these nodes, which has a page of its own.
    """
    with speaking(ENGLISH):
        files = {name: render(record) for name, render in RENDERERS.items()}
    before = before_after(record, earlier)
    if training is not None:
        files[VITALS_PAGE] = render_training(training)
    return {**files, **{name: render(record, before, training) for name, render in PAGES.items()}}
