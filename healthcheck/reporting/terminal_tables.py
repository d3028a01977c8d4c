"""The tables at the end of a run on a terminal: bandwidth, looks, limits. Names wrap, numbers keep their place."""

from __future__ import annotations

import re
from collections.abc import Sequence

from healthcheck.model.message import say
from healthcheck.reporting.bandwidth import Bandwidth, BandwidthRow
from healthcheck.reporting.figures import one_line
from healthcheck.reporting.joining import in_a_row, pair
from healthcheck.reporting.looks import Looks
from healthcheck.reporting.text_width import left, right, width_of, wrapped
from healthcheck.reporting.view import Page

MAX_ROWS = 16
MAX_NOT_READ = 6
NARROWEST_WHO = 10
ROOMY = 90
_WHO, _VALUE = 2, 3
"""Columns of the table of bandwidths: stage, collective, who, value, of peak, verdict."""


def bandwidth_lines(table: Bandwidth, width: int, most: int = MAX_ROWS) -> list[str]:
    """Who was measured, how fast, of which peak, with which verdict; what is not shown is counted."""
    rows = table.rows[:most]
    if not rows:
        return []
    cells = _columns(rows, short=width < ROOMY)
    *fixed, word = (max(map(width_of, column)) for column in zip(*cells, strict=True))
    # The column that says who gives way: names wrap, numbers and verdicts keep their place.
    room = width - 2 - sum(fixed) + fixed[_WHO] - word - 2 * len(fixed)
    lines: list[str] = []
    if room < NARROWEST_WHO:
        for row in cells:
            lines += wrapped(" ".join(filter(None, row)), width, "  ", "    ", break_long=False)
    else:
        fixed[_WHO] = min(fixed[_WHO], room)
        for row, told in zip(cells, rows, strict=True):
            lines += _aligned(row, fixed) + _beyond_peak(told, width)
    hidden = len(table.rows) - len(rows)
    if hidden > 0:
        lines.append(f"  {say('report.terminal.more', n=hidden)}")
    for message in table.rest:
        what = str(say("report.terminal.and", what=one_line(str(message))))
        lines += wrapped(what, width, "  ", "    ", break_long=False)
    return lines


def _columns(rows: Sequence[BandwidthRow], short: bool) -> list[tuple[str, ...]]:
    several = len({row.collective for row in rows}) > 1
    return [
        (
            row.stage,
            row.collective if several else "",
            row.hosts if row.who_is_name else row.who,
            str(say("report.unit.gbyte_s", value=row.judged)) if row.judged[0].isdigit() else row.judged,
            _of_peak(row, short),
            str(say("report.terminal.median", verdict=row.verdict.name)) if row.is_median else row.verdict.name,
        )
        for row in rows
    ]


def _of_peak(row: BandwidthRow, short: bool) -> str:
    if short or not row.peak or row.percent is None:
        return row.of_peak
    return str(say("report.terminal.of_peak", percent=row.percent, peak=row.peak))


def _beyond_peak(row: BandwidthRow, width: int) -> list[str]:
    """Why a job is not PASS that the percentage of peak beside it does not explain."""
    if not row.others or row.rule.startswith("peak."):
        return []
    return wrapped(row.why, width, "    ", break_long=False)


def _aligned(row: tuple[str, ...], widths: Sequence[int]) -> list[str]:
    first, *others = wrapped(row[_WHO], widths[_WHO])
    cells = [first if column == _WHO else text for column, text in enumerate(row[:-1])]
    texts = [
        right(text, size) if column == _VALUE else left(text, size)
        for column, (text, size) in enumerate(zip(cells, widths, strict=True))
        if size
    ]
    before = sum(size + 2 for size in widths[:_WHO] if size)
    return [f"  {'  '.join((*texts, row[-1]))}".rstrip(), *(f"  {' ' * before}{other}" for other in others)]


def looks_lines(table: Looks, width: int, most: int = MAX_ROWS) -> list[str]:
    """What the looks found, by area; nodes that look alike share a row."""
    if not table.rows:
        return []
    columns = list(zip(table.columns, *(row.cells for row in table.rows), strict=True))
    sizes = [max(map(width_of, column)) for column in columns]
    longest = max(width_of(row.nodes) for row in table.rows)
    names = max(NARROWEST_WHO, min(longest, width - 2 - sum(sizes) - 2 * len(sizes)))
    if 2 + names + sum(sizes) + 2 * len(sizes) > width:
        return _as_sentences(table, width, most)
    lines = [_cells("", table.columns, names, sizes)]
    for row in table.rows[:most]:
        first, *others = _names(row.nodes, names)
        lines += [_cells(first, row.cells, names, sizes), *(f"  {other}" for other in others)]
    hidden = table.more + len(table.rows[most:])
    return [*lines, f"  {say('report.terminal.more', n=hidden)}"] if hidden else lines


def _as_sentences(table: Looks, width: int, most: int) -> list[str]:
    """Where there is no room for the columns: the nodes, and below them each area by its name."""
    lines: list[str] = []
    for row in table.rows[:most]:
        lines += [f"  {line}" for line in _names(row.nodes, width - 2)]
        told = in_a_row(pair(column, cell) for column, cell in zip(table.columns, row.cells, strict=True))
        lines += wrapped(told, width, "    ", break_long=False)
    hidden = table.more + len(table.rows[most:])
    return [*lines, f"  {say('report.terminal.more', n=hidden)}"] if hidden else lines


def _names(nodes: str, width: int) -> list[str]:
    """A node set in lines that break behind its commas, so that no name is torn; only a longer name is broken."""
    lines = [""]
    for part in re.findall(r"[^,]+,?", nodes):
        if lines[-1] and width_of(lines[-1] + part) > width:
            lines.append("")
        lines[-1] += part
    return [piece for line in lines for piece in wrapped(line, width)]


def _cells(name: str, cells: Sequence[str], names: int, sizes: Sequence[int]) -> str:
    words = (left(cell, size) for cell, size in zip(cells, sizes, strict=True))
    return f"  {left(name, names)}  {'  '.join(words)}".rstrip()


def remark_lines(table: Looks, width: int) -> list[str]:
    """What is worth knowing and had no effect."""
    if not table.remarks:
        return []
    lines = [f"  {say('report.looks.remarks')}"]
    for remark in table.remarks:
        text = str(say("report.looks.remark_line", nodes=remark.nodes, text=remark.text))
        lines += wrapped(text, width, "    ", "      ", break_long=False)
    return lines


def not_read_lines(table: Looks, width: int, most: int = MAX_NOT_READ) -> list[str]:
    """What could not be looked at, on which nodes and why."""
    if not table.not_read:
        return []
    lines = [f"  {say('report.looks.not_read')}"]
    for entry in table.not_read[:most]:
        lines += wrapped(entry.line, width, "    ", "      ", break_long=False)
    hidden = len(table.not_read) - most
    return [*lines, f"    {say('report.terminal.more', n=hidden)}"] if hidden > 0 else lines


def limit_lines(view: Page, width: int) -> list[str]:
    """The limits that judged, each with where it comes from."""
    if not view.limits:
        return []
    lines = [f"  {say('report.heading.limits')}"]
    for what, peak, healthy, broken, source in view.limits:
        limit = say("report.terminal.limit", what=what, peak=peak, healthy=healthy, broken=broken, source=source)
        lines += wrapped(one_line(str(limit)), width, "    ", "      ", break_long=False)
    return lines
