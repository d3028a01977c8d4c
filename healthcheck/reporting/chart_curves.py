"""Bus bandwidth against message size: is it a plateau, a rate limit, or only small messages?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from healthcheck.model.judged import judged_rows
from healthcheck.model.measurement import CollectiveRow
from healthcheck.model.message import Message, say
from healthcheck.model.record import JobRecord, RunRecord
from healthcheck.model.verdict import Verdict
from healthcheck.reporting.bandwidth import limit_of, stage_text, who_ran
from healthcheck.reporting.chart import Picture, Table
from healthcheck.reporting.curve_drawing import CurveDrawing
from healthcheck.reporting.figures import gbyte_s, number, one_line, percent, size
from healthcheck.reporting.joining import in_a_row
from healthcheck.reporting.measured import measured, middle, together
from healthcheck.reporting.names import folded
from healthcheck.reporting.yardsticks import Yardstick

MOST_LINES = 6

Curve = tuple[tuple[int, float], ...]
"""(bytes, GB/s), sizes rising; a size without a number is left out."""


class CurveLine(Struct, frozen=True):
    """One job, or the median of many. `judged` is the number of the bandwidth table, GB/s."""

    who: str
    verdict: Verdict
    out_of_place: Curve
    in_place: Curve
    judged: float | None


class CurveChart(Struct, frozen=True):
    """One stage and collective. `judged` are the smallest and largest size that are judged, None where none is.

    `left_out` jobs that are not PASS have no line.
    """

    stage: str
    collective: str
    lines: tuple[CurveLine, ...]
    sizes: tuple[int, ...]
    judged: tuple[int, int] | None
    yardstick: Yardstick
    left_out: int


def curves(record: RunRecord, held: dict[tuple[str, str], Yardstick]) -> tuple[CurveChart, ...]:
    """One for each stage and collective that has more than one size; a single size is no curve."""
    groups: dict[tuple[str, str], list[JobRecord]] = {}
    for job in together(record):
        if any(half.busbw_gbyte_s is not None for row in job.rows for _, half in row.placements):
            groups.setdefault((job.stage, job.collective), []).append(job)
    charts = (_chart(record, key, jobs, held.get(key, Yardstick())) for key, jobs in groups.items())
    return tuple(chart for chart in charts if len(chart.sizes) > 1)


def _chart(record: RunRecord, key: tuple[str, str], jobs: Sequence[JobRecord], yardstick: Yardstick) -> CurveChart:
    """The median of the nodes that are PASS (of all where none is), then the slowest of the others by name."""
    named = len(record.hosts)
    alone = [job for job in jobs if len(job.hosts) == 1]
    passed = [job for job in alone if job.verdict is Verdict.PASS]
    alike = passed or alone
    if len(alike) == 1:
        alike = []
    kept = {job.id for job in alike}
    others = [job for job in jobs if job.id not in kept]
    lines: list[CurveLine] = []
    if alike:
        verdict = max(job.judged_as for job in alike)
        lines.append(_line(str(say("report.who.median", n=len(alike))), verdict, alike))
    chosen = _chosen(others, MOST_LINES - len(lines))
    lines += [_line(_who(job, jobs[0], named), job.judged_as, [job]) for job in chosen]
    rows = [row for job in jobs for row in job.rows]
    judged = [row.size_bytes for row in judged_rows(rows)]
    return CurveChart(
        stage=key[0],
        collective=key[1],
        lines=tuple(lines),
        sizes=tuple(sorted({row.size_bytes for row in rows})),
        judged=(min(judged), max(judged)) if judged else None,
        yardstick=yardstick,
        left_out=len(others) - len(chosen),
    )


def _chosen(jobs: Sequence[JobRecord], most: int) -> list[JobRecord]:
    """In the order of the run: the last one, which may be the proven set, and the slowest."""
    if len(jobs) <= most:
        return list(jobs)
    kept = {jobs[-1].id}
    for job in sorted(jobs, key=lambda job: measured(job).slower or 0.0):
        if len(kept) < most:
            kept.add(job.id)
    return [job for job in jobs if job.id in kept]


def _who(job: JobRecord, first: JobRecord, named: int) -> str:
    return folded(job.hosts) if len(job.hosts) == 1 else one_line(str(who_ran(job, first, named)))


def _line(who: str, verdict: Verdict, jobs: Sequence[JobRecord]) -> CurveLine:
    by_size: dict[int, list[CollectiveRow]] = {}
    for job in jobs:
        for row in job.rows:
            by_size.setdefault(row.size_bytes, []).append(row)
    ordered = sorted(by_size.items())
    each = [measured(job) for job in jobs]
    halves = (middle(one.out_of_place for one in each), middle(one.in_place for one in each))
    return CurveLine(
        who=who,
        verdict=verdict,
        out_of_place=_curve(
            (at, middle(r.out_of_place.busbw_gbyte_s for r in rows if r.out_of_place)) for at, rows in ordered
        ),
        in_place=_curve((at, middle(r.in_place.busbw_gbyte_s for r in rows if r.in_place)) for at, rows in ordered),
        judged=min((half for half in halves if half is not None), default=None),
    )


def _curve(points: Iterable[tuple[int, float | None]]) -> Curve:
    return tuple((at, value) for at, value in points if value is not None)


def curve_picture(chart: CurveChart, record: RunRecord) -> Picture:
    """The chart in words, with the numbers it shows."""
    notes = [say("report.plots.curve.placements")]
    if chart.judged is None:
        notes.append(say("report.plots.curve.nothing_judged"))
    elif chart.yardstick.peak is not None:
        smallest, largest = chart.judged
        span = say("report.bandwidth.span", smallest=size(smallest), largest=size(largest))
        notes.append(say("report.plots.curve.judged", span=size(largest) if smallest == largest else span))
    said = [_sentence(line, chart, record) for line in chart.lines if line.judged is not None]
    if chart.left_out:
        said.append(say("report.plots.curve.more", n=chart.left_out))
    drawing = CurveDrawing(
        lines=tuple((_legend(line), line.verdict, line.out_of_place, line.in_place) for line in chart.lines),
        sizes=chart.sizes,
        judged=chart.judged,
        yardstick=chart.yardstick,
    )
    stage, collective = stage_text(chart.stage), one_line(chart.collective)
    return Picture(
        place="bandwidth",
        title=str(say("report.plots.curve.title", stage=stage, collective=collective)),
        sentence=in_a_row((one_line(str(message)) for message in said), "text.next"),
        note=in_a_row(notes, "text.next"),
        table=_table(chart),
        height=drawing.height,
        draw=drawing.draw,
    )


def _legend(line: CurveLine) -> str:
    return str(say("report.plots.curve.legend", who=line.who, verdict=line.verdict.name))


def _sentence(line: CurveLine, chart: CurveChart, record: RunRecord) -> Message:
    limit = limit_of(record, chart.stage, chart.collective)
    value = line.judged or 0.0
    if limit is None or chart.yardstick.peak is None:
        return say("report.plots.curve.line_no_peak", who=line.who, busbw=gbyte_s(value))
    of_peak = say("report.bandwidth.of_peak", percent=percent(value, limit), peak=number(limit.peak))
    return say("report.plots.curve.line", who=line.who, busbw=gbyte_s(value), of_peak=of_peak)


def _table(chart: CurveChart) -> Table:
    rows = [
        (
            str(say("report.plots.curve.place", who=line.who, placement=say(placement))),
            *(gbyte_s(dict(curve).get(at)) for at in chart.sizes),
        )
        for line in chart.lines
        for placement, curve in (
            ("report.term.out_of_place", line.out_of_place),
            ("report.term.in_place", line.in_place),
        )
    ]
    columns = (str(say("report.plots.col.line")), *map(size, chart.sizes))
    return Table(columns, tuple(rows), tuple(range(1, len(columns))))
