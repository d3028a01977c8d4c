"""A comparison before it has a format: its table, and every other line of it, sorted, folded and written out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from healthcheck.model.comparison import (
    Absent,
    Answer,
    Change,
    Comparison,
    Direction,
    GroupChange,
    Moved,
    Side,
    VerdictChange,
)
from healthcheck.model.message import Arg, Message, say
from healthcheck.model.units import Bytes, signed
from healthcheck.parsing.nodeset import fold
from healthcheck.reporting.figures import gbyte_s, moment
from healthcheck.reporting.joining import bracket, in_a_row, pair

SHOWN = 8
"""Lines of one kind before the rest is folded into one."""
_LONGEST_NODES = 240
_ANSWERS = {
    Answer.WORSE: "compare.answer.worse",
    Answer.INCOMPARABLE: "compare.answer.incomparable",
    Answer.INCOMPLETE: "compare.answer.incomplete",
    Answer.BETTER: "compare.answer.better",
    Answer.SAME: "compare.answer.same",
}
_HEADINGS = {
    Direction.WORSE: "compare.heading.worse",
    Direction.SAME: "compare.heading.apart",
    Direction.BETTER: "compare.heading.better",
}
_COLUMNS = (
    "compare.column.stage",
    "compare.column.collective",
    "compare.column.sizes",
    "compare.column.compared",
    "compare.column.before",
    "compare.column.after",
    "compare.column.change",
    "compare.column.noise",
    "compare.column.counts_from",
)
WORD_COLUMNS = 4
"""The first columns are words and stand to the left, the others are numbers."""


class Section(Struct, frozen=True):
    """A heading and what stands below it, one sentence an entry."""

    heading: str
    entries: tuple[str, ...]


class Table(Struct, frozen=True):
    """The groups side by side: titles, one row a group, the same rows as sentences, and what belongs below them."""

    titles: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    sentences: tuple[str, ...]
    remarks: tuple[str, ...]


def percent(value: float) -> str:
    """`-3.1 %`, `+0.4 %`, `0.0 %`: with its sign, and zero without one."""
    return f"{signed(value)} %"


def answer(comparison: Comparison) -> str:
    """The answer as a sentence."""
    return str(Message(_ANSWERS[comparison.answer]))


def side(of: Side) -> str:
    """One of the two runs on a line."""
    platform = of.platform or str(say("report.meta.platform_unknown"))
    words = [of.run_id, moment(of.started_at), of.verdict, of.playbook]
    words += [str(say("compare.nodes", n=of.nodes)), platform]
    return ", ".join(words + ([of.state] if of.state != "complete" else []))


def table(comparison: Comparison) -> Table:
    """Every group; below it sizes of the fleet that moved alone, and how the noise was estimated."""
    groups = comparison.groups
    remarks = [
        f"{group.stage} {group.collective} {_at(cell.size_bytes, cell.placement)}: "
        + _numbers(cell.before_gbyte_s, cell.after_gbyte_s, cell.change_percent)
        for group in groups
        for cell in group.cells
        if cell.direction not in (Direction.SAME, group.direction)
    ]
    remarks += [
        str(
            say(
                "compare.noise",
                stage=group.stage,
                collective=group.collective,
                change=percent(group.median_change_percent),
                how=str(group.noise_from),
            )
        )
        for group in groups
        if group.saturated
    ]
    titles = tuple(str(Message(code)) for code in _COLUMNS)
    return Table(titles, tuple(map(_row, groups)), tuple(map(_sentence, groups)), tuple(remarks))


def _row(group: GroupChange) -> tuple[str, ...]:
    return (
        group.stage,
        group.collective,
        _sizes(group),
        _compared(group),
        gbyte_s(group.before_gbyte_s),
        gbyte_s(group.after_gbyte_s),
        percent(group.change_percent),
        f"{group.noise_percent:.1f} %",
        f"{group.bar_percent:.1f} %",
    )


def _sentence(group: GroupChange) -> str:
    return str(
        say(
            "compare.group",
            stage=group.stage,
            collective=group.collective,
            sizes=_sizes(group),
            compared=_compared(group),
            before=gbyte_s(group.before_gbyte_s),
            after=gbyte_s(group.after_gbyte_s),
            change=percent(group.change_percent),
            median=percent(group.median_change_percent),
            noise=group.noise_percent,
            bar=group.bar_percent,
        )
    )


def _sizes(group: GroupChange) -> str:
    sizes = [cell.size_bytes for cell in group.cells]
    smallest, largest = str(Bytes(min(sizes))), str(Bytes(max(sizes)))
    return smallest if smallest == largest else f"{smallest}-{largest}"


def _compared(group: GroupChange) -> str:
    code = "compare.nodes" if group.nodes_a_job == 1 else "compare.one_job"
    return str(Message(code, {"n": group.subjects if group.nodes_a_job == 1 else group.nodes_a_job}))


def _numbers(before: float, after: float, change: float) -> str:
    return str(say("compare.numbers", before=gbyte_s(before), after=gbyte_s(after), change=percent(change)))


def _at(size_bytes: int, placement: str) -> str:
    return str(say("compare.at", size=str(Bytes(size_bytes)), placement=placement))


def sections(comparison: Comparison) -> tuple[Section, ...]:
    """Everything below the table, what got worse first; headings without an entry are left out."""
    hinted = any(change.hint is not None for change in comparison.changes)
    unknown = (_verdict(change) for change in comparison.verdicts if change.direction is Direction.UNKNOWN)
    found = [
        *((heading, _moved(comparison, way)) for way, heading in _HEADINGS.items()),
        ("compare.heading.verdicts", unknown),
        ("compare.heading.missing", map(_missing, comparison.missing)),
        ("compare.heading.not_compared", map(str, comparison.not_compared)),
        ("compare.heading.new", map(_new, comparison.new)),
        (
            "compare.heading.changes_hinted" if hinted else "compare.heading.changes",
            map(change_line, comparison.changes),
        ),
    ]
    made = (Section(str(Message(heading)), tuple(entries)) for heading, entries in found)
    return tuple(section for section in made if section.entries)


def _moved(comparison: Comparison, way: Direction) -> Iterator[str]:
    """The numbers that moved this way, the largest first, then the verdicts."""
    kinds: dict[tuple[str, str], list[Moved]] = {}
    for one in comparison.moved:
        if one.direction is way:
            kinds.setdefault((one.stage, one.collective), []).append(one)
    for moved in kinds.values():
        shown = moved if len(moved) <= SHOWN + 1 else moved[:SHOWN]
        yield from map(_one, shown)
        yield from _rest(moved[len(shown) :])
    if way is not Direction.SAME:
        yield from (_verdict(change) for change in comparison.verdicts if change.direction is way)


def _rest(moved: list[Moved]) -> Iterable[str]:
    if not moved:
        return ()
    changes = sorted(one.change_percent for one in moved)
    rest = say(
        "compare.rest",
        n=len(moved),
        stage=moved[0].stage,
        collective=moved[0].collective,
        low=percent(changes[0]),
        high=percent(changes[-1]),
        nodes=fold(dict.fromkeys(one.hosts for one in moved)),
    )
    return (str(rest),)


def _one(one: Moved) -> str:
    text = f"{one.hosts}  {one.stage} {one.collective}"
    if one.size_bytes is not None and one.placement is not None:
        text += f" {_at(one.size_bytes, one.placement)}"
    elif not one.saturated:
        text += f" {say('compare.small_sizes')}"
    text += f"  {_numbers(one.before_gbyte_s, one.after_gbyte_s, one.change_percent)}"
    if one.from_fleet_percent is not None:
        text += f" {say('compare.beside', change=percent(one.from_fleet_percent))}"
    return text


def _verdict(change: VerdictChange) -> str:
    who: Arg = change.hosts
    if change.stage:
        who = say("compare.of_hosts", stage=change.stage, collective=change.collective, hosts=change.hosts)
    text = f"{who}  {change.before} -> {change.after}"
    text = text if change.reason is None else pair(text, change.reason)
    return bracket(text, say("compare.within_noise")) if change.within_noise else text


def _missing(one: Absent) -> str:
    return pair(f"{one.hosts}  {', '.join(one.stages)}", one.reason)


def _new(one: Absent) -> str:
    return str(say("compare.then", hosts=one.hosts, stages=", ".join(one.stages), reason=one.reason))


def change_line(change: Change) -> str:
    """One version or setting that was changed, on which nodes, and what that speaks for."""
    text = f"{change.name}  {change.before} -> {change.after}"
    if change.nodes:
        text += f"  {say('compare.on', nodes=_nodes(change), n=change.count, of=change.compared)}"
    return text if change.hint is None else in_a_row((text, change.hint))


def _nodes(change: Change) -> str:
    if change.count == change.compared:
        return str(say("compare.all_nodes"))
    return change.nodes if len(change.nodes) <= _LONGEST_NODES else f"{change.nodes[:_LONGEST_NODES]}..."
