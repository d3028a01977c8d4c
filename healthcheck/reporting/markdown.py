"""`report.md`: readable raw, no HTML, the title is the verdict, so that a list of tickets shows it."""

from __future__ import annotations

import re

from healthcheck.model.record import RunRecord
from healthcheck.reporting.since import BeforeAfter
from healthcheck.reporting.templating import environment
from healthcheck.reporting.ticket import ticket
from healthcheck.reporting.training_page import TrainingShown
from healthcheck.reporting.view import page

_ACTIVE = re.compile(r"([\\`*<|~]|^[\[>]|\](?=[(\[])|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|^[#+=-](?=\s)|^\d+[.)](?=\s))")


def render_markdown(record: RunRecord, before: BeforeAfter | None = None, training: TrainingShown | None = None) -> str:
    """The report as Markdown; under 60 lines for a healthy cluster of any size. `before` is what it is held against."""
    made = environment(autoescape=False)
    made.filters["md"] = escaped
    made.filters["code"] = code_span
    made.filters["fence"] = fence
    whole = page(record, before, training)
    text = made.get_template("report.md.j2").render(page=whole, short=ticket(whole))
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def escaped(text: str) -> str:
    """Text that Markdown shows as it is written, in a table cell too. An underscore inside a word stays bare."""
    return _ACTIVE.sub(
        lambda match: "\\" + match[0] if len(match[0]) == 1 else match[0][:-1] + "\\" + match[0][-1], text
    )


def code_span(text: str) -> str:
    """A code span that may hold backticks and stands in a list, not in a table."""
    ticks = "`" * (_longest_run(text) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def fence(lines: tuple[str, ...]) -> str:
    """A code block whose fence is longer than any run of backticks in it."""
    ticks = "`" * max(3, max(map(_longest_run, lines), default=0) + 1)
    return "\n".join((ticks, *lines, ticks))


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)
