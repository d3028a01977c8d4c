"""The nodes with verdicts, numbers and reasons: each one, and those that are not PASS folded by what they share."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from healthcheck.model.message import english_of, say
from healthcheck.model.record import HostRecord, RunRecord
from healthcheck.model.verdict import Verdict
from healthcheck.reporting.alike import of_all, without
from healthcheck.reporting.cluster_map import group_labels, speeds
from healthcheck.reporting.figures import gbyte_s, one_line
from healthcheck.reporting.joining import in_a_row
from healthcheck.reporting.names import folded, folded_titles


class NodeLine(Struct, frozen=True):
    """One node of the table of all nodes. `index` is its place in the record."""

    index: int
    name: str
    verdict: Verdict
    group: str
    inside: str
    between: str
    why: str


class NodeRow(Struct, frozen=True):
    """Nodes (folded) that are not PASS, with the same numbers for the same reason. `anchor` is where their cells in
    the map lead, `indices` are their places in the record."""

    anchor: str
    indices: tuple[int, ...]
    names: str
    verdict: Verdict
    group: str
    inside: str
    between: str
    why: str


def node_lines(record: RunRecord) -> tuple[NodeLine, ...]:
    """All nodes, in the order they were named."""
    _, groups = group_labels(record)
    measured = speeds(record)
    lines: list[NodeLine] = []
    for index, host in enumerate(record.hosts):
        passed = host.verdict is Verdict.PASS
        why = in_a_row(_reasons(host))
        lines.append(
            NodeLine(
                index=index,
                name=one_line(host.name),
                verdict=host.verdict,
                group=one_line(groups[host.name]),
                inside=gbyte_s(measured[host.name].inside),
                between=gbyte_s(measured[host.name].between),
                why=why or str(say("report.nodes.pass_reason" if passed else "report.nodes.no_reason")),
            )
        )
    return tuple(lines)


def node_rows(not_pass: Iterable[NodeLine]) -> tuple[NodeRow, ...]:
    """Those that differ in nothing but their name and their group, in one row each, in the order of the first."""
    alike: dict[tuple[object, ...], list[NodeLine]] = {}
    for line in not_pass:
        key = (line.verdict, line.inside, line.between, without(line.name, line.why))
        alike.setdefault(key, []).append(line)
    return tuple(map(_row, alike.values()))


def _row(lines: list[NodeLine]) -> NodeRow:
    first = lines[0]
    names = folded(line.name for line in lines)
    return NodeRow(
        anchor=f"n{first.index}",
        indices=tuple(line.index for line in lines),
        names=names,
        verdict=first.verdict,
        group=folded_titles(line.group for line in lines),
        inside=first.inside,
        between=first.between,
        why=of_all(first.name, first.why, names),
    )


def _reasons(host: HostRecord) -> tuple[str, ...]:
    """Why a node is not PASS, each reason once: also one that another quotes (`excluded from ...: 100 of 200 Gb/s`)."""
    quoted = {english_of(reason.args["why"]) for reason in host.reasons if "why" in reason.args}
    texts = dict.fromkeys(str(reason) for reason in host.reasons if reason.english not in quoted)
    return tuple(one_line(text) for text in texts)
