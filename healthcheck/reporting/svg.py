"""One SVG drawn with matplotlib, cleaned so that it can stand in a page: its colours, its font, its light and dark.

Everything is drawn in points of the sheet, y downwards. matplotlib is imported inside: only a page with charts pays.
"""

from __future__ import annotations

import html
import io
import logging
import re
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from healthcheck.reporting.text_width import width_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.typing import RcKeyType

COLOURS = {
    "ink": "#010101",
    "ink2": "#010102",
    "line": "#010103",
    "link": "#010104",
    "pass": "#010105",
    "degr": "#010106",
    "inc": "#010107",
    "fail": "#010108",
    "skip": "#010109",
    "grid": "#01010a",
    "bg": "#01010b",
}
"""Stand-ins that matplotlib writes, and that become the variables of the page's stylesheet."""
MARKS = {"PASS": ("o", "pass"), "DEGRADED": ("v", "degr"), "INCONCLUSIVE": ("s", "inc"), "FAIL": ("X", "fail")}
"""Marker and colour of a verdict; any other is `OTHER_MARK`."""
OTHER_MARK = ("D", "skip")
POINTS_PER_INCH = 72
LETTER = 7.2
"""The width of an average letter of a chart, in points, as large as it is on a telephone."""

_VARIABLES = {colour: f"var(--{name})" for name, colour in COLOURS.items()}
_TAG = re.compile(r"(<[^>]*>)")
_LONG = re.compile(r"-?\d+\.\d{3,}(?:e-?\d+)?")
_TEXT_STYLE = re.compile(r"(?:font|font-[a-z]+): [^;\"]*;? ?")
_SETTINGS: dict[RcKeyType, object] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "healthcheck",
    "font.family": "sans-serif",
    "font.sans-serif": "DejaVu Sans",
    "font.size": 11.0,
    "text.parse_math": False,
    "text.usetex": False,
    "path.sketch": None,
    "path.simplify": False,
    "lines.antialiased": True,
}
_NO_METADATA = {"Date": None, "Creator": None, "Type": None, "Format": None}


class Sheet:
    """What a chart draws on: `width` times `height` points, the origin at the top left."""

    def __init__(self, axes: Axes) -> None:
        self._axes = axes

    def line(
        self, points: Sequence[tuple[float, float]], colour: str, width: float = 1.4, dash: str | None = None
    ) -> None:
        """A line through `points`; `dash` as matplotlib writes it (`--`, `:`), None for a solid one."""
        xs, ys = [x for x, _ in points], [y for _, y in points]
        self._axes.plot(xs, ys, dash or "-", color=COLOURS[colour], linewidth=width, clip_on=False)

    def area(self, left: float, top: float, right: float, bottom: float, colour: str, opacity: float) -> None:
        """A filled rectangle without an edge."""
        xs, ys = [left, right, right, left], [top, top, bottom, bottom]
        self._axes.fill(xs, ys, facecolor=COLOURS[colour], edgecolor="none", alpha=opacity, clip_on=False)

    def marks(
        self, points: Sequence[tuple[float, float]], shape: str, colour: str, size: float = 6.0, hollow: bool = False
    ) -> None:
        """One marker of that shape at each point, with a rim in the colour of the page so that neighbours separate."""
        self._axes.plot(
            [x for x, _ in points],
            [y for _, y in points],
            marker=shape,
            linestyle="none",
            markersize=size,
            markerfacecolor=COLOURS["bg" if hollow else colour],
            markeredgecolor=COLOURS[colour if hollow else "bg"],
            markeredgewidth=1.2 if hollow else 0.5,
            clip_on=False,
        )

    def text(self, x: float, y: float, text: str, colour: str = "ink2", anchor: str = "left") -> None:
        """A text on the base line `y`; `anchor` left, center or right says which part of it stands at `x`."""
        self._axes.text(x, y, text, color=COLOURS[colour], ha=anchor, va="baseline", parse_math=False, clip_on=False)


def room_for(text: str) -> float:
    """What is kept free for a text, in points; a Chinese character is as wide as two letters."""
    return LETTER * width_of(text)


def drawn(key: str, width: float, height: float, title: str, finding: str, draw: Callable[[Sheet], None]) -> str:
    """An `<svg>` of `draw`; its ids begin with `key`, which no other chart of the page may use.

    `title` and `finding` are what a screen reader says. Whatever text is drawn comes out escaped.
    """
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    text = io.StringIO()
    # Only a reader's own fonts are used, so that matplotlib's lack of a letter is no news.
    with warnings.catch_warnings(), rc_context(_SETTINGS):
        warnings.simplefilter("ignore")
        figure = Figure(figsize=(width / POINTS_PER_INCH, height / POINTS_PER_INCH))
        figure.patch.set_visible(False)
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        axes.set_axis_off()
        axes.set_autoscale_on(False)
        axes.set_xlim(0, width)
        axes.set_ylim(height, 0)
        draw(Sheet(axes))
        figure.savefig(text, format="svg", metadata=_NO_METADATA)
    head = (
        f'<svg class="plot" viewBox="0 0 {width:g} {height:g}" role="img" aria-labelledby="{key}-title" '
        f'aria-describedby="{key}-desc"><title id="{key}-title">{html.escape(title)}</title>'
        f'<desc id="{key}-desc">{html.escape(finding)}</desc>'
    )
    return head + _cleaned(text.getvalue(), key) + "</svg>"


def _cleaned(svg: str, key: str) -> str:
    """What stands inside matplotlib's `<svg>`: no style for the whole page, no font, no id but those that are used."""
    inside = svg[svg.index(">", svg.index("<svg")) + 1 : svg.rindex("</svg>")]
    inside = re.sub(r"<style.*?</style>", "", inside, flags=re.S)
    parts = _TAG.split(inside)
    used = {name for tag in parts[1::2] for name in re.findall(r'xlink:href="#([^"]+)"', tag)}
    short = {name: f"{key}-{number}" for number, name in enumerate(sorted(used))}
    made: list[str] = []
    groups: list[bool] = []
    for place, part in enumerate(parts):
        if place % 2 == 0:
            made.append(part if part.strip() else "")
            continue
        tag = _tag(part, short)
        # A group that says nothing is left out, and so is its end.
        if tag.startswith("<g") and not tag.endswith("/>"):
            groups.append(tag != "<g>")
        if tag != "<g>" and (tag != "</g>" or groups.pop()):
            made.append(tag)
    return re.sub(r"<defs></defs>", "", "".join(made))


def _tag(tag: str, short: dict[str, str]) -> str:
    def identified(match: re.Match[str]) -> str:
        name = short.get(match[1])
        return f' id="{name}"' if name else ""

    tag = re.sub(r' id="([^"]*)"', identified, tag)
    tag = re.sub(r'xlink:href="#([^"]+)"', lambda match: f'href="#{short[match[1]]}"', tag)
    tag = re.sub(r' transform="rotate\(-?0 [^"]*\)"', "", tag)
    if tag.startswith("<text"):
        tag = _TEXT_STYLE.sub("", tag)
    tag = _LONG.sub(lambda match: f"{float(match[0]):.2f}".rstrip("0").rstrip("."), tag)
    for colour, variable in _VARIABLES.items():
        tag = tag.replace(colour, variable)
    tag = tag.replace(' style=""', "").replace('; "', '"')
    return re.sub(r"\s+(?=/?>$)", "", re.sub(r"\s+", " ", tag.replace(' \nz\n"', 'z"').replace("\nz\n", "z")))
