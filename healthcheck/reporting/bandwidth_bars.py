"""Beside the numbers of the bandwidth table: a bar on one scale for all rows, and what known-good machines read."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from healthcheck.model.message import say
from healthcheck.model.record import RunRecord
from healthcheck.model.verdict import Verdict
from healthcheck.reporting.bandwidth import Bandwidth, BandwidthRow
from healthcheck.reporting.figures import not_measured, number
from healthcheck.reporting.joining import in_a_row, sentence
from healthcheck.reporting.yardsticks import Bullet, Yardstick, bullet, yardsticks


class Bar(Struct, frozen=True):
    """One row: `bullet` is None without number or peak; `known_good` as text, in percent of it."""

    bullet: Bullet | None
    known_good: str


def bars(record: RunRecord, table: Bandwidth) -> tuple[Bar, ...]:
    """One for each row of the table, in its order."""
    known = yardsticks(record)
    shares = [row.value / known[row.of].peak for row in table.rows if _has_bar(row, known)]  # type: ignore[operator]
    largest = max(shares, default=1.0)
    return tuple(_bar(row, known.get(row.of, Yardstick()), largest) for row in table.rows)


def _has_bar(row: BandwidthRow, known: dict[tuple[str, str], Yardstick]) -> bool:
    return row.value is not None and row.of in known and bool(known[row.of].peak)


def _bar(row: BandwidthRow, yardstick: Yardstick, largest: float) -> Bar:
    if row.value is None:
        return Bar(None, not_measured())
    good = yardstick.known_good
    if not good:
        text = say("report.bandwidth.no_known_good")
    else:
        text = say("report.bandwidth.of_known_good", percent=round(100 * row.value / good), value=number(good))
    return Bar(bullet(row.value, yardstick, largest), str(text))


def bandwidth_answer(table: Bandwidth) -> str:
    """The table in one line: each stage as it was found first, and how it ended."""
    told: dict[tuple[str, str], list[BandwidthRow]] = {}
    for row in table.rows:
        told.setdefault(row.of, []).append(row)
    below = dict(table.below)
    several = len({collective for _, collective in told}) > 1
    return (
        sentence(in_a_row((_stage(rows, several, below.get(of, 0)) for of, rows in told.items()), "text.full_stop"))
        if told
        else ""
    )


def _stage(rows: Sequence[BandwidthRow], several: bool, below: int) -> str:
    first, last = rows[0], rows[-1]
    stage = in_a_row((first.stage, first.collective), "text.comma") if several else first.stage
    if first.percent is None:
        told = say("report.bandwidth.told_unknown", stage=stage, busbw=with_unit(first), who=_who(first))
    else:
        told = say("report.bandwidth.told", stage=stage, busbw=first.judged, of_peak=first.of_peak, who=_who(first))
    parts = [str(told)]
    if below > (first.who_is_name and first.verdict is not Verdict.PASS):
        parts.append(str(say("report.bandwidth.below", n=below)))
    elif last is not first and last.percent is not None:
        parts.append(str(say("report.bandwidth.told_next", busbw=last.judged, of_peak=last.of_peak, who=_who(last))))
    return in_a_row(parts)


def with_unit(row: BandwidthRow) -> str:
    """What a row reads, in words where it reads nothing."""
    return row.judged if row.value is None else str(say("report.unit.gbyte_s", value=row.judged))


def _who(row: BandwidthRow) -> str:
    return row.hosts if row.who_is_name else row.who
