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
from healthcheck.reporting.counted import any_of, counted
from healthcheck.reporting.decision import REACHED
from healthcheck.reporting.figures import one_line
from healthcheck.reporting.joining import in_a_row
from healthcheck.reporting.names import folded
from healthcheck.reporting.unread import Unread, hidden_by, is_unread, unread, unread_told

_AREAS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("gpus", ("gpu.",)),
    ("nvlink", ("nvlink.", "fabric.")),
    ("hcas", ("hca.",)),
    ("paths", ("rail.", "pcie.", "gdr.")),
    ("system", ("os.", "cpu.", "kernel.", "node.clock", "host.")),
    ("software", ("nccl_tests.", "mpi.", "nccl.", "software.", "fleet.", "hostfile.")),
    ("free", ("node.busy", "node.leftovers", "node.allocation")),
)
MOST_ROWS = 60


class LooksRow(Struct, frozen=True):
    """Nodes with the same results in every area. `cells` are words, in the order of the columns."""

    nodes: str
    cells: tuple[str, ...]


class Remark(Struct, frozen=True):
    """Something worth knowing that had no effect, and on which nodes (folded)."""

    text: str
    nodes: str


class Looks(Struct, frozen=True):
    """The table of the looks. `columns` are the titles of the cells, `more` rows are left out.

    `clear` are the nodes against which nothing was found, `against` those with something, `unreached` those that no
    look could be taken at, `left_alone` those in use by others, `untouched` those that no look was taken at.
    `between` is what was found of no single one of them, such as versions of which none is that of most.
    """

    columns: tuple[str, ...]
    rows: tuple[LooksRow, ...]
    more: int
    not_read: tuple[Unread, ...]
    remarks: tuple[Remark, ...]
    clear: tuple[str, ...] = ()
    against: tuple[str, ...] = ()
    unreached: tuple[str, ...] = ()
    left_alone: tuple[str, ...] = ()
    untouched: tuple[str, ...] = ()
    between: tuple[str, ...] = ()


class _Cell(Struct, frozen=True):
    """One area of one node: the worst that was found, None where nothing was; `unread` looks saw nothing."""

    verdict: Verdict | None
    unread: int

    def __str__(self) -> str:
        """What was not read stands beside the verdict: it is no part of it."""
        if self.verdict is None:
            return str(say("report.looks.unseen") if self.unread else say("report.looks.nothing"))
        if self.unread:
            return str(say("report.looks.partly", verdict=self.verdict.name, n=self.unread))
        return self.verdict.name


def looks(record: RunRecord) -> Looks:
    """The whole table; the rows that are not all well come first, then the larger ones."""
    by_host: dict[str, list[CheckResult]] = {host.name: [] for host in record.hosts}
    for check in record.checks:
        host = check.component.host
        if check.stage == PROBE_STAGE and host in by_host:
            by_host[host].append(check)
    looked = {name: _cells(checks) for name, checks in by_host.items() if checks}
    unreached = tuple(name for name in looked if not _answered(by_host[name]))
    against = tuple(name for name, cells in looked.items() if _worst(cells) > Verdict.PASS and name not in unreached)
    aside = tuple(name for name in looked if any(check.sets_aside for check in by_host[name]))
    alike: dict[tuple[_Cell, ...], list[str]] = {}
    for name, cells in looked.items():
        alike.setdefault(cells, []).append(name)
    ordered = sorted(alike.items(), key=lambda item: (_all_pass(item[0]), -len(item[1])))
    answered = [name for name in looked if name not in unreached]
    return Looks(
        columns=tuple(str(say(f"report.looks.{area}")) for area, _ in _AREAS),
        rows=tuple(LooksRow(folded(hosts), tuple(map(str, cells))) for cells, hosts in ordered[:MOST_ROWS]),
        more=max(0, len(ordered) - MOST_ROWS),
        not_read=unread(record, answered),
        remarks=_remarks(record.checks),
        clear=tuple(name for name in answered if name not in against and name not in aside),
        against=against,
        unreached=unreached,
        left_alone=aside,
        untouched=tuple(name for name in by_host if name not in looked),
        between=tuple(dict.fromkeys(one_line(str(check.message)) for check in record.checks if _between(check))),
    )


def looks_answer(looked: Looks) -> str:
    """The table in a few words: what was found against whom, and how many looks saw nothing."""
    named = {*looked.clear, *looked.against, *looked.unreached, *looked.left_alone}
    if not named:
        return str(say("report.looks.none"))
    total = len(named) + len(looked.untouched)
    found = (
        ("report.looks.against", looked.against),
        ("report.looks.unreached", looked.unreached),
        ("report.looks.left_alone", looked.left_alone),
        ("report.looks.untouched", looked.untouched),
    )
    told = [say(code, who=counted(len(who), total), names=folded(who)) for code, who in found if who]
    if looked.between:
        told.append(say("report.looks.between", what=in_a_row(looked.between)))
    elif looked.clear and not looked.against:
        clear = len(looked.clear)
        told.insert(0, say("report.looks.clear", who=any_of(total) if clear == total else counted(clear, total)))
    return in_a_row((*told, unread_told(looked.not_read)), "text.next")


def _between(check: CheckResult) -> bool:
    return check.stage == PROBE_STAGE and check.component.host is None and check.verdict > Verdict.PASS


def _answered(checks: Iterable[CheckResult]) -> bool:
    return not any(check.check == REACHED and check.verdict > Verdict.PASS for check in checks)


def _worst(cells: Iterable[_Cell]) -> Verdict:
    return max((cell.verdict for cell in cells if cell.verdict is not None), default=Verdict.PASS)


def _all_pass(cells: Iterable[_Cell]) -> bool:
    return all(cell.verdict in (None, Verdict.PASS) for cell in cells)


def _cells(checks: Iterable[CheckResult]) -> tuple[_Cell, ...]:
    checks = tuple(checks)
    areas: dict[str, list[CheckResult]] = {area: [] for area, _ in _AREAS}
    for check in checks:
        area = next((name for name, prefixes in _AREAS if check.check.startswith(prefixes)), None)
        if area is not None:
            areas[area].append(check)
    answered = _answered(checks)
    return tuple(_cell(found, answered) for found in areas.values())


def _cell(found: list[CheckResult], answered: bool) -> _Cell:
    """The worst verdict of an area. Without a look at all it does not apply, or the node never answered.

    A node that was left alone says so unless something is wrong: SKIPPED is below PASS, and PASS would read as free.
    """
    hidden = len({hidden_by(check) for check in found if is_unread(check)})
    seen = [check.verdict for check in found if check.verdict is not Verdict.SKIPPED or check.sets_aside]
    if not seen:
        return _Cell(None, hidden if answered else max(hidden, 1))
    left_alone = any(check.sets_aside for check in found)
    return _Cell(Verdict.SKIPPED if left_alone and max(seen) is Verdict.PASS else max(seen), hidden)


def _remarks(checks: Iterable[CheckResult]) -> tuple[Remark, ...]:
    """Each remark once, with all nodes it holds for; those of many nodes first."""
    hosts: dict[str, dict[str, None]] = {}
    for check in checks:
        if check.message.code == REMARK:
            names = hosts.setdefault(one_line(str(check.message.args.get("what", check.rule))), {})
            names.update({check.component.host or str(check.component): None})
    ordered = sorted(hosts.items(), key=lambda item: -len(item[1]))
    return tuple(Remark(text, folded(names)) for text, names in ordered[:MOST_ROWS])
