"""How a strip is drawn: rows of marks or bars, limit lines with their values, names beside what stands out."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from msgspec import Struct

from healthcheck.model.message import say
from healthcheck.model.verdict import Verdict
from healthcheck.reporting.chart import WIDTH, Scale, around, cut
from healthcheck.reporting.figures import number, one_line
from healthcheck.reporting.line_labels import Label, labels
from healthcheck.reporting.svg import LETTER, MARKS, OTHER_MARK, Sheet, room_for
from healthcheck.reporting.yardsticks import Yardstick

Spot = tuple[str, float, Verdict]
"""Name, GB/s, verdict."""
_RIGHT = WIDTH - 14
_LONGEST = 17
_LINE = 14.0
_MARK = 7.0


class StripDrawing(Struct, frozen=True):
    """What stands where; positions in points of the sheet. `named` nodes get a name, and alone a mark if `bars`."""

    rows: tuple[tuple[str, tuple[Spot, ...]], ...]
    named: frozenset[str]
    yardstick: Yardstick
    bars: bool

    @property
    def row_height(self) -> float:
        """Enough for marks that lie beside each other; less where there are many rows."""
        return 16.0 if self.bars or len(self.rows) > 8 else 26.0

    @property
    def top(self) -> float:
        """Where the rows begin: below the labels of the limits."""
        return 10 + _LINE * (1 + max((label.row for label in self.labels), default=-1))

    @property
    def bottom(self) -> float:
        """Where the rows end."""
        return self.top + self.row_height * len(self.rows) + 6

    @property
    def height(self) -> float:
        """Of the whole sheet."""
        return self.bottom + 34

    @property
    def values(self) -> tuple[float, ...]:
        """Everything that was measured, GB/s."""
        return tuple(value for _, spots in self.rows for _, value, _ in spots)

    @property
    def lines(self) -> tuple[tuple[float, str, bool], ...]:
        """(GB/s, label, is it a limit) of the lines across: every limit that a node misses, else the nearest one.

        Known-good is drawn where it is near, peak where a node reads more than that.
        """
        low, high = min(self.values), max(self.values)
        limits = sorted(self.yardstick.limits(), key=lambda limit: limit[0])
        missed = [limit for limit in limits if limit[0] > low]
        nearest = [limit for limit in limits if limit[0] <= low][-1:]
        lines = [(value, str(label), True) for value, label in (missed or nearest)]
        known, peak = self.yardstick.known_good, self.yardstick.peak
        if known is not None and known <= 1.1 * high:
            lines.append((known, str(say("report.plots.known_good", value=number(known))), False))
        if peak is not None and high > peak:
            lines.append((peak, str(say("report.plots.peak", value=number(peak))), True))
        return tuple(sorted(lines))

    @property
    def labels(self) -> tuple[Label, ...]:
        """Where the label of each line stands."""
        scale = self.scale
        return labels(tuple((scale.at(value), room_for(label)) for value, label, _ in self.lines), WIDTH)

    @property
    def left(self) -> float:
        """Where the scale begins: behind the titles of the rows."""
        return 14 + max(room_for(cut(title, _LONGEST)) for title, _ in self.rows)

    @property
    def scale(self) -> Scale:
        """GB/s from left to right; it zooms, so that neighbours separate, and keeps every line in sight."""
        return around((*self.values, *(value for value, _, _ in self.lines)), self.left, _RIGHT)

    def draw(self, sheet: Sheet) -> None:
        """Everything, from the back to the front."""
        scale, top, bottom, left = self.scale, self.top, self.bottom, self.left
        for tick in scale.ticks():
            x = scale.at(tick)
            sheet.line([(x, top), (x, bottom)], "grid", 0.8)
            sheet.text(x, bottom + 13, f"{tick:g}", anchor="center")
        sheet.text(left, bottom + 29, str(say("report.plots.axis")))
        self._lines(sheet, scale)
        for place, (title, spots) in enumerate(self.rows):
            middle = top + self.row_height * (place + 0.5) + 3
            sheet.text(left - 8, middle + 4, cut(title, _LONGEST), "ink", "right")
            if self.bars:
                self._bar(sheet, scale, middle, spots)
            else:
                self._marks(sheet, scale, middle, spots)
            self._names(sheet, scale, middle, spots)

    def _lines(self, sheet: Sheet, scale: Scale) -> None:
        """From the row of its label down, so that a line goes through no label but beside its own."""
        for (value, text, is_limit), label in zip(self.lines, self.labels, strict=True):
            x, y = scale.at(value), 12 + _LINE * label.row
            colour = "ink2" if is_limit else "ink"
            sheet.line([(x, y - 9), (x, self.bottom)], colour, 1.0, ":" if is_limit else None)
            sheet.text(x - 4 if label.to_left else x + 4, y, text, colour, "right" if label.to_left else "left")

    def _marks(self, sheet: Sheet, scale: Scale, middle: float, spots: Sequence[Spot]) -> None:
        """Marks at nearly one place stand above and below each other."""
        taken: dict[int, int] = {}
        by_verdict: dict[Verdict, list[tuple[float, float]]] = {}
        room = self.row_height / 2 - 3
        for _, value, verdict in sorted(spots, key=lambda spot: spot[1]):
            x = scale.at(value)
            column = round(x / (_MARK - 1))
            number_here = taken.get(column, 0)
            taken[column] = number_here + 1
            step = (number_here + 1) // 2 * 4.0 * (1 if number_here % 2 else -1)
            by_verdict.setdefault(verdict, []).append((x, middle + max(-room, min(room, step))))
        for verdict, points in sorted(by_verdict.items()):
            shape, colour = MARKS.get(verdict.name, OTHER_MARK)
            sheet.marks(points, shape, colour, _MARK if verdict is Verdict.PASS else _MARK + 2)

    def _bar(self, sheet: Sheet, scale: Scale, middle: float, spots: Sequence[Spot]) -> None:
        named = [spot for spot in spots if spot[0] in self.named]
        others = [value for name, value, _ in spots if name not in self.named]
        if others:
            colour = "pass" if all(spot[2] is Verdict.PASS for spot in spots if spot[0] not in self.named) else "ink2"
            left, right = scale.at(min(others)), scale.at(max(others))
            sheet.area(left - 1.5, middle - 3, right + 1.5, middle + 3, colour, 0.45)
            x = scale.at(median(others))
            sheet.line([(x, middle - 5), (x, middle + 5)], colour, 1.6)
        self._marks(sheet, scale, middle, named)

    def _names(self, sheet: Sheet, scale: Scale, middle: float, spots: Sequence[Spot]) -> None:
        """Beside the marks, where no other node has its own; names that would run into each other become one."""
        named = sorted((spot for spot in spots if spot[0] in self.named), key=lambda spot: spot[1])
        others = [scale.at(value) for name, value, _ in spots if name not in self.named]
        together: list[list[Spot]] = []
        for spot in named:
            if together and scale.at(spot[1]) < scale.at(together[-1][0][1]) + self._width(together[-1]):
                together[-1].append(spot)
            else:
                together.append([spot])
        before = self.left
        for group in together:
            label = self._label(group)
            first, last, room = scale.at(group[0][1]) - _MARK, scale.at(group[-1][1]) + _MARK, room_for(label)
            covers = any(last < x + _MARK / 2 and x - _MARK / 2 < last + room for x in others)
            covers_left = any(first - room < x + _MARK / 2 and x - _MARK / 2 < first for x in others)
            to_left = first - room > before and not covers_left and (covers or last + room > WIDTH)
            colour = MARKS.get(group[0][2].name, OTHER_MARK)[1]
            sheet.text(first if to_left else last, middle + 4, label, colour, "right" if to_left else "left")
            before = last if to_left else last + room

    def _width(self, group: Sequence[Spot]) -> float:
        return _MARK + room_for(self._label(group)) + LETTER

    def _label(self, group: Sequence[Spot]) -> str:
        name = cut(one_line(group[0][0]), _LONGEST)
        if len(group) == 1:
            return f"{name}  {group[0][1]:.1f}"
        return str(say("report.plots.strip.more", name=name, n=len(group) - 1))
