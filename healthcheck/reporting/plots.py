"""Lines over time as SVG: dates across, bus bandwidth up, a mark for each verdict by shape and colour.

The scale zooms, so that a drift shows, but never to less than a tenth of the largest value; levels keep in sight.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct

from healthcheck.model.message import say
from healthcheck.reporting.chart import WIDTH, Scale, around, spread
from healthcheck.reporting.svg import LETTER, MARKS, OTHER_MARK, Sheet, drawn

_LEFT, _TOP, _PLOT = 44.0, 20.0, 140.0
_BOTTOM = _TOP + _PLOT
# The axis shows at least this part of the largest value, so that noise does not look like a fall.
_LEAST_RANGE = 0.1
_DATE = LETTER * 12
_WIDE = 720.0
_ONE_DAY = 1.0


class Point(Struct, frozen=True):
    """One run: its instant, GB/s (None: not measured), and its verdict by name, empty for none."""

    at: datetime
    gbyte_s: float | None
    verdict: str = ""


def line_plot(
    points: Sequence[Point],
    lowest: Sequence[Point] = (),
    reference: float | None = None,
    key: str = "past",
    title: str = "",
    finding: str = "",
) -> str:
    """An `<svg>` of bus bandwidth in GB/s over time; `lowest` is a second, dashed line, `reference` a level across.

    `key`, `title` and `finding` as in `svg.drawn`.
    """
    levels = [] if reference is None else [(reference, "")]
    height = line_plot_height()
    return drawn(key, _WIDE, height, title, finding, lambda sheet: draw_line_plot(sheet, points, lowest, levels, _WIDE))


def line_plot_height() -> float:
    """Of the sheet of every such plot, in points."""
    return _BOTTOM + 24


def draw_line_plot(
    sheet: Sheet,
    points: Sequence[Point],
    lowest: Sequence[Point],
    levels: Sequence[tuple[float, str]],
    width: float = WIDTH,
) -> None:
    """Draw on a sheet of that width; `levels` are (GB/s, label) across, for example limits."""
    labelled = max((len(label) for _, label in levels), default=0)
    right = width - 16 - LETTER * labelled
    known = [one.gbyte_s for one in (*points, *lowest) if one.gbyte_s is not None]
    scale = around([*known, *(value for value, _ in levels)] or [0.0, 1.0], _BOTTOM, _TOP, _LEAST_RANGE)
    sheet.text(0, 10, str(say("report.plots.axis")))
    for tick in scale.ticks(5):
        y = scale.at(tick)
        sheet.line([(_LEFT, y), (right, y)], "grid", 0.8)
        sheet.text(_LEFT - 6, y + 4, f"{tick:g}", anchor="right")
    places = spread([scale.at(value) for value, _ in levels], 13.0, _TOP, _BOTTOM)
    for (value, label), y in zip(levels, places, strict=True):
        sheet.line([(_LEFT, scale.at(value)), (right, scale.at(value))], "ink2", 1.0, ":")
        sheet.text(right + 8, y + 4, label)
    days = _days(points, _LEFT + 8, right - 8)
    _dates(sheet, points, days)
    _line(sheet, scale, days, lowest, "ink2", "--")
    _line(sheet, scale, days, points, "link", None)
    for verdict in dict.fromkeys(one.verdict for one in points if one.verdict):
        shape, colour = MARKS.get(verdict, OTHER_MARK)
        chosen = [one for one in points if one.verdict == verdict]
        sheet.marks(
            [(days.at(_day(one)), scale.at(one.gbyte_s)) for one in chosen if one.gbyte_s is not None],
            shape,
            colour,
            7.0,
        )


def _day(point: Point) -> float:
    return point.at.timestamp() / 86_400


def _days(points: Sequence[Point], left: float, right: float) -> Scale:
    days = [_day(one) for one in points] or [0.0]
    low, high = min(days), max(days)
    if low == high:
        return Scale(low - 1, high + 1, left, right)
    return Scale(low, high, left, right)


def _dates(sheet: Sheet, points: Sequence[Point], days: Scale) -> None:
    """The date (of runs of one day: the hour, UTC) below as many runs as there is room for, from the newest back."""
    free = days.end + _DATE
    hours = days.high - days.low < _ONE_DAY
    for one in sorted(points, key=_day, reverse=True):
        x = days.at(_day(one))
        sheet.line([(x, _BOTTOM), (x, _BOTTOM + 4)], "line", 0.8)
        # The outermost dates end where the scale does.
        middle = min(max(x, days.start + _DATE / 2 - 20), days.end - _DATE / 2 + 20)
        if middle + _DATE / 2 <= free:
            sheet.text(middle, _BOTTOM + 18, f"{one.at:%H:%M}" if hours else f"{one.at:%Y-%m-%d}", anchor="center")
            free = middle - _DATE / 2


def _line(sheet: Sheet, scale: Scale, days: Scale, points: Sequence[Point], colour: str, dash: str | None) -> None:
    """Broken where a run has no number."""
    part: list[tuple[float, float]] = []
    for one in (*points, None):
        if one is not None and one.gbyte_s is not None:
            part.append((days.at(_day(one)), scale.at(one.gbyte_s)))
            continue
        if len(part) > 1:
            sheet.line(part, colour, 1.4, dash)
        part = []
