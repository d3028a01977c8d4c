"""The table of what changed since the last run: each stage, then who moved, nodes with the same story in one row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from healthcheck.errors import InputError
from healthcheck.evaluation.change_told import change_percent
from healthcheck.model.comparison import Absent, Comparison, Direction, GroupChange, Moved, VerdictChange
from healthcheck.model.earlier import PastReading
from healthcheck.model.message import Message, say
from healthcheck.model.playbook import STAGES
from healthcheck.parsing.nodeset import expand
from healthcheck.reporting.compared_view import percent
from healthcheck.reporting.figures import gbyte_s, not_measured, one_line
from healthcheck.reporting.names import folded

MOST_ALONE = 3
"""Nodes that moved for one reason with a row each; more of them share one."""
_WORDS = {
    Direction.WORSE: "report.since.worse",
    Direction.BETTER: "report.since.better",
    Direction.SAME: "report.since.same",
    Direction.UNKNOWN: "report.since.unknown",
}
Readings = dict[tuple[str, str], tuple[PastReading, PastReading]]
"""Before and now, by stage and collective."""


class SinceRow(Struct, frozen=True):
    """One line of the table, as text. `read_as` is one of worse, better, unchanged, unknown."""

    who: str
    measured: str
    before: str
    now: str
    change: str
    read_as: str
    why: str


def since_rows(comparison: Comparison, as_found: Readings) -> list[SinceRow]:
    """Each stage, then who got worse, who got better, and of whom nobody knows; a node stands in one row a stage.

    `as_found` is what both runs read in each stage over several nodes.
    """
    whys = {host: change for change in comparison.verdicts if not change.stage for host in members(change.hosts)}
    rows = [_group(group) for group in comparison.groups if group.saturated]
    told: set[str] = set()
    for way in (Direction.WORSE, Direction.BETTER, Direction.UNKNOWN):
        moved = list(_judged(one for one in comparison.moved if one.direction is way))
        rows += _moved_rows(moved, whys)
        told |= {one.hosts for one in moved}
        for change in (one for one in comparison.verdicts if one.direction is way):
            if change.stage and change.nodes == 1:
                continue  # the verdict of a job on one node is told with the node
            left = [host for host in members(change.hosts) if host not in told]
            if left or change.stage:
                rows.append(_verdict(change, left, as_found.get((change.stage, change.collective))))
            told |= set() if change.stage else set(left)
    return [*rows, *(_missing(one) for one in comparison.missing if not told.issuperset(members(one.hosts)))]


def members(hosts: str) -> tuple[str, ...]:
    """The names of a folded set; what is none, because somebody's name is no host name, stands for itself."""
    try:
        return expand(hosts, "")
    except InputError:
        return (hosts,)


def _judged(moved: Iterable[Moved]) -> Iterator[Moved]:
    """A node that moved at the sizes that are judged is not told again for its small sizes."""
    listed = list(moved)
    judged = {(one.stage, one.collective, one.hosts) for one in listed if one.saturated}
    return (one for one in listed if one.saturated or (one.stage, one.collective, one.hosts) not in judged)


def _moved_rows(moved: Sequence[Moved], whys: dict[str, VerdictChange]) -> Iterator[SinceRow]:
    alike: dict[tuple[str, str, bool, str], list[Moved]] = {}
    for one in moved:
        verdict = whys.get(one.hosts)
        why = "" if verdict is None or verdict.reason is None else one_line(str(verdict.reason))
        alike.setdefault((one.stage, one.collective, one.saturated, why), []).append(one)
    for (_, _, _, why), found in alike.items():
        for group in [found] if len(found) > MOST_ALONE else [[one] for one in found]:
            yield _moved(group, why)


def _moved(group: Sequence[Moved], why: str) -> SinceRow:
    one = group[0]
    kind = _kind(one.stage, one.collective)
    return SinceRow(
        folded(each.hosts for each in group) if len(group) > 1 else one_line(one.hosts),
        kind if one.saturated else str(say("report.since.small_sizes", kind=kind)),
        _values(each.before_gbyte_s for each in group),
        _values(each.after_gbyte_s for each in group),
        _range(map(percent, sorted(each.change_percent for each in group))),
        _word(one.direction),
        why or _beyond(group),
    )


def _group(group: GroupChange) -> SinceRow:
    alone = group.nodes_a_job == 1
    who = say("report.who.median" if alone else "report.who.nodes", n=group.subjects if alone else group.nodes_a_job)
    return SinceRow(
        str(who),
        _kind(group.stage, group.collective),
        _value(group.before_gbyte_s),
        _value(group.after_gbyte_s),
        percent(group.change_percent),
        _word(group.direction),
        str(
            say(
                "report.since.noise",
                change=percent(group.median_change_percent),
                noise=group.noise_percent,
                bar=group.bar_percent,
            )
        ),
    )


def _verdict(change: VerdictChange, left: Sequence[str], found: tuple[PastReading, PastReading] | None) -> SinceRow:
    if found is not None:
        return _joint(change, *found)
    measured = _kind(change.stage, change.collective) if change.stage else str(say("report.since.verdict"))
    same = say("report.since.numbers_same") if change.within_noise else say("report.since.no_number")
    return SinceRow(
        one_line(change.hosts) if change.stage else folded(left),
        measured,
        one_line(change.before),
        one_line(change.after),
        str(same),
        _word(change.direction),
        _why(change),
    )


def _joint(change: VerdictChange, before: PastReading, after: PastReading) -> SinceRow:
    """A job over several nodes, which need not be as many as before: the numbers are told, the verdict decides.

    Over another number of nodes the numbers are no change of anything, so no percentage is made of them.
    """
    same = before.nodes == after.nodes and before.gbyte_s > 0
    return SinceRow(
        str(say("report.since.as_found", before=before.nodes, now=after.nodes)),
        _kind(change.stage, change.collective),
        str(say("report.since.judged", value=_value(before.gbyte_s), verdict=one_line(change.before))),
        str(say("report.since.judged", value=_value(after.gbyte_s), verdict=one_line(change.after))),
        percent(change_percent(before.gbyte_s, after.gbyte_s)) if same else str(say("report.since.other_count")),
        _word(change.direction),
        _why(change),
    )


def _missing(one: Absent) -> SinceRow:
    return SinceRow(
        one_line(one.hosts),
        ", ".join(_stage(stage) for stage in one.stages),
        str(say("report.since.was_measured")),
        not_measured(),
        str(say("report.since.no_number")),
        _word(Direction.UNKNOWN),
        one_line(str(one.reason)),
    )


def _why(change: VerdictChange) -> str:
    return one_line(str(change.reason or say("compare.why.not_recorded")))


def _kind(stage: str, collective: str) -> str:
    return f"{_stage(stage)}, {one_line(collective)}"


def _stage(stage: str) -> str:
    return str(say(f"report.stage.{stage}")) if stage in STAGES else one_line(stage)


def _beyond(group: Sequence[Moved]) -> str:
    medians = _range(map(percent, sorted(each.median_change_percent for each in group)))
    return str(say("report.since.beyond", change=medians, bar=group[0].bar_percent))


def _value(value: float) -> str:
    return str(say("report.unit.gbyte_s", value=gbyte_s(value)))


def _values(values: Iterable[float]) -> str:
    return str(say("report.unit.gbyte_s", value=_range(map(gbyte_s, sorted(values)))))


def _range(texts: Iterable[str]) -> str:
    """The first and the last; once where they read alike."""
    told = tuple(texts)
    return told[0] if told[0] == told[-1] else str(say("report.search.range", low=told[0], high=told[-1]))


def _word(way: Direction) -> str:
    return str(Message(_WORDS[way]))
