"""Where the labels of upright lines stand above a chart: beside their own line, and on no other one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from msgspec import Struct

_GAP = 4.0
"""Between a label and its line, in points."""
_MOST_ROWS = 4

_Span = tuple[float, float]
_Sides = Sequence[tuple[bool, _Span]]


class Label(Struct, frozen=True):
    """Row 0 is the top one, and a line begins in the row of its label; `to_left` of the line or to its right."""

    row: int
    to_left: bool


@lru_cache(maxsize=64)
def labels(lines: tuple[tuple[float, float], ...], right: float) -> tuple[Label, ...]:
    """A place for the label of each line, given as (x, width of its label) in points, in as few rows as can be.

    No label leaves the sheet, which ends at `right`, covers another label, or is crossed by a line other than its own.
    Where that cannot be, each stands in a row of its own.
    """
    order = sorted(range(len(lines)), key=lambda place: lines[place][0])
    sides = [_inside(lines[place], right) for place in order]
    for rows in range(1, min(_MOST_ROWS, len(lines)) + 1):
        found = _search([lines[place][0] for place in order], sides, rows, ())
        if found is not None:
            return tuple(found[order.index(place)] for place in range(len(lines)))
    return tuple(Label(order.index(place), _span(line, False)[1] > right) for place, line in enumerate(lines))


def _inside(line: tuple[float, float], right: float) -> _Sides:
    """On which sides of a line its label fits, and from where to where it then goes."""
    spans = [(to_left, _span(line, to_left)) for to_left in (False, True)]
    return [(to_left, (start, end)) for to_left, (start, end) in spans if start >= 0 and end <= right]


def _search(
    xs: Sequence[float], sides: Sequence[_Sides], rows: int, found: tuple[tuple[Label, _Span], ...]
) -> tuple[Label, ...] | None:
    """The rest of the labels from left to right, tried out; None where there is no place for one of them."""
    at = len(found)
    if at == len(xs):
        return tuple(label for label, _ in found)
    for row in range(rows):
        for to_left, span in sides[at]:
            if any(_clash(xs[at], row, span, x, *other) for x, other in zip(xs, found, strict=False)):
                continue
            done = _search(xs, sides, rows, (*found, (Label(row, to_left), span)))
            if done is not None:
                return done
    return None


def _clash(
    x: float, row: int, span: tuple[float, float], left: float, label: Label, other: tuple[float, float]
) -> bool:
    """Whether a label and that of a line to the left of it cover each other, or a line goes through the other label."""
    if row == label.row and span[0] < other[1] + _GAP and other[0] < span[1] + _GAP:
        return True
    if label.row <= row and span[0] - 1 < left < span[1] + 1:
        return True
    return row <= label.row and other[0] - 1 < x < other[1] + 1


def _span(line: tuple[float, float], to_left: bool) -> _Span:
    x, width = line
    return (x - _GAP - width, x - _GAP) if to_left else (x + _GAP, x + _GAP + width)
