"""A chart before it is drawn: what it says in words, its numbers as a table, and the scales it is drawn with."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from healthcheck.reporting.svg import Sheet

WIDTH = 520.0
"""Of every chart, in points: two fit beside each other on a page, one on a telephone."""


class Table(Struct, frozen=True):
    """The numbers of a chart as text. The first column names the row; those in `numeric` hold numbers."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: tuple[int, ...] = ()


class MatrixCell(Struct, frozen=True):
    """Two nodes: `text` is empty where they were not measured together."""

    text: str = ""
    slow: bool = False
    is_self: bool = False


class Matrix(Struct, frozen=True):
    """Numbers in cells: `names` head rows and columns alike, `short` is what fits there."""

    names: tuple[str, ...]
    short: tuple[str, ...]
    rows: tuple[tuple[MatrixCell, ...], ...]


class Picture(Struct, frozen=True):
    """One chart. `title` asks, `sentence` answers, `note` says how to read it; `draw` is None for a matrix.

    `place` is the section of the page it belongs to: bandwidth, search or past. `height` in points.
    """

    place: str
    title: str
    sentence: str
    note: str
    table: Table | None = None
    matrix: Matrix | None = None
    height: float = 0.0
    draw: Callable[[Sheet], None] | None = None


class Scale(Struct, frozen=True):
    """Values to points: `low` stands at `start`, `high` at `end`. Nothing is clamped."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """Where a value stands."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self, most: int = 7) -> tuple[float, ...]:
        """Round values from `low` to `high`, at most that many."""
        step = _round_step((self.high - self.low) / most)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return tuple(round(place * step, 9) for place in range(first, last + 1))


def _round_step(least: float) -> float:
    power = 10.0 ** math.floor(math.log10(least))
    return next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= least * (1 - 1e-9))


def from_zero(values: Iterable[float], start: float, end: float) -> Scale:
    """A scale from 0 to a little above the largest value."""
    return Scale(0.0, 1.06 * max((*values, 1e-9)), start, end)


def around(values: Sequence[float], start: float, end: float, least_share: float = 0.02) -> Scale:
    """A scale that zooms: from the lowest to the highest value, at least `least_share` of the highest, and a margin."""
    high = max(values)
    low = min(min(values), high * (1 - least_share))
    margin = 0.05 * (high - low) or 1.0
    return Scale(low - margin, high + margin, start, end)


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> tuple[float, ...]:
    """Places at least `gap` apart, in the given order of size and near where they are `wanted`, from `low` to `high`.

    Where they do not fit they come as close together as they must.
    """
    order = sorted(range(len(wanted)), key=lambda place: wanted[place])
    gap = min(gap, (high - low) / max(1, len(wanted) - 1))
    found = [0.0] * len(wanted)
    before = low - gap
    for place in order:
        found[place] = before = max(wanted[place], before + gap)
    after = high + gap
    for place in reversed(order):
        found[place] = after = min(found[place], after - gap)
    return tuple(found)


def cut(text: str, most: int) -> str:
    """At most that many letters, the end of a longer text left out visibly."""
    return text if len(text) <= most else text[: most - 1] + "…"
