"""Below the decision: the most urgent cause, the fabric as found and without the sick, and who else needs a hand."""

from __future__ import annotations

from collections.abc import Sequence

from healthcheck.model.message import say
from healthcheck.reporting.bandwidth import Bandwidth, BandwidthRow, stage_text
from healthcheck.reporting.bandwidth_bars import with_unit
from healthcheck.reporting.joining import in_a_row
from healthcheck.reporting.todo import Entry

MOST_OTHERS = 3
"""Other things to do that are named in the verdict block."""


def headline(entries: Sequence[Entry], table: Bandwidth) -> tuple[str, ...]:
    """One sentence each: cause, numbers between the nodes, the rest of what is to do."""
    told: list[str] = []
    if entries:
        told.append(str(say("report.cause", component=entries[0].title, cause=entries[0].cause)))
    between = [row for row in table.rows if row.stage == stage_text("multi_node")]
    if between:
        told.append(_numbers(between[0], between[-1]))
    if len(entries) > 1:
        told.append(_others(entries[1:]))
    return tuple(told)


def _numbers(found: BandwidthRow, last: BandwidthRow) -> str:
    """As found; and, where others were measured afterwards, the last of them: that is without the sick."""
    if found.percent is None:
        return str(say("report.number_unknown", stage=found.stage, who=found.who, busbw=with_unit(found)))
    if last is found or last.percent is None or last.collective != found.collective:
        return str(say("report.number", stage=found.stage, who=found.who, busbw=found.judged, of_peak=found.of_peak))
    return str(
        say(
            "report.as_found_and_without",
            stage=found.stage,
            who=found.who,
            busbw=found.judged,
            of_peak=found.of_peak,
            others=last.who,
            busbw_without=last.judged,
            of_peak_without=last.of_peak,
        )
    )


def _others(entries: Sequence[Entry]) -> str:
    named = in_a_row(say("report.cause", component=entry.title, cause=entry.cause) for entry in entries[:MOST_OTHERS])
    left = len(entries) - MOST_OTHERS
    return str(say("report.also_more", what=named, n=left) if left > 0 else say("report.also", what=named))
