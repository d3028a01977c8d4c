"""Columns of text for a terminal: as wide as they need, the last one wrapped, nothing cut."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Sequence

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
    widths = [max(len(row[place]) for row in (head, *rows)) for place in range(len(head) - 1)]
    left = sum(widths) + len(GAP) * len(widths)
    width = max(width, left + LEAST_LAST)
    indent = " " * (widths[0] + len(GAP)) if widths else ""
    lines = []
    for row, below in zip((head, *rows), ((), *(after or [()] * len(rows))), strict=True):
        cells = [
            cell.rjust(wide) if place in right else cell.ljust(wide)
            for place, (cell, wide) in enumerate(zip(row[:-1], widths, strict=True))
        ]
        start = "".join(cell + GAP for cell in cells)
        lines += wrapped(row[-1], width, start, " " * left) or [start.rstrip()]
        lines += [line for text in below for line in wrapped(text, width, indent, indent + GAP)]
    return lines


def wrapped(text: str, width: int, indent: str = "", hanging: str | None = None) -> list[str]:
    """`text` in lines of at most `width`; words are broken only where one alone is wider."""
    return textwrap.wrap(
        text,
        width,
        initial_indent=indent,
        subsequent_indent=indent if hanging is None else hanging,
        break_on_hyphens=False,
    )
