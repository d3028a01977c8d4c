"""Lines over time as SVG. matplotlib is imported inside: only a page with plots pays for it.

No text of a record stands in a plot, only dates and numbers, so that it may be placed into a page as it is. Colours
are those of the page, for light and dark.
"""

from __future__ import annotations

import io
import logging
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Stand-ins that matplotlib writes and the page replaces by its variables.
_COLOURS = {
    "ink": "#010101",
    "ink2": "#010102",
    "line": "#010103",
    "link": "#010104",
    "pass": "#010105",
    "degr": "#010106",
    "inc": "#010107",
    "fail": "#010108",
    "skip": "#010109",
}
_MARKS = {"PASS": ("o", "pass"), "DEGRADED": ("v", "degr"), "INCONCLUSIVE": ("s", "inc"), "FAIL": ("X", "fail")}
_OTHER = ("D", "skip")
_INCHES = (10.0, 2.8)
# The axis shows at least this part of the largest value, so that noise does not look like a fall.
_LEAST_RANGE = 0.1


class Point(Struct, frozen=True):
    """One run: its instant, GB/s (None: not measured), and its verdict by name, empty for none."""

    at: datetime
    gbyte_s: float | None
    verdict: str = ""


def line_plot(points: Sequence[Point], lowest: Sequence[Point] = (), reference: float | None = None) -> str:
    """An `<svg>` of bus bandwidth in GB/s over time; `lowest` is a second, dashed line, `reference` a level across."""
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "healthcheck", "font.size": 10}):
        figure = Figure(figsize=_INCHES, layout="constrained")
        figure.patch.set_visible(False)
        axes = figure.add_subplot()
        _frame(axes)
        if reference is not None:
            axes.axhline(reference, color=_COLOURS["line"], linewidth=1)
        _line(axes, lowest, "--", "ink2")
        _line(axes, points, "-", "link")
        _marks(axes, points)
        known = [one.gbyte_s for one in (*points, *lowest) if one.gbyte_s is not None]
        if known:
            high = max(known)
            low = min(min(known), high * (1 - _LEAST_RANGE))
            margin = 0.08 * (high - low) or 1.0
            axes.set_ylim(low - margin, high + margin)
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None, "Type": None, "Format": None})
    svg = text.getvalue()
    svg = svg[svg.index("<svg") :].rstrip()
    for name, colour in _COLOURS.items():
        svg = svg.replace(colour, f"var(--{name})")
    return svg


def _frame(axes: Axes) -> None:
    axes.patch.set_visible(False)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(_COLOURS["line"])
    axes.tick_params(colors=_COLOURS["ink2"])
    axes.grid(axis="y", color=_COLOURS["line"], linewidth=0.5)
    axes.set_axisbelow(True)
    axes.set_ylabel("GB/s", color=_COLOURS["ink2"])
    axes.xaxis_date()


def _dates(points: Sequence[Point]) -> list[float]:
    """Days since 1970, as matplotlib counts them."""
    return [one.at.timestamp() / 86_400 for one in points]


def _line(axes: Axes, points: Sequence[Point], style: str, colour: str) -> None:
    if points:
        values = [float("nan") if one.gbyte_s is None else one.gbyte_s for one in points]
        axes.plot(_dates(points), values, style, color=_COLOURS[colour], linewidth=1.4)


def _marks(axes: Axes, points: Sequence[Point]) -> None:
    """Verdicts by shape as well as by colour."""
    for verdict in dict.fromkeys(one.verdict for one in points if one.verdict):
        marker, colour = _MARKS.get(verdict, _OTHER)
        chosen = [one for one in points if one.verdict == verdict and one.gbyte_s is not None]
        values = [one.gbyte_s for one in chosen if one.gbyte_s is not None]
        axes.plot(_dates(chosen), values, marker, color=_COLOURS[colour], markersize=6, linestyle="none")
