"""What changed since the last run: before and now for each stage, who moved, what was changed on the machines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from healthcheck.errors import HealthcheckError
from healthcheck.evaluation.comparison import compare
from healthcheck.evaluation.earlier_of import told_of
from healthcheck.model.comparison import Change, Comparison, Direction
from healthcheck.model.earlier import Earlier, EarlierRun
from healthcheck.model.message import Arg, Message, say
from healthcheck.model.playbook import STAGES
from healthcheck.model.record import RunRecord
from healthcheck.parsing.record_codec import encode_record
from healthcheck.parsing.record_digest import decode_digest
from healthcheck.parsing.run_history import read_past_run
from healthcheck.reporting.compared_view import change_line
from healthcheck.reporting.figures import moment, one_line
from healthcheck.reporting.names import folded
from healthcheck.reporting.since_rows import Readings, SinceRow, members, since_rows

MOST_ROWS = 16
"""Nodes that moved, one row each; the others are folded into one line."""
MOST_CHANGES = 8


class BeforeAfter(Struct, frozen=True):
    """A run beside an earlier one; `comparison` is None where there is none, and `why` says it where it is not that
    nobody knows of one. `runs` end with the run itself."""

    comparison: Comparison | None
    runs: tuple[EarlierRun, ...] = ()
    notes: tuple[Message, ...] = ()
    why: Message | None = None


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
    return BeforeAfter(comparison, runs, tuple(notes), earlier.why)


def since_view(found: BeforeAfter | None) -> Since | None:
    """The section; None where nobody asked."""
    if found is None:
        return None
    notes = tuple(one_line(str(note)) for note in found.notes)
    if found.comparison is None:
        return Since(str(found.why or say("report.since.none")), "", (), notes, (), ())
    comparison = found.comparison
    rows = since_rows(comparison, _as_found(comparison, found.runs))
    told = tuple(one_line(change_line(_in_words(change))) for change in comparison.changes)
    gaps = tuple(one_line(str(_spoken(gap))) for gap in comparison.not_compared)
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


def _spoken(gap: Message) -> Message:
    """With the stage as the table calls it, not by its name in a playbook."""
    stage = gap.args.get("stage")
    if not isinstance(stage, str) or stage not in STAGES:
        return gap
    return Message(gap.code, {**gap.args, "stage": say(f"report.stage.{stage}")})


def _in_words(change: Change) -> Change:
    """`limits of multi_node all_reduce`, likewise."""
    name, of, rest = change.name.partition(" of ")
    stage, blank, more = rest.partition(" ")
    if not of or stage not in STAGES:
        return change
    return replace(change, name=f"{name}{of}{say(f'report.stage.{stage}')}{blank}{more}")


def _unknown(comparison: Comparison) -> set[str]:
    """Nodes of which one of the two runs knows nothing."""
    named = [change.hosts for change in comparison.verdicts if change.direction is Direction.UNKNOWN]
    return {host for hosts in (*named, *(one.hosts for one in comparison.missing)) for host in members(hosts)}


def _as_found(comparison: Comparison, runs: Sequence[EarlierRun]) -> Readings:
    """What both runs read in each stage over several nodes, on however many of them."""
    by_run = {run.run_id: {(one.stage, one.collective): one for one in run.readings} for run in runs}
    before, after = (by_run.get(side.run_id, {}) for side in (comparison.before, comparison.after))
    return {key: (one, after[key]) for key, one in before.items() if key in after and not one.lowest}


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
