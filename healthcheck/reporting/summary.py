"""The end of a run on a terminal, and the one line on stdout that scripts read."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from healthcheck.model.message import say
from healthcheck.model.record import RunRecord
from healthcheck.model.verdict import Verdict
from healthcheck.reporting.again import resume_line
from healthcheck.reporting.bandwidth import BandwidthRow
from healthcheck.reporting.cluster_map import ClusterMap
from healthcheck.reporting.decision import decide, excluded, not_asked_together, urgent_first
from healthcheck.reporting.figures import one_line
from healthcheck.reporting.looks import Looks
from healthcheck.reporting.names import folded
from healthcheck.reporting.todo import Entry
from healthcheck.reporting.view import Page, page, start_lines

LINE_LIMIT = 200
"""The stdout line is cut here, behind its fixed part."""
MAX_WIDTH = 96
MAX_ROWS = 16
MAX_NOT_SEEN = 6
NARROWEST_WHO = 10
# The line on stdout is a contract and never translated.
_WITHOUT_A_SET = {
    "looked_only": "{total}/{total} looked at, no bandwidth measured",
    "looked_bad": "{clear}/{total} clear, no bandwidth measured",
    "alone_only": "{total}/{total} measured alone, none together",
}


def stdout_line(record: RunRecord) -> str:
    """`FAIL 28/32 ready, excluded gpu[013,022], cause gpu013/hca:mlx5_5 ...`: English, one line, always.

    Contract: verdict, ready/total, then what applies of `simulated`, the state, `excluded` and `cause`.
    """
    total = len(record.hosts)
    ready = _WITHOUT_A_SET.get(not_asked_together(record), f"{len(record.healthy_hosts)}/{{total}} ready")
    clear = sum(host.verdict is Verdict.PASS for host in record.hosts)
    parts = [f"{record.verdict.name} {ready.format(total=total, clear=clear)}"]
    if record.simulated:
        parts.append("simulated")
    if record.state != "complete":
        parts.append(record.state)
    left_out = folded(excluded(record))
    if left_out and not_asked_together(record) in ("", "looked_bad"):
        parts.append(f"excluded {left_out}")
    busy = folded(check.component.host for check in record.checks if check.sets_aside and check.component.host)
    if busy and not_asked_together(record).startswith("looked"):
        parts.append(f"busy {busy}")
    for finding in urgent_first(record.findings)[:1]:
        cause = one_line(f"cause {finding.component} {finding.cause.english}")
        room = max(40, LINE_LIMIT - len(", ".join(parts)))
        parts.append(cause if len(cause) <= room else cause[: room - 3].rstrip() + "...")
    return ", ".join(parts)


def terminal_summary(record: RunRecord, width: int, folder: str | None = None) -> list[str]:
    """The lines printed on stderr when a run has ended; plain text, at most 96 columns, words before colour.

    `folder` is the run directory as the user would write it; None means `reports/<run_id>`.
    """
    width = max(40, min(width, MAX_WIDTH))
    view = page(record)
    where = folder or f"reports/{record.run_id}"
    lines: list[str] = []
    for note in (view.state_note, str(say("report.simulated.banner")) if record.simulated else ""):
        if note:
            lines += [*_wrapped(note, width, "  "), ""]
    lines += _wrapped(f"{record.verdict.name:<6} {view.decision}", width, "  ", "         ")
    for warning in view.warnings:
        lines += _wrapped(warning, width, "         ")
    measured = _bandwidth(view, width) if record.jobs else _looks(view.looks, width)
    blocks = (
        measured,
        _map(view.cluster, width),
        _todo(view, width),
        _not_seen(view.looks, width),
        _files(record, where, width),
    )
    for block in blocks:
        if block:
            lines += ["", *block]
    return lines


def _bandwidth(view: Page, width: int) -> list[str]:
    rows = view.bandwidth.rows[:MAX_ROWS]
    if not rows:
        return []
    cells = _columns(rows)
    *fixed, word = (max(map(len, column)) for column in zip(*cells, strict=True))
    # The column that says who gives way: names wrap, numbers and verdicts keep their place.
    room = width - 2 - sum(fixed) + fixed[_WHO] - word - 2 * len(fixed)
    lines: list[str] = []
    if room < NARROWEST_WHO:
        for row in cells:
            lines += _wrapped(" ".join(filter(None, row)), width, "  ", "    ")
    else:
        fixed[_WHO] = min(fixed[_WHO], room)
        for row, told in zip(cells, rows, strict=True):
            lines += _aligned(row, fixed) + _beyond_peak(told, width)
    left = len(view.bandwidth.rows) - len(rows)
    if left > 0:
        lines.append(f"  {say('report.terminal.more', n=left)}")
    for message in view.bandwidth.rest:
        lines += _wrapped(str(say("report.terminal.and", what=one_line(str(message)))), width, "  ", "    ")
    return lines


def _looks(table: Looks, width: int) -> list[str]:
    """The table of the looks, where nothing was measured; names wrap, verdicts keep their place."""
    if not table.rows:
        return []
    columns = list(zip(table.columns, *(row.cells for row in table.rows), strict=True))
    sizes = [max(map(len, column)) for column in columns]
    longest = max(len(row.nodes) for row in table.rows)
    names = max(NARROWEST_WHO, min(longest, width - 2 - sum(sizes) - 2 * len(sizes)))
    lines = [_cells("", table.columns, names, sizes)]
    for row in table.rows[:MAX_ROWS]:
        first, *others = textwrap.wrap(row.nodes, names, break_on_hyphens=False)
        lines += [_cells(first, row.cells, names, sizes), *(f"  {other}" for other in others)]
    left = table.more + len(table.rows[MAX_ROWS:])
    return [*lines, f"  {say('report.terminal.more', n=left)}"] if left else lines


def _cells(name: str, cells: Sequence[str], names: int, sizes: Sequence[int]) -> str:
    words = (f"{cell:<{size}}" for cell, size in zip(cells, sizes, strict=True))
    return f"  {name:<{names}}  {'  '.join(words)}".rstrip()


def _not_seen(table: Looks, width: int) -> list[str]:
    if not table.not_seen:
        return []
    lines = [f"  {say('report.looks.not_seen')}"]
    for entry in table.not_seen[:MAX_NOT_SEEN]:
        text = str(say("report.looks.not_seen_line", nodes=entry.nodes, hides=entry.hides, why=entry.why))
        lines += _wrapped(text, width, "    ", "      ")
    left = len(table.not_seen) - MAX_NOT_SEEN
    return [*lines, f"    {say('report.terminal.more', n=left)}"] if left > 0 else lines


_WHO, _VALUE = 2, 3
"""Columns of the table: stage, collective, who, value, of peak, verdict."""


def _columns(rows: Sequence[BandwidthRow]) -> list[tuple[str, ...]]:
    several = len({row.collective for row in rows}) > 1
    return [
        (
            row.stage,
            row.collective if several else "",
            _who(row),
            str(say("report.unit.gbyte_s", value=row.judged)) if row.judged[0].isdigit() else row.judged,
            row.of_peak,
            str(say("report.terminal.median", verdict=row.verdict.name)) if row.is_median else row.verdict.name,
        )
        for row in rows
    ]


def _beyond_peak(row: BandwidthRow, width: int) -> list[str]:
    """Why a job is not PASS that the percentage of peak beside it does not explain."""
    if not row.others or row.rule.startswith("peak."):
        return []
    return _wrapped(row.why, width, "    ")


def _aligned(row: tuple[str, ...], widths: Sequence[int]) -> list[str]:
    first, *others = textwrap.wrap(row[_WHO], widths[_WHO], break_on_hyphens=False)
    cells = [first if column == _WHO else text for column, text in enumerate(row[:-1])]
    texts = [
        f"{text:>{size}}" if column == _VALUE else f"{text:<{size}}"
        for column, (text, size) in enumerate(zip(cells, widths, strict=True))
        if size
    ]
    before = sum(size + 2 for size in widths[:_WHO] if size)
    return [f"  {'  '.join((*texts, row[-1]))}".rstrip(), *(f"  {' ' * before}{other}" for other in others)]


def _who(row: BandwidthRow) -> str:
    return row.hosts if row.who_is_name else row.who


def _map(cluster: ClusterMap, width: int) -> list[str]:
    troubled = [group for group in cluster.groups if not group.all_pass]
    calm = [group for group in cluster.groups if group.all_pass]
    shown = cluster.groups if len(cluster.groups) <= MAX_ROWS else (*troubled, *calm)[:MAX_ROWS]
    title = max((len(group.title) for group in shown), default=0)
    letters = max((len(group.letters) for group in shown), default=0)
    lines: list[str] = []
    for group in shown:
        names = " ".join(f"{verdict.name} {hosts}" for verdict, hosts in group.others)
        line = f"  {group.title:<{title}}  {group.letters:<{letters}}  {group.count}   {names}".rstrip()
        lines += [line] if len(line) <= width else _wrapped(line.strip(), width, "  ", "      ")
    hidden = [group for group in cluster.groups if group not in shown]
    groups = len(hidden) + cluster.folded_groups
    if groups and all(group.all_pass for group in hidden):
        nodes = sum(len(group.cells) for group in hidden) + cluster.folded_nodes
        lines.append(f"  {say('report.terminal.folded', groups=groups, nodes=nodes)}")
    elif groups:
        lines.append(f"  {say('report.terminal.more', n=groups)}")
    return lines


def _todo(view: Page, width: int) -> list[str]:
    heading, note = str(say("report.heading.todo")), str(say("report.terminal.not_run"))
    if view.nothing_to_do:
        return _wrapped(view.nothing_to_do, width, "  ")
    room = width - 2 - len(heading)
    lines = [f"  {heading}{note:>{room}}" if room > len(note) + 1 else f"  {heading} ({note})"]
    for place, entry in enumerate(view.entries, start=1):
        lines += _entry(place, entry, width)
    if view.more_entries:
        lines.append(f"  {say('report.terminal.more', n=len(view.more_entries))}")
    return lines


def _entry(place: int, entry: Entry, width: int) -> list[str]:
    word_width = max(len(verdict.name) for verdict in Verdict)
    head = f"{place:>2} {entry.verdict.name:<{word_width}}  {entry.title}  {entry.cause}; {entry.confidence}"
    indent = " " * (word_width + 7)
    return [
        *_wrapped(head, width, "  ", indent),
        *_wrapped(f"-> {entry.remedy}", width, indent, indent + "   "),
    ]


def _files(record: RunRecord, where: str, width: int) -> list[str]:
    lines: list[tuple[str, str]] = []
    resume = resume_line(record, where)
    if resume is not None:
        lines.append((str(say("report.terminal.resume")), resume))
    if decide(record).offers_list:
        first, *others = start_lines(record, f"{where}/healthy.hosts")
        label = say("report.terminal.start_simulated" if record.simulated else "report.terminal.start")
        lines.append((str(label), first))
        lines += [("", f"{say('report.terminal.or')} {other}") for other in others]
    lines.append((str(say("report.terminal.report")), f"{where}/report.html"))
    commented = str(say("report.terminal.commented"))
    lines.append((str(say("report.terminal.commands")), f"{where}/suggested-actions.sh  ({commented})"))
    column = max(len(name) for name, _ in lines)
    # A path or a command is never wrapped: it is there to be copied.
    return [f"  {name:<{column}}   {one_line(text)}" for name, text in lines]


def _wrapped(text: str, width: int, indent: str, hanging: str | None = None) -> list[str]:
    return textwrap.wrap(
        text,
        width,
        initial_indent=indent,
        subsequent_indent=indent if hanging is None else hanging,
        break_on_hyphens=False,
        break_long_words=False,
    )
