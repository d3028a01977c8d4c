"""The bandwidth table of `report.md`: single nodes that one rule found share a row, whatever their number."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from healthcheck.model.message import say
from healthcheck.model.verdict import Verdict
from healthcheck.reporting.bandwidth import Bandwidth, BandwidthRow
from healthcheck.reporting.joining import in_a_row, pair
from healthcheck.reporting.names import folded

ALONE = 3
"""Single nodes that one rule found with a row each; more of them are one row."""


class TicketRow(Struct, frozen=True):
    """One line, as text. `rule` is the one that decided and why; the other rules stand in report.html."""

    stage: str
    who: str
    what: str
    out_of_place: str
    in_place: str
    algbw: str
    of_peak: str
    known_good: str
    verdict: Verdict
    rule: str


def ticket_rows(table: Bandwidth, known_good: Sequence[str]) -> tuple[TicketRow, ...]:
    """The rows in the order of the table, nodes that share one where the first of them stood."""
    alike: dict[object, list[TicketRow]] = {}
    for place, (row, good) in enumerate(zip(table.rows, known_good, strict=True)):
        own = place if not row.who_is_name else (row.of, row.at, row.verdict, row.rule)
        alike.setdefault(own, []).append(_told(row, good))
    return tuple(one for rows in alike.values() for one in (rows if len(rows) <= ALONE else [_together(rows)]))


def _told(row: BandwidthRow, known_good: str) -> TicketRow:
    return TicketRow(
        stage=row.stage,
        who=row.hosts if row.who_is_name else row.who,
        what=in_a_row((row.collective, row.at), "text.comma"),
        out_of_place=row.out_of_place,
        in_place=row.in_place,
        algbw=row.algbw,
        of_peak=row.of_peak,
        known_good=known_good,
        verdict=row.verdict,
        rule=pair(row.rule, row.why) if row.rule and row.why else row.rule or row.why,
    )


def _together(rows: Sequence[TicketRow]) -> TicketRow:
    first = rows[0]
    return TicketRow(
        stage=first.stage,
        who=folded(row.who for row in rows),
        what=first.what,
        out_of_place=_span([row.out_of_place for row in rows]),
        in_place=_span([row.in_place for row in rows]),
        algbw=_span([row.algbw for row in rows]),
        of_peak=_span([row.of_peak for row in rows]),
        known_good=_span([row.known_good for row in rows]),
        verdict=first.verdict,
        rule=first.rule,
    )


def _span(texts: Sequence[str]) -> str:
    """The least and the most of what is written out, in the order of its first number; one text where all are equal."""
    ordered = sorted(dict.fromkeys(texts), key=_first_number)
    if len(ordered) == 1:
        return ordered[0]
    return str(say("report.bandwidth.span", smallest=ordered[0], largest=ordered[-1]))


def _first_number(text: str) -> tuple[bool, float, str]:
    word = text.split(" ", 1)[0]
    try:
        return (False, float(word), text)
    except ValueError:
        return (True, 0.0, text)
