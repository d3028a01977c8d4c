"""What to do now, on a terminal: one entry a component, its cause and its remedy below each other in one column."""

from __future__ import annotations

from collections.abc import Sequence

from healthcheck.model.message import say
from healthcheck.model.verdict import Verdict
from healthcheck.reporting.text_width import left, width_of, wrapped
from healthcheck.reporting.todo import Entry
from healthcheck.reporting.view import Page

LEAST_ROOM = 48
"""A column of text narrower than this is no pleasure to read: it goes below its component."""
MOST_TITLE = 32
_WORD = max(len(verdict.name) for verdict in Verdict)
_ARROW = "-> "


def todo_lines(view: Page, width: int, verbose: bool = False) -> list[str]:
    """The entries, most urgent first; `verbose` also those that the report has in a table."""
    if view.nothing_to_do:
        return wrapped(view.nothing_to_do, width, "  ", break_long=False)
    heading, note = str(say("report.heading.todo")), str(say("report.terminal.not_run"))
    room = width - 2 - width_of(heading) - width_of(note)
    lines = [f"  {heading}{' ' * room}{note}" if room > 1 else f"  {heading} ({note})"]
    entries = (*view.entries, *view.more_entries) if verbose else view.entries
    places = len(str(len(entries)))
    start = 2 + places + 1 + _WORD + 2
    titles = max((size for entry in entries if (size := width_of(entry.title)) <= MOST_TITLE), default=0)
    beside = start + titles + 2
    for place, entry in enumerate(entries, start=1):
        head = f"  {place:>{places}} {entry.verdict.name:<{_WORD}}  "
        if width - beside >= LEAST_ROOM and width_of(entry.title) <= titles:
            lines += _entry(entry, f"{head}{left(entry.title, titles)}  ", beside, width)
        else:
            title, *more = wrapped(entry.title, width, head, " " * start)
            lines += [title, *more, *_entry(entry, " " * start, start, width)]
    if len(entries) < len(view.entries) + len(view.more_entries):
        lines.append(f"  {say('report.terminal.more', n=len(view.more_entries))}")
    return lines


def _entry(entry: Entry, head: str, column: int, width: int) -> Sequence[str]:
    indent = " " * column
    cause = str(say("report.terminal.cause", cause=entry.cause, confidence=entry.confidence))
    return [
        *wrapped(cause, width, head, indent, break_long=False),
        *wrapped(entry.remedy, width, indent + _ARROW, indent + " " * len(_ARROW), break_long=False),
    ]
