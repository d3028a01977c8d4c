"""`report.html`: one self-contained file for light, dark, narrow screens and paper. No network, no script."""

from __future__ import annotations

from healthcheck.model.record import RunRecord
from healthcheck.model.verdict import Verdict
from healthcheck.reporting.charts import charts
from healthcheck.reporting.figures import held, letter
from healthcheck.reporting.since import BeforeAfter
from healthcheck.reporting.templating import environment
from healthcheck.reporting.training_page import TrainingShown
from healthcheck.reporting.view import BY_URGENCY, page

_CLASSES = {
    Verdict.PASS: "pass",
    Verdict.DEGRADED: "degr",
    Verdict.INCONCLUSIVE: "inc",
    Verdict.FAIL: "fail",
    Verdict.SKIPPED: "skip",
}


def render_html(record: RunRecord, before: BeforeAfter | None = None, training: TrainingShown | None = None) -> str:
    """The report as HTML. Everything from the record is data and is escaped. `before` is what it is held against."""
    made = environment(autoescape=True)
    made.filters["css"] = _CLASSES.__getitem__
    made.filters |= {"letter": letter, "held": held}
    return (
        made.get_template("report.html.j2")
        .render(
            page=page(record, before, training),
            verdicts=BY_URGENCY,
            charts=charts(record, () if before is None else before.runs),
        )
        .lstrip()
    )
