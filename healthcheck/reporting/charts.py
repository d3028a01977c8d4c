"""All charts of a report: made from the record, drawn one by one, and never a reason to lose a page."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from healthcheck.model.earlier import EarlierRun
from healthcheck.model.message import say
from healthcheck.model.record import RunRecord
from healthcheck.reporting.chart import WIDTH, Matrix, Picture, Table
from healthcheck.reporting.chart_curves import curve_picture, curves
from healthcheck.reporting.chart_pairs import pair_pictures
from healthcheck.reporting.chart_past import past_picture, pasts
from healthcheck.reporting.chart_strips import strip_picture, strips
from healthcheck.reporting.figures import one_line
from healthcheck.reporting.svg import drawn
from healthcheck.reporting.yardsticks import Yardstick, yardsticks


class Plot(Struct, frozen=True):
    """A chart, ready to be placed. `svg` is finished markup, empty where it could not be drawn or is a matrix.

    `place` is the section it belongs to: bandwidth, search or past. `key` is an id that no other plot has. All other
    texts are not yet escaped.
    """

    place: str
    key: str
    title: str
    sentence: str
    note: str
    svg: str
    table: Table | None
    matrix: Matrix | None


class Charts(Struct, frozen=True):
    """The charts of a page. `note` says why some could not be drawn, empty when all were."""

    plots: tuple[Plot, ...] = ()
    note: str = ""


def charts(record: RunRecord, runs: Sequence[EarlierRun] = ()) -> Charts:
    """Everything a page can show of a record; `runs` are those of these nodes, oldest first, the last one is this.

    Whatever goes wrong while drawing, the rest of the page stands: it is said in the note, and never raised.
    """
    pictures, problems = _pictures(record, runs)
    return _drawn(pictures, problems)


def drawn_charts(makers: Sequence[Callable[[], Picture]]) -> Charts:
    """What the makers make, one chart each; one that fails is said in the note, and the others stand."""
    pictures: list[Picture] = []
    problems: list[Exception] = []
    for make in makers:
        try:
            pictures.append(make())
        except Exception as error:  # noqa: BLE001 (a chart is never worth a page)
            problems.append(error)
    return _drawn(pictures, problems)


def _drawn(pictures: Sequence[Picture], problems: list[Exception]) -> Charts:
    plots: list[Plot] = []
    for number, picture in enumerate(pictures, 1):
        key = f"plot{number}"
        svg = ""
        if picture.draw is not None:
            try:
                svg = drawn(key, WIDTH, picture.height, picture.title, picture.sentence, picture.draw)
            except Exception as error:  # noqa: BLE001 (a chart is never worth a report)
                problems.append(error)
        plots.append(
            Plot(picture.place, key, picture.title, picture.sentence, picture.note, svg, picture.table, picture.matrix)
        )
    if not problems:
        return Charts(tuple(plots))
    why = one_line(f"{type(problems[0]).__name__}: {problems[0]}")
    return Charts(tuple(plots), str(say("report.plots.not_drawn", why=why)))


def _pictures(record: RunRecord, runs: Sequence[EarlierRun]) -> tuple[list[Picture], list[Exception]]:
    held: dict[tuple[str, str], Yardstick] = {}
    pictures: list[Picture] = []
    problems: list[Exception] = []
    makers: tuple[Callable[[], Sequence[Picture]], ...] = (
        lambda: [strip_picture(strip) for strip in strips(record, held)],
        lambda: [curve_picture(chart, record) for chart in curves(record, held)],
        lambda: pair_pictures(record),
        lambda: [past_picture(chart) for chart in pasts(runs, held)],
    )
    try:
        held.update(yardsticks(record))
    except Exception as error:  # noqa: BLE001 (a chart without limits is better than none)
        problems.append(error)
    for make in makers:
        try:
            pictures += make()
        except Exception as error:  # noqa: BLE001 (a chart is never worth a report)
            problems.append(error)
    return pictures, problems
