"""Columns of text for a terminal: as wide as they need, the last one wrapped, nothing cut."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from healthcheck.reporting.text_width import left as set_left
from healthcheck.reporting.text_width import right as set_right
from healthcheck.reporting.text_width import width_of, wrapped

GAP = "  "
# A last column narrower than this would be one word a line: rather let the line grow.
LEAST_LAST = 16


def table(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    right: Collection[int],
    width: int,
    after: Sequence[Sequence[str]] = (),
) -> list[str]:
    """`head` and `rows` in lines of at most `width`; columns `right` are set right, `after` are lines below a row."""
    widths = [max(width_of(row[place]) for row in (head, *rows)) for place in range(len(head) - 1)]
    left = sum(widths) + len(GAP) * len(widths)
    width = max(width, left + LEAST_LAST)
    indent = " " * (widths[0] + len(GAP)) if widths else ""
    lines = []
    for row, below in zip((head, *rows), ((), *(after or [()] * len(rows))), strict=True):
        cells = [
            set_right(cell, wide) if place in right else set_left(cell, wide)
            for place, (cell, wide) in enumerate(zip(row[:-1], widths, strict=True))
        ]
        start = "".join(cell + GAP for cell in cells)
        lines += wrapped(row[-1], width, start, " " * left) or [start.rstrip()]
        lines += [line for text in below for line in wrapped(text, width, indent, indent + GAP)]
    return lines
