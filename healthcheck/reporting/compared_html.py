"""A comparison as one self-contained page: no network, no script, every foreign text escaped."""

from __future__ import annotations

from healthcheck.model.comparison import Comparison
from healthcheck.reporting.compared import compared_title
from healthcheck.reporting.compared_view import WORD_COLUMNS, answer, sections, side, table
from healthcheck.reporting.figures import one_line
from healthcheck.reporting.templating import environment


def render_comparison(comparison: Comparison) -> str:
    """The page. The terminal and it say the same, in the same order."""
    made = environment(autoescape=True)
    made.filters["line"] = one_line
    page = made.get_template("compare.html.j2").render(
        title=compared_title(comparison),
        simulated=comparison.before.simulated and comparison.after.simulated,
        answer=answer(comparison),
        notes=[str(note) for note in comparison.notes],
        sides=(("BEFORE", side(comparison.before)), ("AFTER", side(comparison.after))),
        table=table(comparison),
        words=WORD_COLUMNS,
        sections=sections(comparison),
    )
    return page.lstrip()
