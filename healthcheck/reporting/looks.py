"""What the looks at the nodes found, by area, nodes that look the same in one row; and what could not be seen."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from healthcheck.evaluation.advice import REMARK
from healthcheck.model.finding import CheckResult
from healthcheck.model.message import say
from healthcheck.model.playbook import PROBE_STAGE
from healthcheck.model.record import RunRecord
from healthcheck.model.verdict import Verdict
from healthcheck.reporting.figures import one_line
from healthcheck.reporting.names import folded

_AREAS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("gpus", ("gpu.",)),
    ("nvlink", ("nvlink.", "fabric.")),
    ("hcas", ("hca.",)),
    ("paths", ("rail.", "pcie.", "gdr.")),
    ("system", ("os.", "cpu.", "kernel.", "node.clock", "host.")),
    ("software", ("nccl_tests.", "mpi.", "nccl.", "software.", "fleet.", "hostfile.")),
    ("free", ("node.busy", "node.leftovers", "node.allocation")),
)
_UNSEEN = "unseen."
MOST_ROWS = 60


class LooksRow(Struct, frozen=True):
    """Nodes with the same results in every area. `cells` are words, in the order of the columns."""

    nodes: str
    cells: tuple[str, ...]


class NotSeen(Struct, frozen=True):
    """One look that saw nothing: what that hides, why, on which nodes (folded)."""

    hides: str
    why: str
    nodes: str
    count: int


class Remark(Struct, frozen=True):
    """Something worth knowing that had no effect, and on which nodes (folded)."""

    text: str
    nodes: str


class Looks(Struct, frozen=True):
    """The table of the looks before the benchmarks. `columns` are the titles of the cells, `more` rows are left out.

    `looked_at` are the nodes that were asked, `not_clear` those of which an area is not PASS.
    """

    columns: tuple[str, ...]
    rows: tuple[LooksRow, ...]
    more: int
    not_seen: tuple[NotSeen, ...]
    remarks: tuple[Remark, ...]
    looked_at: tuple[str, ...] = ()
    not_clear: tuple[str, ...] = ()


def looks(record: RunRecord) -> Looks:
    """The whole table; the rows that are not all well come first, then the larger ones."""
    by_host: dict[str, list[CheckResult]] = {host.name: [] for host in record.hosts}
    for check in record.checks:
        host = check.component.host
        if check.stage == PROBE_STAGE and host in by_host:
            by_host[host].append(check)
    alike: dict[tuple[str, ...], list[str]] = {}
    for name, checks in by_host.items():
        if checks:
            alike.setdefault(_cells(checks), []).append(name)
    bad = {verdict.name for verdict in Verdict if verdict is not Verdict.PASS}
    ordered = sorted(alike.items(), key=lambda item: (bad.isdisjoint(item[0]), -len(item[1])))
    return Looks(
        columns=tuple(str(say(f"report.looks.{area}")) for area, _ in _AREAS),
        rows=tuple(LooksRow(folded(hosts), cells) for cells, hosts in ordered[:MOST_ROWS]),
        more=max(0, len(ordered) - MOST_ROWS),
        not_seen=_not_seen(record.checks),
        remarks=_remarks(record.checks),
        looked_at=tuple(name for name, checks in by_host.items() if checks),
        not_clear=tuple(name for cells, hosts in alike.items() if not bad.isdisjoint(cells) for name in hosts),
    )


def looks_answer(looked: Looks) -> str:
    """The table in one sentence."""
    total, found = len(looked.looked_at), looked.not_clear
    if not total:
        return str(say("report.looks.none"))
    if not found:
        return str(say("report.looks.all_pass", n=total))
    return str(say("report.looks.some", n=len(found), total=total, names=folded(found)))


def _cells(checks: Iterable[CheckResult]) -> tuple[str, ...]:
    areas: dict[str, list[CheckResult]] = {area: [] for area, _ in _AREAS}
    for check in checks:
        area = next((name for name, prefixes in _AREAS if check.check.startswith(prefixes)), None)
        if area is not None:
            areas[area].append(check)
    return tuple(_word(found) for found in areas.values())


def _word(found: list[CheckResult]) -> str:
    """The worst verdict of an area; words of their own where nothing was seen or nothing applies.

    A node that was left alone says so unless something is wrong: SKIPPED is below PASS, and PASS would read as free.
    """
    seen = [check.verdict for check in found if check.verdict is not Verdict.SKIPPED or check.sets_aside]
    if seen:
        left_alone = any(check.sets_aside for check in found)
        return (Verdict.SKIPPED if left_alone and max(seen) is Verdict.PASS else max(seen)).name
    unseen = any(check.rule.startswith(_UNSEEN) for check in found)
    return str(say("report.looks.unseen") if unseen else say("report.looks.nothing"))


def _remarks(checks: Iterable[CheckResult]) -> tuple[Remark, ...]:
    """Each remark once, with all nodes it holds for; those of many nodes first."""
    hosts: dict[str, dict[str, None]] = {}
    for check in checks:
        if check.message.code == REMARK:
            names = hosts.setdefault(one_line(str(check.message.args.get("what", check.rule))), {})
            names.update({check.component.host or str(check.component): None})
    ordered = sorted(hosts.items(), key=lambda item: -len(item[1]))
    return tuple(Remark(text, folded(names)) for text, names in ordered[:MOST_ROWS])


def _not_seen(checks: Iterable[CheckResult]) -> tuple[NotSeen, ...]:
    """Once for each thing that stays hidden and each reason, with all nodes it holds for; most nodes first."""
    hosts: dict[tuple[str, str], dict[str, None]] = {}
    for check in checks:
        if check.rule.startswith(_UNSEEN) and check.component.host is not None:
            hides = one_line(str(check.message.args.get("hides", check.check)))
            why = str(say(f"report.unseen.{check.rule.removeprefix(_UNSEEN)}"))
            hosts.setdefault((hides, why), {})[check.component.host] = None
    entries = [NotSeen(hides, why, folded(names), len(names)) for (hides, why), names in hosts.items()]
    return tuple(sorted(entries, key=lambda entry: -entry.count))
