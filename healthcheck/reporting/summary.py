"""The end of a run on a terminal, and the one line on stdout that scripts read."""

from __future__ import annotations

from collections.abc import Sequence

from healthcheck.model.message import say
from healthcheck.model.record import RunRecord
from healthcheck.model.verdict import Verdict
from healthcheck.reporting.again import resume_line
from healthcheck.reporting.cluster_map import ClusterMap
from healthcheck.reporting.decision import decide, excluded, held, left_out, not_asked_together, slots_of
from healthcheck.reporting.figures import one_line
from healthcheck.reporting.gate_lists import list_to_use
from healthcheck.reporting.looks import Looks
from healthcheck.reporting.map_rows import map_rows
from healthcheck.reporting.names import folded
from healthcheck.reporting.scope import Next
from healthcheck.reporting.terminal_tables import (
    bandwidth_lines,
    limit_lines,
    looks_lines,
    not_read_lines,
    remark_lines,
)
from healthcheck.reporting.terminal_todo import todo_lines
from healthcheck.reporting.text_width import left, readable, spaced, width_of, wrapped
from healthcheck.reporting.todo import First, most_urgent
from healthcheck.reporting.unread import unread_told
from healthcheck.reporting.view import Page, page, start_lines

LINE_LIMIT = 200
"""The stdout line is never longer: it goes into logs."""
LONGEST_NAMES = 60
FOLD_ABOVE = 16
"""More groups than this: those that look the same share a row of the map."""
MAX_ROWS = 32
MAX_TITLE = 24
MAX_NAMES = 240
MAX_NOTES = 3
# The line on stdout is a contract and never translated.
_WITHOUT_A_SET = {
    "looked_only": "{total}/{total} looked at, no bandwidth measured",
    "looked_bad": "{clear}/{total} clear, no bandwidth measured",
    "alone_only": "{total}/{total} measured alone, none together",
    "alone_bad": "{clear}/{total} clear alone, none together",
}


def stdout_line(record: RunRecord) -> str:
    """`FAIL 28/32 ready, excluded gpu[013,022], cause gpu013/hca:mlx5_5 ...`: English, one line, always.

    Contract: verdict, ready/total, then what applies of `start held` (all proved together, and the run as a whole says
    not to start), who proved together and is left out, `simulated`, the state, `excluded` and `cause`. Names that would
    fill the line are counted instead; all of them stand in exclude.hosts.
    """
    total = len(record.hosts)
    ready = _WITHOUT_A_SET.get(not_asked_together(record), f"{len(record.healthy_hosts)}/{{total}} ready")
    clear = sum(host.verdict is Verdict.PASS for host in record.hosts)
    parts = [f"{record.verdict.name} {ready.format(total=total, clear=clear)}"]
    use = list_to_use(record)
    if use:
        parts.append(one_line(use))
    if held(record):
        parts.append("start held")
    left = ", ".join(f"{folded(names)} {verdict.name}" for verdict, names in left_out(record))
    if len(left) > LONGEST_NAMES:
        left = ", ".join(f"{len(names)} {verdict.name}" for verdict, names in left_out(record))
    if left:
        parts.append(f"{len(record.proven_together)} proved together and {left} left out")
    if record.simulated:
        parts.append("simulated")
    if record.state != "complete":
        parts.append(record.state)
    out = excluded(record)
    if out and not_asked_together(record) in ("", "looked_bad", "alone_bad"):
        parts.append(f"excluded {_named(out)}")
    busy = tuple(check.component.host for check in record.checks if check.sets_aside and check.component.host)
    if busy and not_asked_together(record).startswith("looked"):
        parts.append(f"busy {_named(busy)}")
    if record.gate is not None and record.gate.unwritten:
        parts.append(one_line("; ".join(what.english for what in record.gate.unwritten)))
    if record.gate is not None and record.gate.left_out:
        parts.append(one_line("left out: " + "; ".join(what.english for what in record.gate.left_out)))
    first = most_urgent(record)
    if first is not None:
        cause = one_line(f"cause {_component(first)} {first.finding.cause.english}")
        room = LINE_LIMIT - len(", ".join((*parts, "")))
        parts.append(cause if len(cause) <= room else cause[: room - 3].rstrip() + "...")
    return ", ".join(parts)


def _component(first: First) -> str:
    """Whom the cause is about: one name, or all of them folded; how many where that would fill the line."""
    return first.title if len(first.title) <= LONGEST_NAMES else f"{len(first.hosts)} nodes"


def _named(hosts: tuple[str, ...]) -> str:
    """The hosts by name, folded; only how many they are where that would fill the line."""
    names = folded(hosts)
    return names if len(names) <= LONGEST_NAMES else f"{len(set(hosts))} nodes"


def terminal_summary(record: RunRecord, width: int, folder: str | None = None, verbose: bool = False) -> list[str]:
    """The lines printed on stderr when a run has ended; plain text, at most 96 columns, words before colour.

    `folder` is the run directory as the user would write it; None means `reports/<run_id>`. `verbose` adds the looks,
    what they could not see, the limits with their sources, and everything that is only counted without it.
    """
    width = readable(width)
    view = page(record)
    where = folder or f"reports/{record.run_id}"
    most = len(view.bandwidth.rows) + len(view.looks.rows) if verbose else 16
    measured = bandwidth_lines(view.bandwidth, width, most) if record.jobs else []
    looked = looks_lines(view.looks, width, most) if verbose or not record.jobs else []
    blocks = (
        _head(record, view, width, verbose),
        measured,
        [] if measured else looked,
        _map(view.cluster, width),
        todo_lines(view, width, verbose),
        looked if measured else [],
        remark_lines(view.looks, width) if verbose else [],
        _not_read(view.looks, width, verbose, only_looked=not record.jobs),
        limit_lines(view, width) if verbose else [],
        _files(record, view.next, where, width),
    )
    return spaced(blocks)


def _head(record: RunRecord, view: Page, width: int, verbose: bool) -> list[str]:
    """What kind of run it was where that matters, the verdict with its decision, and what limits it."""
    lines: list[str] = []
    for note in (view.state_note, str(say("report.simulated.banner")) if record.simulated else ""):
        if note:
            lines += [*_wrapped(note, width, "  "), ""]
    word = f"  {record.verdict.name:<5}  "
    below = " " * len(word)
    lines += _wrapped(view.decision, width, word, below)
    notes = view.warnings
    if len(notes) > MAX_NOTES and not verbose:
        # What may still run on a node stands last, and is never one of those that are only counted.
        notes = (*notes[: MAX_NOTES - 1], notes[-1])
    for note in notes:
        lines += _wrapped(note, width, below)
    hidden = len(view.warnings) - len(notes)
    return [*lines, f"{below}{say('report.terminal.more_notes', n=hidden)}"] if hidden else lines


def _not_read(table: Looks, width: int, verbose: bool, only_looked: bool) -> list[str]:
    """All of it where looks were all that was asked for; else how much there is."""
    if verbose or only_looked:
        return not_read_lines(table, width, len(table.not_read) if verbose else 6)
    if not table.not_read:
        return []
    return _wrapped(str(say("report.terminal.not_read", told=unread_told(table.not_read))), width, "  ")


def _map(cluster: ClusterMap, width: int) -> list[str]:
    """A row a group; with many groups, one for those that look the same, and one line for all that PASS."""
    many = len(cluster.groups) + cluster.folded_groups > FOLD_ABOVE
    calm = [group for group in cluster.groups if group.all_pass] if many else []
    rows = map_rows((group for group in cluster.groups if not many or not group.all_pass), fold=many)
    shown = rows[:MAX_ROWS]
    title = max((size for row in shown if (size := width_of(row.title)) <= MAX_TITLE), default=0)
    letters = max((len(row.letters) for row in shown), default=0)
    lines: list[str] = []
    for row in shown:
        line = f"  {left(row.title, title)}  {row.letters:<{letters}}  {row.count}   {row.told(MAX_NAMES)}".rstrip()
        lines += [line] if width_of(line) <= width else wrapped(line.strip(), width, "  ", "      ")
    hidden = sum(row.groups for row in rows[MAX_ROWS:])
    if hidden:
        lines.append(f"  {say('report.terminal.more', n=hidden)}")
    groups = len(calm) + cluster.folded_groups
    if groups:
        nodes = sum(len(group.cells) for group in calm) + cluster.folded_nodes
        lines.append(f"  {say('report.terminal.folded', groups=groups, nodes=nodes)}")
    return lines


def _files(record: RunRecord, step: Next | None, where: str, width: int) -> list[str]:
    """Where to go from here: (what it is, the line to copy, what belongs to it)."""
    lines: list[tuple[str, str, str]] = []
    resume = resume_line(record, where)
    if resume is not None:
        lines.append((str(say("report.terminal.resume")), resume, ""))
    if decide(record).offers_list:
        first, *others = start_lines(record, f"{where}/healthy.hosts")
        label = say("report.terminal.start_simulated" if record.simulated else "report.terminal.start")
        lines.append((str(label), first, _size(record)))
        lines += [("", f"{say('report.terminal.or')} {other}", "") for other in others]
    if step is not None:
        lines.append((str(say("report.terminal.next")), step.line, ""))
    lines.append((str(say("report.terminal.report")), f"{where}/report.html", ""))
    commented = str(say("report.terminal.commented"))
    lines.append((str(say("report.terminal.commands")), f"{where}/suggested-actions.sh", commented))
    column = max(width_of(name) for name, _, _ in lines)
    if any(2 + column + 3 + width_of(one_line(text)) > width for _, text, _ in lines):
        return _stacked(lines, width)
    placed: list[str] = []
    for name, text, beside in lines:
        # A path or a command is never wrapped: it is there to be copied. What belongs to it stands at the right edge.
        line = f"  {left(name, column)}   {one_line(text)}"
        room = width - width_of(line) - width_of(beside)
        if not beside or room > 1:
            placed.append(f"{line}{' ' * room}{beside}".rstrip())
        else:
            placed += [f"  {left(name, column)}   {beside}", f"  {' ' * column}   {one_line(text)}"]
    return placed


def _stacked(lines: Sequence[tuple[str, str, str]], width: int) -> list[str]:
    """Below each other, where a line to copy has no room beside its name."""
    placed: list[str] = []
    for name, text, beside in lines:
        line = f"  {name}  {one_line(text)}"
        if name and not beside and width_of(line) <= width:
            placed.append(line)
        else:
            placed += [f"  {name}  {beside}".rstrip(), f"    {one_line(text)}"] if name else [f"    {one_line(text)}"]
    return placed


def _size(record: RunRecord) -> str:
    slots, ready = slots_of(record), record.healthy_hosts
    if record.simulated or any(name not in slots for name in ready):
        return str(say("progress.who", hosts=len(ready)))
    return str(say("report.terminal.size", nodes=len(ready), gpus=sum(slots[name] for name in ready)))


def _wrapped(text: str, width: int, indent: str, hanging: str | None = None) -> list[str]:
    return wrapped(text, width, indent, hanging, break_long=False)
