"""What changed since the last run: before and now for each stage, who moved, what was changed on the machines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from healthcheck.errors import HealthcheckError
from healthcheck.evaluation.comparison import compare
from healthcheck.evaluation.earlier_of import told_of
from healthcheck.model.comparison import Absent, Comparison, Direction, GroupChange, Moved, VerdictChange
from healthcheck.model.earlier import Earlier, EarlierRun, PastReading
from healthcheck.model.message import Arg, Message, say
from healthcheck.model.playbook import STAGES
from healthcheck.model.record import RunRecord
from healthcheck.parsing.record_codec import encode_record
from healthcheck.parsing.record_digest import decode_digest
from healthcheck.parsing.run_history import read_past_run
from healthcheck.reporting.compared_view import change_line, percent
from healthcheck.reporting.figures import gbyte_s, moment, not_measured, one_line
from healthcheck.reporting.names import folded

MOST_ROWS = 16
"""Nodes that moved, one row each; the others are folded into one line."""
MOST_CHANGES = 8
_WORDS = {
    Direction.WORSE: "report.since.worse",
    Direction.BETTER: "report.since.better",
    Direction.SAME: "report.since.same",
    Direction.UNKNOWN: "report.since.unknown",
}

_Readings = dict[tuple[str, str], tuple[PastReading, PastReading]]


class BeforeAfter(Struct, frozen=True):
    """A run beside an earlier one; `comparison` is None where there is none. `runs` end with the run itself."""

    comparison: Comparison | None
    runs: tuple[EarlierRun, ...] = ()
    notes: tuple[Message, ...] = ()


class SinceRow(Struct, frozen=True):
    """One line of the table, as text. `read_as` is one of worse, better, unchanged, unknown."""

    who: str
    measured: str
    before: str
    now: str
    change: str
    read_as: str
    why: str


class Since(Struct, frozen=True):
    """The section. `before` is the date of the earlier run, empty without one; `rest` are lines below the table."""

    answer: str
    before: str
    rows: tuple[SinceRow, ...]
    rest: tuple[str, ...]
    changes: tuple[str, ...]
    more_changes: tuple[str, ...]


def before_after(record: RunRecord, earlier: Earlier | None) -> BeforeAfter | None:
    """The comparison, which takes a while; None where nobody asked for one."""
    if earlier is None:
        return None
    data, notes = encode_record(record), list(earlier.notes)
    runs = (*earlier.runs, told_of(read_past_run(data, record.run_id, record.run_id)))
    comparison = None
    if earlier.before is not None:
        try:
            comparison = compare(earlier.before, decode_digest(data, record.run_id))
        except (HealthcheckError, ValueError, ArithmeticError, KeyError) as error:
            notes.append(say("report.since.unreadable", what=f"{earlier.before.run_id}: {error}"))
    return BeforeAfter(comparison, runs, tuple(notes))


def since_view(found: BeforeAfter | None) -> Since | None:
    """The section; None where nobody asked."""
    if found is None:
        return None
    notes = tuple(one_line(str(note)) for note in found.notes)
    if found.comparison is None:
        return Since(str(say("report.since.none")), "", (), notes, (), ())
    comparison = found.comparison
    rows = _rows(comparison, _as_found(comparison, found.runs))
    told = tuple(one_line(change_line(change)) for change in comparison.changes)
    gaps = tuple(one_line(str(gap)) for gap in comparison.not_compared)
    return Since(
        answer=_answer(comparison),
        before=moment(comparison.before.started_at),
        rows=tuple(rows[:MOST_ROWS]),
        rest=(*_folded(rows[MOST_ROWS:]), *gaps, *notes),
        changes=told[:MOST_CHANGES],
        more_changes=told[MOST_CHANGES:],
    )


def _answer(comparison: Comparison) -> str:
    unknown = _unknown(comparison)
    told: dict[str, Arg] = {
        "date": moment(comparison.before.started_at),
        "run_id": one_line(comparison.before.run_id),
        "worse": len(comparison.worse),
        "better": len(comparison.better),
        "unknown": len(unknown),
        "compared": comparison.compared,
    }
    moved = comparison.worse or comparison.better or unknown
    return str(Message("report.since.answer" if moved else "report.since.answer_same", told))


def _unknown(comparison: Comparison) -> set[str]:
    """Entries about nodes of which one of the two runs knows nothing."""
    named = {change.hosts for change in comparison.verdicts if change.direction is Direction.UNKNOWN}
    return named | {one.hosts for one in comparison.missing}


def _as_found(comparison: Comparison, runs: Sequence[EarlierRun]) -> _Readings:
    """What both runs read in each stage over several nodes, on however many of them."""
    by_run = {run.run_id: {(one.stage, one.collective): one for one in run.readings} for run in runs}
    before, after = (by_run.get(side.run_id, {}) for side in (comparison.before, comparison.after))
    return {key: (one, after[key]) for key, one in before.items() if key in after and not one.lowest}


def _rows(comparison: Comparison, as_found: _Readings) -> list[SinceRow]:
    """Each stage, then who got worse, who got better, and of whom nobody knows; a node stands in one row a stage."""
    verdicts = {change.hosts: change for change in comparison.verdicts if not change.stage}
    rows = [_group(group) for group in comparison.groups if group.saturated]
    told: set[str] = set()
    for way in (Direction.WORSE, Direction.BETTER, Direction.UNKNOWN):
        moved = [one for one in comparison.moved if one.direction is way]
        judged = {(one.stage, one.collective, one.hosts) for one in moved if one.saturated}
        for one in moved:
            if one.saturated or (one.stage, one.collective, one.hosts) not in judged:
                rows.append(_moved(one, verdicts.get(one.hosts)))
                told.add(one.hosts)
        alone = [change for change in comparison.verdicts if _stands_alone(change, way, told)]
        rows += [_verdict(change, as_found.get((change.stage, change.collective))) for change in alone]
        told |= {change.hosts for change in comparison.verdicts if change.direction is way}
    return [*rows, *(_missing(one) for one in comparison.missing if one.hosts not in told)]


def _stands_alone(change: VerdictChange, way: Direction, told: set[str]) -> bool:
    """A change of verdict that no number beside it tells; those of jobs on one node are those of the node."""
    return change.direction is way and change.hosts not in told and not (change.stage and change.nodes == 1)


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
        str(say("report.since.noise", noise=group.noise_percent, bar=group.bar_percent)),
    )


def _moved(one: Moved, verdict: VerdictChange | None) -> SinceRow:
    kind = _kind(one.stage, one.collective)
    small = kind if one.saturated else f"{kind}, {say('compare.small_sizes')}"
    why = "" if verdict is None else str(verdict.reason or "")
    bar = say("report.since.beyond", bar=one.bar_percent)
    return SinceRow(
        one_line(one.hosts),
        small,
        _value(one.before_gbyte_s),
        _value(one.after_gbyte_s),
        percent(one.change_percent),
        _word(one.direction),
        one_line(why) or str(bar),
    )


def _verdict(change: VerdictChange, as_found: tuple[PastReading, PastReading] | None) -> SinceRow:
    if as_found is not None:
        return _joint(change, *as_found)
    measured = _kind(change.stage, change.collective) if change.stage else str(say("report.since.verdict"))
    same = say("report.since.numbers_same") if change.within_noise else say("report.since.no_number")
    return SinceRow(
        one_line(change.hosts),
        measured,
        one_line(change.before),
        one_line(change.after),
        str(same),
        _word(change.direction),
        one_line(str(change.reason or say("compare.why.not_recorded"))),
    )


def _joint(change: VerdictChange, before: PastReading, after: PastReading) -> SinceRow:
    """A job over several nodes, which need not be as many as before: the numbers are told, the verdict decides."""
    return SinceRow(
        str(say("report.since.as_found", before=before.nodes, now=after.nodes)),
        _kind(change.stage, change.collective),
        str(say("report.since.judged", value=_value(before.gbyte_s), verdict=one_line(change.before))),
        str(say("report.since.judged", value=_value(after.gbyte_s), verdict=one_line(change.after))),
        percent(100 * (after.gbyte_s / before.gbyte_s - 1)) if before.gbyte_s > 0 else not_measured(),
        _word(change.direction),
        one_line(str(change.reason or say("compare.why.not_recorded"))),
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


def _folded(rows: Sequence[SinceRow]) -> Iterator[str]:
    """What the table has no room for: how many, and who."""
    by_word: dict[str, list[str]] = {}
    for row in rows:
        by_word.setdefault(row.read_as, []).append(row.who)
    for word, names in by_word.items():
        yield str(say("report.since.more", n=len(names), word=word, names=_names(names)))


def _names(names: Iterable[str]) -> str:
    listed = list(dict.fromkeys(names))
    return ", ".join(listed) if any("[" in name or " " in name for name in listed) else folded(listed)


def _kind(stage: str, collective: str) -> str:
    return f"{_stage(stage)}, {one_line(collective)}"


def _stage(stage: str) -> str:
    return str(say(f"report.stage.{stage}")) if stage in STAGES else one_line(stage)


def _value(value: float) -> str:
    return str(say("report.unit.gbyte_s", value=gbyte_s(value)))


def _word(way: Direction) -> str:
    return str(Message(_WORDS[way]))
