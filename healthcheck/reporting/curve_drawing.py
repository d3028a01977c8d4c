"""How curves are drawn: sizes across, GB/s from 0 up, limits shaded only where they are judged."""

from __future__ import annotations

from itertools import pairwise

from msgspec import Struct

from healthcheck.model.message import say
from healthcheck.model.verdict import Verdict
from healthcheck.reporting.chart import WIDTH, Scale, cut, from_zero, spread
from healthcheck.reporting.figures import number, short_size
from healthcheck.reporting.svg import MARKS, OTHER_MARK, Sheet, room_for
from healthcheck.reporting.yardsticks import Yardstick

Curve = tuple[tuple[int, float], ...]
"""(bytes, GB/s)."""
_LEFT, _RIGHT = 40.0, 386.0
_LINE = 15.0
_ENTRY = 40.0
"""Of an entry of the legend, what stands before its text, and the gap behind it."""
_PLOT = 190.0
_SHAPES = ("o", "s", "^", "D", "v", "P")
"""One for each line, so that lines of one verdict can be told apart."""
_LONGEST = 60
_MOST_SIZES = 8


class CurveDrawing(Struct, frozen=True):
    """What stands where; positions in points. A line is (legend, verdict, out-of-place, in-place)."""

    lines: tuple[tuple[str, Verdict, Curve, Curve], ...]
    sizes: tuple[int, ...]
    judged: tuple[int, int] | None
    yardstick: Yardstick

    @property
    def top(self) -> float:
        """Where the scale ends: below the legend and the title of the axis."""
        return 30 + _LINE * -(-len(self.lines) // self.columns)

    @property
    def columns(self) -> int:
        """Of the legend: two where every entry fits into one."""
        widest = max((room_for(cut(legend, _LONGEST)) for legend, *_ in self.lines), default=0.0)
        return 2 if _ENTRY + widest < WIDTH / 2 else 1

    @property
    def bottom(self) -> float:
        """Where 0 stands."""
        return self.top + _PLOT

    @property
    def height(self) -> float:
        """Of the whole sheet."""
        return self.bottom + 36

    @property
    def scale(self) -> Scale:
        """GB/s from the bottom up, from 0 to above the highest value, the peak and known-good."""
        values = [value for _, _, *halves in self.lines for curve in halves for _, value in curve]
        known = [mark for mark in (self.yardstick.peak, self.yardstick.known_good) if mark is not None]
        return from_zero((*values, *known), self.bottom, self.top)

    def across(self, size_bytes: int) -> float:
        """Where a size stands: every one as far from the next."""
        step = (_RIGHT - _LEFT) / len(self.sizes)
        return _LEFT + step * (self.sizes.index(size_bytes) + 0.5)

    @property
    def band(self) -> tuple[float, float] | None:
        """From where to where the limits hold: over the sizes that are judged, and no other."""
        if self.judged is None or self.yardstick.peak is None:
            return None
        half = (_RIGHT - _LEFT) / len(self.sizes) / 2
        return self.across(self.judged[0]) - half, self.across(self.judged[1]) + half

    def draw(self, sheet: Sheet) -> None:
        """Everything, from the back to the front."""
        scale = self.scale
        self._limits(sheet, scale)
        for tick in scale.ticks(6):
            y = scale.at(tick)
            sheet.line([(_LEFT, y), (_RIGHT, y)], "ink2" if tick == 0 else "grid", 0.8)
            sheet.text(_LEFT - 6, y + 4, f"{tick:g}", anchor="right")
        every = -(-len(self.sizes) // _MOST_SIZES)
        for size_bytes in self.sizes[::-1][::every]:
            x = self.across(size_bytes)
            sheet.line([(x, self.bottom), (x, self.bottom + 4)], "ink2", 0.8)
            sheet.text(x, self.bottom + 17, short_size(size_bytes), anchor="center")
        sheet.text(_LEFT - 34, self.top - 8, str(say("report.plots.axis")))
        sheet.text(_LEFT, self.bottom + 32, str(say("report.plots.sizes")))
        for place, (legend, verdict, outer, inner) in enumerate(self.lines):
            colour = "ink" if verdict is Verdict.PASS else MARKS.get(verdict.name, OTHER_MARK)[1]
            self._line(sheet, scale, _SHAPES[place % len(_SHAPES)], colour, outer, inner)
            self._legend(sheet, place, legend, colour)

    def _limits(self, sheet: Sheet, scale: Scale) -> None:
        """Shades and lines over the judged sizes; at the right their values and what each shade means, apart."""
        marks: list[tuple[float, str, str]] = []
        band, peak = self.band, self.yardstick.peak
        left = _LEFT if band is None else band[0]
        if band is not None and peak is not None:
            broken, healthy = peak * self.yardstick.broken, peak * self.yardstick.healthy
            right = band[1]
            shades = (Verdict.FAIL, Verdict.DEGRADED, Verdict.PASS)
            for (low, high), verdict in zip(pairwise((0.0, broken, healthy, peak)), shades, strict=True):
                sheet.area(left, scale.at(high), right, scale.at(low), MARKS[verdict.name][1], 0.16)
                if high > low:
                    marks.append(((low + high) / 2, verdict.name, "shade"))
            marks.append((peak, str(say("report.plots.peak", value=number(peak))), "limit"))
            for fraction in (self.yardstick.healthy, self.yardstick.broken):
                text = say("report.plots.of_peak", percent=f"{100 * fraction:g}", value=number(peak * fraction))
                marks.append((peak * fraction, str(text), "limit"))
        known = self.yardstick.known_good
        if known is not None:
            marks.append((known, str(say("report.plots.known_good", value=number(known))), "known"))
        places = spread([scale.at(value) for value, _, _ in marks], 13.0, self.top, self.bottom)
        for (value, label, kind), y in zip(marks, places, strict=True):
            if kind == "shade":
                sheet.text(_RIGHT + 10, y + 4, label)
                continue
            ends, known = [(left, scale.at(value)), (_RIGHT, scale.at(value))], kind == "known"
            sheet.line(ends, "ink" if known else "ink2", 1.6 if known else 1.0, "-." if known else ":")
            sheet.line([(_RIGHT, scale.at(value)), (_RIGHT + 8, y)], "line", 0.8)
            sheet.text(_RIGHT + 10, y + 4, label, "ink" if known else "ink2")

    def _line(self, sheet: Sheet, scale: Scale, shape: str, colour: str, outer: Curve, inner: Curve) -> None:
        for curve, dash in ((inner, "--"), (outer, None)):
            points = [(self.across(size_bytes), scale.at(value)) for size_bytes, value in curve]
            if len(points) > 1:
                sheet.line(points, colour, 1.6, dash)
            if points and (dash is None or not outer):
                sheet.marks(points, shape, colour, 6.0)

    def _legend(self, sheet: Sheet, place: int, legend: str, colour: str) -> None:
        """Above the scale."""
        x, y = 6.0 + (place % self.columns) * (WIDTH / 2), 12 + _LINE * (place // self.columns)
        sheet.line([(x, y - 4), (x + 22, y - 4)], colour, 1.6)
        sheet.marks([(x + 11, y - 4)], _SHAPES[place % len(_SHAPES)], colour, 6.0)
        sheet.text(x + 28, y, cut(legend, _LONGEST), "ink")
