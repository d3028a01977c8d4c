"""All nodes of a stage as marks, a row for each group: who stands out, and who was never in a fast job?"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from statistics import median

from msgspec import Struct

from healthcheck.model.component import natural
from healthcheck.model.message import Message, say
from healthcheck.model.record import RunRecord
from healthcheck.model.verdict import Verdict
from healthcheck.reporting.bandwidth import stage_text
from healthcheck.reporting.chart import Picture, Table
from healthcheck.reporting.cluster_map import group_labels
from healthcheck.reporting.figures import one_line
from healthcheck.reporting.joining import in_a_row
from healthcheck.reporting.measured import measured, together
from healthcheck.reporting.names import folded
from healthcheck.reporting.strip_drawing import StripDrawing
from healthcheck.reporting.yardsticks import Yardstick

MARKS_UP_TO = 256
"""Nodes that each get a mark; of more, a group is a bar and only nodes that are not PASS have one."""
MOST_ROWS = 64
"""Groups that each get a row; of more, those without a node that stands out share one."""


class Spot(Struct, frozen=True):
    """One node: GB/s and verdict of its own job, or of the best job it took part in."""

    name: str
    group: str
    gbyte_s: float
    verdict: Verdict


class Row(Struct, frozen=True):
    """One row: all its nodes; `folded` counts the groups that share it."""

    title: str
    spots: tuple[Spot, ...]
    folded: int = 0


class Strip(Struct, frozen=True):
    """One chart. `named` are the nodes with a worse verdict than the best one here, lowest first."""

    stage: str
    collective: str
    alone: bool
    rows: tuple[Row, ...]
    named: tuple[Spot, ...]
    unmeasured: tuple[str, ...]
    yardstick: Yardstick
    bars: bool

    @property
    def spots(self) -> tuple[Spot, ...]:
        """All nodes that were measured."""
        return tuple(spot for row in self.rows for spot in row.spots)


def strips(record: RunRecord, held: dict[tuple[str, str], Yardstick]) -> tuple[Strip, ...]:
    """One for each stage and collective in which anything was measured, in the order of the run."""
    _, group_of = group_labels(record)
    found: dict[tuple[str, str], dict[str, Spot]] = {}
    alone: dict[tuple[str, str], bool] = {}
    for job in together(record):
        value = measured(job).slower
        if value is None:
            continue
        key = (job.stage, job.collective)
        spots = found.setdefault(key, {})
        alone[key] = alone.get(key, True) and len(job.hosts) == 1
        for host in job.hosts:
            spot = Spot(host, one_line(group_of.get(host, "")), value, job.judged_as)
            before = spots.get(host)
            if before is None or (value < before.gbyte_s) == (len(job.hosts) == 1):
                spots[host] = spot
    return tuple(
        _strip(record, key, tuple(spots.values()), alone[key], held.get(key, Yardstick()))
        for key, spots in found.items()
    )


def _strip(
    record: RunRecord, key: tuple[str, str], spots: tuple[Spot, ...], alone: bool, yardstick: Yardstick
) -> Strip:
    usual = min(spot.verdict for spot in spots)
    named = sorted((spot for spot in spots if spot.verdict is not usual), key=lambda spot: spot.gbyte_s)
    seen = {spot.name for spot in spots}
    return Strip(
        stage=key[0],
        collective=key[1],
        alone=alone,
        rows=_rows(spots, {spot.name for spot in named}),
        named=tuple(named),
        unmeasured=tuple(host.name for host in record.hosts if host.name not in seen),
        yardstick=yardstick,
        bars=len(spots) > MARKS_UP_TO,
    )


def _rows(spots: Sequence[Spot], named: Collection[str]) -> tuple[Row, ...]:
    groups: dict[str, list[Spot]] = {}
    for spot in spots:
        groups.setdefault(spot.group, []).append(spot)
    ordered = sorted(groups.items(), key=lambda group: natural(group[0]))
    rows = [Row(title, tuple(found)) for title, found in ordered]
    if len(rows) <= MOST_ROWS:
        return tuple(rows)
    touched = [row for row in rows if any(spot.name in named for spot in row.spots)]
    worst = sorted(touched, key=lambda row: min(spot.gbyte_s for spot in row.spots if spot.name in named))
    kept = {row.title for row in worst[: MOST_ROWS - 1]}
    rest = [row for row in rows if row.title not in kept]
    others = tuple(spot for row in rest for spot in row.spots)
    shown = [row for row in rows if row.title in kept]
    code = "report.plots.strip.folded" if shown else "report.plots.strip.folded_all"
    return (*shown, Row(str(say(code, n=len(rest))), others, len(rest)))


def strip_picture(strip: Strip) -> Picture:
    """The chart in words, with the numbers it shows."""
    title = "report.plots.strip.inside" if strip.alone else "report.plots.strip.between"
    notes = [say("report.plots.strip.bars" if strip.bars else "report.plots.strip.marks")]
    if strip.bars and strip.named:
        notes.append(say("report.plots.strip.apart"))
    if not strip.alone:
        notes.append(say("report.plots.strip.best"))
    drawing = StripDrawing(
        rows=tuple((row.title, tuple((s.name, s.gbyte_s, s.verdict) for s in row.spots)) for row in strip.rows),
        named=frozenset(spot.name for spot in strip.named),
        yardstick=strip.yardstick,
        bars=strip.bars,
    )
    return Picture(
        place="bandwidth",
        title=str(say(title, stage=stage_text(strip.stage), collective=one_line(strip.collective))),
        sentence=_joined(_sentences(strip)),
        note=_joined(notes),
        table=_table(strip),
        height=drawing.height,
        draw=drawing.draw,
    )


def _joined(messages: Iterable[Message]) -> str:
    return in_a_row((one_line(str(message)) for message in messages), "text.next")


def _sentences(strip: Strip) -> list[Message]:
    named = {spot.name for spot in strip.named}
    others = [spot.gbyte_s for spot in strip.spots if spot.name not in named]
    said: list[Message] = []
    for verdict in sorted({spot.verdict for spot in strip.named}, reverse=True):
        alike = [spot for spot in strip.named if spot.verdict is verdict]
        names = folded(sorted(spot.name for spot in alike))
        low, high = _span(spot.gbyte_s for spot in alike)
        if low == high:
            said.append(say("report.plots.strip.out_one", verdict=verdict.name, names=names, value=low))
        else:
            said.append(say("report.plots.strip.out", verdict=verdict.name, names=names, low=low, high=high))
    said.append(_the_rest(strip, others))
    if strip.unmeasured:
        said.append(say("report.plots.strip.unmeasured", names=folded(strip.unmeasured)))
    return said


def _the_rest(strip: Strip, values: Sequence[float]) -> Message:
    """Who is not named: all of them PASS, or all of them something else."""
    low, high = _span(values)
    n, usual = len(values), min(spot.verdict for spot in strip.spots)
    if usual is not Verdict.PASS:
        code = "report.plots.strip.rest_not_pass" if strip.named else "report.plots.strip.none_pass"
        if low == high:
            same = "report.plots.strip.rest_not_pass_same" if strip.named else "report.plots.strip.none_pass_same"
            return Message(same, {"n": n, "value": low, "verdict": usual.name})
        return Message(code, {"n": n, "low": low, "high": high, "verdict": usual.name})
    if low == high:
        return say("report.plots.strip.others_same" if strip.named else "report.plots.strip.same", n=n, value=low)
    return say("report.plots.strip.others" if strip.named else "report.plots.strip.all", n=n, low=low, high=high)


def _span(values: Iterable[float]) -> tuple[str, str]:
    known = list(values)
    return f"{min(known):.1f}", f"{max(known):.1f}"


def _table(strip: Strip) -> Table:
    head = str(say("report.col.node")), str(say("report.col.group")), str(say("report.plots.col.busbw"))
    if not strip.bars:
        rows = tuple(
            (one_line(spot.name), spot.group, f"{spot.gbyte_s:.1f}", spot.verdict.name)
            for row in strip.rows
            for spot in sorted(row.spots, key=lambda spot: natural(spot.name))
        )
        return Table((*head, str(say("report.col.verdict"))), rows, (2,))
    columns = ("report.col.group", "report.col.nodes", "report.plots.col.lowest", "report.plots.col.median")
    more = ("report.plots.col.highest", "report.plots.col.not_pass")
    return Table(tuple(str(say(code)) for code in (*columns, *more)), tuple(map(_group_line, strip.rows)), (1, 2, 3, 4))


def _group_line(row: Row) -> tuple[str, ...]:
    values = [spot.gbyte_s for spot in row.spots]
    low, high = _span(values)
    names = [spot.name for spot in row.spots if spot.verdict is not Verdict.PASS]
    return (row.title, str(len(values)), low, f"{median(values):.1f}", high, folded(names) if names else "0")
