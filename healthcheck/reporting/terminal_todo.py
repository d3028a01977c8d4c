"""What to do now, on a terminal: one entry a component, its cause, remedy and first command in one column."""

from __future__ import annotations

import re
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
_WORDS = re.compile(r"""(?:[^\s'"\\]|\\.|'[^']*'|"[^"]*")+""")
"""The words of a command, with their quotes."""
_GOES_ON = " \\"


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
        *(_to_copy(entry.commands[0], width, indent + " " * len(_ARROW)) if entry.commands else ()),
    ]


def _to_copy(command: str, width: int, indent: str) -> Sequence[str]:
    """A command over as many lines as it needs, which a shell reads as one; none where a word is too wide for that."""
    lines: list[str] = []
    for word in _WORDS.findall(command):
        longer = f"{lines[-1]} {word}" if lines else ""
        if lines and width_of(longer) + len(_GOES_ON) <= width:
            lines[-1] = longer
        else:
            lines.append(f"{indent}{'  ' if lines else ''}{word}")
    if any(width_of(line) + len(_GOES_ON) > width for line in lines):
        return ()
    return [*(line + _GOES_ON for line in lines[:-1]), *lines[-1:]]
