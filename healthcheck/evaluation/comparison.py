"""Two runs side by side: pairs, noise, who moved, what is missing, what was changed; and what that means together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from healthcheck.evaluation import change_frames, change_groups
from healthcheck.evaluation.change_told import rows_of
from healthcheck.evaluation.comparability import absent, gaps, refusals, replaced
from healthcheck.evaluation.fleet import NOT_TOLD
from healthcheck.evaluation.fleet_changes import node_changes, run_changes
from healthcheck.evaluation.verdict_changes import Named, verdict_changes
from healthcheck.model.comparison import (
    EXIT_NOT_COMPARABLE,
    EXIT_SAME,
    EXIT_WORSE,
    Answer,
    Change,
    Comparison,
    Direction,
    GroupChange,
    Moved,
    Side,
)
from healthcheck.model.component import natural
from healthcheck.model.digest import RunDigest
from healthcheck.model.message import Message, say

_EXITS = {Answer.WORSE: EXIT_WORSE, Answer.INCOMPARABLE: EXIT_NOT_COMPARABLE, Answer.INCOMPLETE: EXIT_NOT_COMPARABLE}
_ORDER = {Direction.WORSE: 0, Direction.SAME: 1, Direction.BETTER: 2, Direction.UNKNOWN: 3}


def compare(before: RunDigest, after: RunDigest) -> Comparison:
    """Everything that can be said of AFTER beside BEFORE. Pure, and the mirror of itself with the two exchanged."""
    refused = refusals(before, after)
    if refused:
        return _refused(before, after, refused)
    both = change_frames.paired(change_frames.readings(before), change_frames.readings(after))
    grids = change_groups.grids(both, rows_of(before), rows_of(after))
    # Every group has an equal part of the false alarms: one job over all nodes must not pay for a thousand nodes.
    judged = [change_groups.judge(grid, len(grids) * grid.questions) for grid in grids]
    groups = tuple(change for change, _ in judged)
    moved = tuple(sorted((one for _, of_group in judged for one in of_group), key=_by_change))
    alone = {name for grid in grids if grid.nodes == 1 for name in grid.subjects}
    calm = frozenset(alone - {one.hosts for one in moved if one.nodes == 1})
    verdicts = verdict_changes(before, after, calm)
    worse, better = (_who(moved, verdicts, way) for way in (Direction.WORSE, Direction.BETTER))
    missing, new = absent(after, before), absent(before, after)
    not_compared = gaps(before, after)
    # A node that is fine now leaves nothing open, although nobody knows what it was before.
    unknown = any(change.direction is Direction.UNKNOWN and change.after != "PASS" for change, _ in verdicts)
    answer = _answer(groups, moved, verdicts, not grids, bool(not_compared or missing or unknown))
    return Comparison(
        answer=answer,
        exit_code=_EXITS.get(answer, EXIT_SAME),
        before=_side(before),
        after=_side(after),
        compared=len(alone),
        worse=worse,
        better=better,
        groups=groups,
        moved=moved,
        verdicts=tuple(change for change, _ in verdicts),
        missing=missing,
        new=new,
        not_compared=not_compared,
        changes=_hinted(before, after, alone, set(worse), set(better), groups),
        notes=_notes(before, after),
    )


def _refused(before: RunDigest, after: RunDigest, refused: tuple[Message, ...]) -> Comparison:
    return Comparison(
        answer=Answer.INCOMPARABLE,
        exit_code=EXIT_NOT_COMPARABLE,
        before=_side(before),
        after=_side(after),
        compared=0,
        worse=(),
        better=(),
        not_compared=refused,
        changes=(*run_changes(before, after), *(change for change, _ in node_changes(before, after))),
        notes=_notes(before, after),
    )


def _side(run: RunDigest) -> Side:
    platform = None if run.platform is None else run.platform.name
    named = (run.run_id, run.started_at, run.state, run.verdict, run.simulated)
    return Side(*named, platform, run.playbook.name, len(run.hosts))


def _by_change(one: Moved) -> tuple[int, float, list[tuple[int, int, str]]]:
    return _ORDER[one.direction], -abs(one.median_change_percent), natural(one.hosts)


def _who(moved: Iterable[Moved], verdicts: Iterable[Named], way: Direction) -> tuple[str, ...]:
    """Nodes that moved this way by themselves, in a number or in a verdict."""
    names = {one.hosts for one in moved if one.nodes == 1 and one.direction is way}
    names |= {name for change, hosts in verdicts if change.direction is way for name in hosts}
    return tuple(sorted(names, key=natural))


def _answer(
    groups: Sequence[GroupChange], moved: Sequence[Moved], verdicts: Sequence[Named], nothing: bool, holes: bool
) -> Answer:
    ways = {group.direction for group in groups} | {cell.direction for group in groups for cell in group.cells}
    ways |= {one.direction for one in moved} | {change.direction for change, _ in verdicts}
    if Direction.WORSE in ways:
        return Answer.WORSE
    if nothing:
        return Answer.INCOMPARABLE
    if holes:
        return Answer.INCOMPLETE
    return Answer.BETTER if Direction.BETTER in ways else Answer.SAME


def _hinted(
    before: RunDigest,
    after: RunDigest,
    alone: set[str],
    worse: set[str],
    better: set[str],
    groups: Sequence[GroupChange],
) -> tuple[Change, ...]:
    """Every change, and those of nodes with the table of changed or not, worse or not: a hint, no proof."""
    fleet = any(group.direction is Direction.WORSE and group.nodes_a_job == 1 for group in groups)
    known = alone | worse | better
    found = []
    changes = node_changes(before, after)
    untold: dict[str, frozenset[str]] = {}
    for change, nodes in changes:
        if NOT_TOLD in (change.before, change.after):
            untold[change.name] = untold.get(change.name, frozenset()) | nodes
    for change, nodes in changes:
        if NOT_TOLD in (change.before, change.after):
            # It may have been there all the time: an older version of this tool may not have looked.
            found.append(replace(change, hint=say("compare.hint.not_told") if worse or fleet else None))
            continue
        changed, unchanged = nodes & known, known - nodes - untold.get(change.name, frozenset())
        table = replace(
            change,
            changed=len(changed),
            changed_worse=len(changed & worse),
            unchanged=len(unchanged),
            unchanged_worse=len(unchanged & worse),
        )
        repaired = len(changed & better)
        if not table.changed_worse and repaired and 2 * repaired >= table.changed:
            # Of a node that was repaired nothing is to be said for or against what made others worse.
            table = replace(table, hint=say("compare.hint.repaired", n=repaired, of=table.changed))
        elif worse or fleet:
            table = replace(table, hint=_hint(table, fleet))
        found.append(table)
    return (*found, *run_changes(before, after))


def _hint(table: Change, fleet: bool) -> Message | None:
    """What the table speaks for. Shares are compared by a factor of two: anything finer would pretend to be a proof."""
    if table.changed and not table.unchanged and (table.changed_worse or fleet):
        if fleet or 2 * table.changed_worse >= table.changed:
            return say("compare.hint.all_changed")
        return say("compare.hint.nobody_without", n=table.changed_worse, of=table.changed)
    if not table.changed_worse and table.unchanged_worse:
        return say("compare.hint.others", n=table.unchanged_worse, of=table.unchanged)
    if not table.changed_worse:
        return None
    share, rest = table.changed_worse / table.changed, table.unchanged_worse / table.unchanged
    code = "compare.hint.consistent" if share >= 2 * rest else "compare.hint.both"
    return Message(
        code,
        {
            "worse": table.changed_worse,
            "changed": table.changed,
            "others": table.unchanged_worse,
            "unchanged": table.unchanged,
        },
    )


def _notes(before: RunDigest, after: RunDigest) -> tuple[Message, ...]:
    found = list(replaced(before, after))
    if before.simulated and after.simulated:
        found.append(say("compare.note.simulated"))
    if before.run_id == after.run_id:
        found.append(say("compare.note.same_run", run_id=before.run_id))
    elif before.started_at > after.started_at:
        found.append(say("compare.note.turned", before=before.started_at, after=after.started_at))
    return tuple(found)
