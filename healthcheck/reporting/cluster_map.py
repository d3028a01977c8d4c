"""The cluster map: where the nodes that are not PASS sit, and whether it is one node or a whole leaf."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from healthcheck.model.component import natural
from healthcheck.model.message import Message, say
from healthcheck.model.record import HostRecord, RunRecord
from healthcheck.model.verdict import Verdict
from healthcheck.reporting.figures import letter, not_measured, one_line
from healthcheck.reporting.measured import measured, together
from healthcheck.reporting.names import folded, folded_titles

ROW_LENGTH = 32
FOLD_ABOVE = 64
"""More groups than this: those that are all PASS become one line."""


class Cell(Struct, frozen=True):
    """One node of the map. `index` is its place in the record; `short` fits into a cell."""

    index: int
    name: str
    short: str
    label: str
    verdict: Verdict
    letter: str


class Group(Struct, frozen=True):
    """One row of the map. `others` are the nodes that are not PASS, folded by verdict: `FAIL gpu013`."""

    title: str
    count: str
    cells: tuple[Cell, ...]
    letters: str
    others: tuple[tuple[Verdict, str], ...]

    @property
    def all_pass(self) -> bool:
        """Nothing to see in this row."""
        return not self.others


class ClusterMap(Struct, frozen=True):
    """`answer` says in one sentence where it is, `whole` whether groups are affected as a whole.

    `folded_groups` are the rows left out because all of them PASS.
    """

    answer: Message
    whole: Message | None
    grouping: Message
    groups: tuple[Group, ...]
    folded_groups: int
    folded_nodes: int
    folded_names: str
    small: bool


class NodeSpeed(Struct, frozen=True):
    """Judged GB/s of one node: lowest of its own jobs, best of those with others. None: not measured."""

    inside: float | None = None
    between: float | None = None


def speeds(record: RunRecord) -> dict[str, NodeSpeed]:
    """Per host, from the first collective of each stage (the others stand in the bandwidth table)."""
    first: dict[str, str] = {}
    inside: dict[str, float] = {}
    between: dict[str, float] = {}
    for job in together(record):
        value = measured(job).slower
        if value is None or job.collective != first.setdefault(job.stage, job.collective):
            continue
        if len(job.hosts) == 1:
            host = job.hosts[0]
            inside[host] = min(value, inside.get(host, value))
        else:
            for host in job.hosts:
                between[host] = max(value, between.get(host, value))
    return {host.name: NodeSpeed(inside.get(host.name), between.get(host.name)) for host in record.hosts}


def group_labels(record: RunRecord) -> tuple[Message, dict[str, str]]:
    """(how it is grouped, host -> name of its row): by leaf, else by rack, else 32 in name order."""
    labels = {host.name: dict(host.labels) for host in record.hosts}
    for key, grouping in (("leaf", "report.map.by_leaf"), ("rack", "report.map.by_rack")):
        if any(key in own for own in labels.values()):
            unlabelled = str(say("report.map.unlabelled"))
            return say(grouping), {name: own.get(key, unlabelled) for name, own in labels.items()}
    ordered = sorted(labels)
    rows = [ordered[start : start + ROW_LENGTH] for start in range(0, len(ordered), ROW_LENGTH)]
    return say("report.map.by_name"), {name: folded(row) for row in rows for name in row}


def cluster_map(record: RunRecord) -> ClusterMap:
    """The map of all hosts that were named."""
    grouping, row_of = group_labels(record)
    speed_of = speeds(record)
    short = short_names([host.name for host in record.hosts])
    rows: dict[str, list[Cell]] = {}
    for index, host in enumerate(record.hosts):
        cell = _cell(index, host, short[host.name], speed_of[host.name])
        rows.setdefault(row_of[host.name], []).append(cell)
    groups = [_group(title, cells) for title, cells in sorted(rows.items(), key=lambda row: natural(row[0]))]
    hidden = [group for group in groups if group.all_pass] if len(groups) > FOLD_ABOVE else []
    shown = [group for group in groups if group not in hidden] if hidden else groups
    return ClusterMap(
        answer=_answer(record, groups),
        whole=_whole(groups),
        grouping=grouping,
        groups=tuple(shown),
        folded_groups=len(hidden),
        folded_nodes=sum(len(group.cells) for group in hidden),
        folded_names=folded(cell.name for group in hidden for cell in group.cells),
        small=len(record.hosts) > 128,
    )


def short_names(names: Sequence[str]) -> dict[str, str]:
    """The end of each name that differs, at least its digits: `gpu013` among `gpu...` is `013`."""
    prefix = 0
    if len(names) > 1:
        first, last = min(names), max(names)
        while prefix < min(len(first), len(last)) and first[prefix] == last[prefix]:
            prefix += 1
    while prefix and names and names[0][prefix - 1].isdigit():
        prefix -= 1
    return {name: one_line(name[prefix:])[-6:] or one_line(name)[-6:] for name in names}


def _cell(index: int, host: HostRecord, short: str, speed: NodeSpeed) -> Cell:
    name = one_line(host.name)
    label = say(
        "report.map.cell",
        name=name,
        verdict=host.verdict.name,
        inside=_with_unit(speed.inside),
        between=_with_unit(speed.between),
    )
    return Cell(index, name, short, str(label), host.verdict, letter(host.verdict))


def _with_unit(value: float | None) -> str:
    return not_measured() if value is None else str(say("report.unit.gbyte_s", value=f"{value:.1f}"))


def _group(title: str, cells: Sequence[Cell]) -> Group:
    others: dict[Verdict, list[str]] = {}
    for cell in cells:
        if cell.verdict is not Verdict.PASS:
            others.setdefault(cell.verdict, []).append(cell.name)
    passed = sum(cell.verdict is Verdict.PASS for cell in cells)
    return Group(
        title=one_line(title),
        count=str(say("report.map.count", passed=passed, total=len(cells))),
        cells=tuple(cells),
        letters="".join(cell.letter for cell in cells),
        others=tuple((verdict, folded(others[verdict])) for verdict in sorted(others, reverse=True)),
    )


def _whole(groups: Sequence[Group]) -> Message | None:
    """One node or a whole leaf? None where there is nothing to tell apart."""
    several = [group for group in groups if len(group.cells) > 1]
    if len(groups) < 2 or not several or all(group.all_pass for group in groups):
        return None
    gone = [group.title for group in several if not any(cell.verdict is Verdict.PASS for cell in group.cells)]
    if not gone:
        return say("report.map.no_group_whole")
    return say("report.map.groups_whole", n=len(gone), names=folded_titles(gone))


def _answer(record: RunRecord, groups: Sequence[Group]) -> Message:
    total = len(record.hosts)
    passed = sum(host.verdict is Verdict.PASS for host in record.hosts)
    if passed == total:
        return say("report.map.answer_one") if total == 1 else say("report.map.answer_all", total=total)
    touched = sum(not group.all_pass for group in groups)
    if len(groups) == 1:
        return say("report.map.answer_one_group", passed=passed, total=total)
    if touched == 1:
        return say("report.map.answer_some_one", passed=passed, total=total)
    return say("report.map.answer_some", passed=passed, total=total, groups=touched, all_groups=len(groups))
