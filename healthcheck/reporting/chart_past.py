"""The last runs of these nodes beside this one: a drift, a step, or a first?"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from msgspec import Struct

from healthcheck.model.earlier import EarlierRun, PastReading
from healthcheck.model.message import say
from healthcheck.model.units import signed
from healthcheck.parsing.run_history import instant
from healthcheck.reporting.bandwidth import stage_text
from healthcheck.reporting.chart import Picture, Table
from healthcheck.reporting.figures import gbyte_s, not_measured, number, one_line
from healthcheck.reporting.joining import in_a_row
from healthcheck.reporting.plots import Point, draw_line_plot, line_plot_height
from healthcheck.reporting.yardsticks import Yardstick

MOST_RUNS = 12
"""With the one that is told of."""


class PastChart(Struct, frozen=True):
    """One stage and collective over the runs, oldest first; None for a run that did not measure it."""

    stage: str
    collective: str
    runs: tuple[EarlierRun, ...]
    readings: tuple[PastReading | None, ...]
    yardstick: Yardstick

    @property
    def alone(self) -> bool:
        """Whether a run is the median of nodes that were measured one by one."""
        return any(one is not None and one.lowest for one in self.readings)


def pasts(runs: Sequence[EarlierRun], held: dict[tuple[str, str], Yardstick]) -> tuple[PastChart, ...]:
    """One for each stage and collective of the last of `runs` that another one measured, too."""
    shown = tuple(runs[-MOST_RUNS:])
    if len(shown) < 2:
        return ()
    made: list[PastChart] = []
    for now in shown[-1].readings:
        key = (now.stage, now.collective)
        readings = tuple(_of(run, key) for run in shown)
        if any(one is not None for one in readings[:-1]):
            made.append(PastChart(*key, shown, readings, held.get(key, Yardstick())))
    return tuple(made)


def _of(run: EarlierRun, key: tuple[str, str]) -> PastReading | None:
    return next((one for one in run.readings if (one.stage, one.collective) == key), None)


def past_picture(chart: PastChart) -> Picture:
    """The chart in words, with the numbers it shows."""
    at = [instant(run.started_at) for run in chart.runs]
    pairs = list(zip(at, chart.readings, strict=True))
    points = [
        Point(when, None if one is None else one.gbyte_s, "" if one is None else one.verdict) for when, one in pairs
    ]
    lowest = [Point(when, None if one is None else one.lowest_gbyte_s) for when, one in pairs] if chart.alone else []
    limit, known = chart.yardstick.healthy_gbyte_s, chart.yardstick.known_good
    levels = [
        (value, str(say(code, value=number(value))))
        for value, code in ((limit, "report.plots.past.limit"), (known, "report.plots.known_good"))
        if value is not None
    ]
    title = say(
        "report.plots.past.title",
        stage=stage_text(chart.stage),
        collective=one_line(chart.collective),
        n=len(chart.runs),
    )
    return Picture(
        place="past",
        title=str(title),
        sentence=in_a_row((_sentence(chart), *_lowest(chart)), "text.next"),
        note=str(say("report.plots.past.note_inside" if chart.alone else "report.plots.past.note_between")),
        table=_table(chart),
        height=line_plot_height(),
        draw=lambda sheet: draw_line_plot(sheet, points, lowest, levels),
    )


def _sentence(chart: PastChart) -> str:
    now = chart.readings[-1]
    found = [one for one in chart.readings[:-1] if one is not None]
    # Over another number of nodes a job is another job: it is no measure of what changed.
    alike = [one.gbyte_s for one in found if chart.alone or now is None or one.nodes == now.nodes]
    before = alike or [one.gbyte_s for one in found]
    low, high, middle = min(before), max(before), median(before)
    if now is not None and not alike:
        told = say(
            "report.plots.past.now_other",
            now=gbyte_s(now.gbyte_s),
            nodes=now.nodes,
            n=len(before),
            low=gbyte_s(low),
            high=gbyte_s(high),
        )
        return str(told)
    if now is None or middle <= 0:
        return str(say("report.plots.past.before", n=len(before), low=gbyte_s(low), high=gbyte_s(high)))
    told = say(
        "report.plots.past.now",
        now=gbyte_s(now.gbyte_s),
        middle=gbyte_s(middle),
        change=signed(100 * (now.gbyte_s / middle - 1)),
        n=len(before),
        low=gbyte_s(low),
        high=gbyte_s(high),
    )
    return str(told)


def _lowest(chart: PastChart) -> tuple[str, ...]:
    """Which node is the dashed line of this run."""
    now = chart.readings[-1]
    if now is None or not now.lowest:
        return ()
    told = say("report.plots.past.lowest", name=one_line(now.lowest), value=gbyte_s(now.lowest_gbyte_s))
    return (str(told),)


def _table(chart: PastChart) -> Table:
    codes = ["report.plots.col.date", "report.plots.col.run", "report.col.verdict", "report.col.nodes"]
    codes += ["report.plots.col.busbw", *(["report.plots.col.lowest_node"] if chart.alone else [])]
    rows = tuple(_row(run, one)[: len(codes)] for run, one in zip(chart.runs, chart.readings, strict=True))
    return Table(tuple(str(say(code)) for code in codes), rows, (3, 4))


def _row(run: EarlierRun, one: PastReading | None) -> tuple[str, ...]:
    date, run_id = instant(run.started_at).date().isoformat(), one_line(run.run_id)
    if one is None:
        return (date, run_id, not_measured(), "0", not_measured(), not_measured())
    lowest = f"{gbyte_s(one.lowest_gbyte_s)} ({one_line(one.lowest)})" if one.lowest else not_measured()
    return (date, run_id, one_line(one.verdict), str(one.nodes), gbyte_s(one.gbyte_s), lowest)
