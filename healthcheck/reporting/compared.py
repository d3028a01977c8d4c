"""A comparison on a terminal, the one line on stdout, and the document of `--json`."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct, structs

from healthcheck.model.comparison import (
    SCHEMA,
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
from healthcheck.model.message import Message, say
from healthcheck.model.units import Bytes
from healthcheck.parsing.nodeset import fold
from healthcheck.reporting.figures import gbyte_s, moment, one_line

MAX_WIDTH = 96
SHOWN = 8
"""Lines of one kind before the rest is folded into one."""
_LONGEST_NAMES = 60
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
_NAMES = 4
"""The first columns are words and stand to the left, the others are numbers."""


def percent(value: float) -> str:
    """`-3.1 %`, `+0.4 %`, `0.0 %`: with its sign, and zero without one."""
    text = f"{value:+.1f}"
    return f"{'0.0' if text in ('+0.0', '-0.0') else text} %"


def compared_line(comparison: Comparison) -> str:
    """`WORSE 3 of 64 nodes, fleet -0.2 % (noise 0.6 %)`: English, one line, always.

    Contract: the answer, the nodes, the shift of the fleet and of jobs between nodes, what is missing or not compared.
    """
    nodes = f"{comparison.before.nodes} nodes"
    if comparison.answer is Answer.WORSE:
        nodes = f"{len(comparison.worse)} of {nodes}"
    elif comparison.answer is Answer.BETTER:
        nodes = f"{len(comparison.better)} of {nodes}"
    elif comparison.answer is Answer.INCOMPLETE or comparison.compared != comparison.before.nodes:
        nodes = f"{comparison.compared} of {nodes} compared"
    parts = [nodes]
    for name, alone in (("fleet", True), ("between nodes", False)):
        groups = [one for one in comparison.groups if one.saturated and (one.nodes_a_job == 1) is alone]
        if groups:
            low = min(groups, key=lambda one: one.change_percent)
            which = f" {low.collective}" if len(groups) > 1 else ""
            parts.append(f"{name}{which} {percent(low.change_percent)} (noise {low.noise_percent:.1f} %)")
    missing = sum(one.nodes for one in comparison.missing)
    if missing:
        parts.append(f"{missing} missing")
    if comparison.not_compared:
        parts.append(f"{len(comparison.not_compared)} not compared: {comparison.not_compared[0]}")
    if comparison.before.simulated and comparison.after.simulated:
        parts.insert(1, "simulated")
    return one_line(f"{comparison.answer.value.upper()} {', '.join(parts)}")


def compared_lines(comparison: Comparison, width: int) -> list[str]:
    """The story on stderr: plain text in at most 96 columns; foreign text on one line, its control signs visible."""
    width = max(40, min(width, MAX_WIDTH))
    blocks = (
        _sides(comparison, width),
        [line for note in comparison.notes for line in _wrapped(str(note), width, "  ")],
        _wrapped(str(Message(_ANSWERS[comparison.answer])), width, "  "),
        _groups(comparison.groups, width),
        *(_moved(comparison, way, width) for way in (Direction.WORSE, Direction.SAME, Direction.BETTER)),
        _entries("compare.heading.verdicts", _unknown(comparison.verdicts), width),
        _entries("compare.heading.missing", map(_absent, comparison.missing), width),
        _entries("compare.heading.not_compared", map(str, comparison.not_compared), width),
        _entries("compare.heading.new", map(_new, comparison.new), width),
        _entries(_changes_heading(comparison.changes), map(_change, comparison.changes), width),
    )
    lines: list[str] = []
    for block in blocks:
        if block:
            lines += [*([""] if lines else []), *block]
    return lines


def _sides(comparison: Comparison, width: int) -> list[str]:
    lines: list[str] = []
    for name, side in (("BEFORE", comparison.before), ("AFTER", comparison.after)):
        lines += _wrapped(_side(side), width, f"  {name:<8}", "          ")
    return lines


def _side(side: Side) -> str:
    platform = side.platform or str(say("report.meta.platform_unknown"))
    words = [side.run_id, moment(side.started_at), side.verdict, side.playbook]
    words += [str(say("compare.nodes", n=side.nodes)), platform]
    return ", ".join(words + ([side.state] if side.state != "complete" else []))


def _groups(groups: Sequence[GroupChange], width: int) -> list[str]:
    if not groups:
        return []
    rows = [tuple(str(Message(code)) for code in _COLUMNS), *map(_group, groups)]
    sizes = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines: list[str] = []
    if sum(sizes) + 2 * len(sizes) <= width:
        for row in rows:
            cells = (
                f"{cell:<{size}}" if n < _NAMES else f"{cell:>{size}}"
                for n, (cell, size) in enumerate(zip(row, sizes, strict=True))
            )
            lines.append(f"  {'  '.join(cells)}".rstrip())
    else:
        for group in groups:
            text = say(
                "compare.group",
                stage=group.stage,
                collective=group.collective,
                sizes=_sizes(group),
                compared=_compared(group),
                before=gbyte_s(group.before_gbyte_s),
                after=gbyte_s(group.after_gbyte_s),
                change=percent(group.change_percent),
                noise=group.noise_percent,
                bar=group.bar_percent,
            )
            lines += _wrapped(str(text), width, "  ", "    ")
    for group in groups:
        for cell in group.cells:
            if cell.direction not in (Direction.SAME, group.direction):
                size, before, after = str(Bytes(cell.size_bytes)), cell.before_gbyte_s, cell.after_gbyte_s
                where = say("compare.at", size=size, placement=cell.placement)
                numbers = _numbers(before, after, cell.change_percent)
                lines += _wrapped(f"{group.stage} {group.collective} {where}: {numbers}", width, "  ", "    ")
    for group in groups:
        if group.saturated:
            text = say("compare.noise", stage=group.stage, collective=group.collective, how=str(group.noise_from))
            lines += _wrapped(str(text), width, "  ", "    ")
    return lines


def _group(group: GroupChange) -> tuple[str, ...]:
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


def _sizes(group: GroupChange) -> str:
    sizes = [cell.size_bytes for cell in group.cells]
    smallest, largest = str(Bytes(min(sizes))), str(Bytes(max(sizes)))
    return smallest if smallest == largest else f"{smallest}-{largest}"


def _compared(group: GroupChange) -> str:
    if group.nodes_a_job == 1:
        return str(say("compare.nodes", n=group.subjects))
    return str(say("compare.one_job", n=group.nodes_a_job))


def _numbers(before: float, after: float, change: float) -> str:
    return str(say("compare.numbers", before=gbyte_s(before), after=gbyte_s(after), change=percent(change)))


def _moved(comparison: Comparison, way: Direction, width: int) -> list[str]:
    """The numbers that moved this way, the largest first, then the verdicts."""
    lines: list[str] = []
    kinds: dict[tuple[str, str], list[Moved]] = {}
    for one in comparison.moved:
        if one.direction is way:
            kinds.setdefault((one.stage, one.collective), []).append(one)
    for (stage, collective), moved in kinds.items():
        shown = moved if len(moved) <= SHOWN + 1 else moved[:SHOWN]
        lines += [line for one in shown for line in _wrapped(_one(one), width, "    ", "      ")]
        rest = moved[len(shown) :]
        if rest:
            changes = sorted(one.change_percent for one in rest)
            text = say(
                "compare.rest",
                n=len(rest),
                stage=stage,
                collective=collective,
                low=percent(changes[0]),
                high=percent(changes[-1]),
                nodes=fold(one.hosts for one in rest),
            )
            lines += _wrapped(str(text), width, "    ", "      ")
    if way is not Direction.SAME:
        told = (_verdict(change) for change in comparison.verdicts if change.direction is way)
        lines += [line for text in told for line in _wrapped(text, width, "    ", "      ")]
    return [*_wrapped(str(Message(_HEADINGS[way])), width, "  "), *lines] if lines else []


def _one(one: Moved) -> str:
    text = f"{one.hosts}  {one.stage} {one.collective}"
    if one.size_bytes is not None and one.placement is not None:
        text += f" {say('compare.at', size=str(Bytes(one.size_bytes)), placement=one.placement)}"
    elif not one.saturated:
        text += f" {say('compare.small_sizes')}"
    text += f"  {_numbers(one.before_gbyte_s, one.after_gbyte_s, one.change_percent)}"
    if one.from_fleet_percent is not None:
        text += f" {say('compare.beside', change=percent(one.from_fleet_percent))}"
    return text


def _verdict(change: VerdictChange) -> str:
    who = f"{change.stage} {change.collective} of {change.hosts}" if change.stage else change.hosts
    text = f"{who}  {change.before} -> {change.after}"
    text += f": {change.reason}" if change.reason is not None else ""
    return f"{text} ({say('compare.within_noise')})" if change.within_noise else text


def _unknown(verdicts: Iterable[VerdictChange]) -> Iterator[str]:
    return (_verdict(change) for change in verdicts if change.direction is Direction.UNKNOWN)


def _absent(one: Absent) -> str:
    return f"{one.hosts}  {', '.join(one.stages)}: {one.reason}"


def _new(one: Absent) -> str:
    return str(say("compare.then", hosts=one.hosts, stages=", ".join(one.stages), reason=str(one.reason)))


def _changes_heading(changes: Iterable[Change]) -> str:
    hinted = any(change.hint is not None for change in changes)
    return "compare.heading.changes_hinted" if hinted else "compare.heading.changes"


def _change(change: Change) -> str:
    text = f"{change.name}  {change.before} -> {change.after}"
    if change.nodes:
        text += f"  {say('compare.on', nodes=_short(change), n=change.count, of=change.compared)}"
    return f"{text}; {change.hint}" if change.hint is not None else text


def _short(change: Change) -> str:
    if change.count == change.compared:
        return str(say("compare.all_nodes"))
    return change.nodes if len(change.nodes) <= 4 * _LONGEST_NAMES else f"{change.nodes[:_LONGEST_NAMES]}..."


def _entries(heading: str, texts: Iterable[str], width: int) -> list[str]:
    lines = [line for text in texts for line in _wrapped(text, width, "    ", "      ")]
    return [*_wrapped(str(Message(heading)), width, "  "), *lines] if lines else []


def _wrapped(text: str, width: int, indent: str, hanging: str | None = None) -> list[str]:
    # `textwrap` eats double blanks at a break only, which is where a column of names may end.
    return textwrap.wrap(
        "  ".join(map(one_line, text.split("  "))),
        width,
        initial_indent=indent,
        subsequent_indent=indent if hanging is None else hanging,
        break_on_hyphens=False,
        break_long_words=True,
    )


def document(comparison: Comparison) -> object:
    """`healthcheck.compare/1`: the comparison field by field, every text as code, args and `message_en`."""
    return {"schema": SCHEMA, **_fields(comparison), "line": compared_line(comparison)}


def _fields(value: Struct) -> dict[str, object]:
    return {name: _plain(field) for name, field in structs.asdict(value).items()}


def _plain(value: object) -> object:
    if isinstance(value, Message):
        return {"code": value.code, "args": value.args, "message_en": str(value)}
    if isinstance(value, Struct):
        return _fields(value)
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return round(value, 3) if isinstance(value, float) else value
