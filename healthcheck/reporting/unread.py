"""What the looks at the nodes left open: what that hides, on which nodes, why, and what would help."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from healthcheck.model.finding import CheckResult
from healthcheck.model.message import say
from healthcheck.model.record import RunRecord
from healthcheck.reporting.figures import one_line
from healthcheck.reporting.names import folded

_UNREAD = "unseen."
_DENIED = "denied"
_NEEDS = (("pcie.acs", "root"), ("kernel.", "kernel"))
"""By the first letters of a check: which right it needs. Of any other only that this user has not got it is known."""


class Unread(Struct, frozen=True):
    """One look that saw nothing: what that hides, why and where, on which nodes (folded), on how many.

    `nowhere`: it was taken on no node of the run that answered.
    """

    hides: str
    why: str
    nodes: str
    count: int
    nowhere: bool

    @property
    def line(self) -> str:
        """`whether ...: not read: not permitted on any of 32 nodes (needs root)`."""
        return str(say("report.looks.not_read_line", hides=self.hides, why=self.why))


def is_unread(check: CheckResult) -> bool:
    """Whether a result says only that nothing was seen, which is neither good nor bad."""
    return check.rule.startswith(_UNREAD)


def hidden_by(check: CheckResult) -> str:
    """What stays hidden by a look that saw nothing; by this, several results of one look are one."""
    return one_line(str(check.message.args.get("hides", check.check)))


def unread(record: RunRecord, answered: Sequence[str]) -> tuple[Unread, ...]:
    """Once for each thing that stays hidden and each reason, with all nodes it holds for; most nodes first.

    `answered` are the nodes that told anything: a look that none of those allowed was taken nowhere.
    """
    found: dict[tuple[str, str, str], dict[str, None]] = {}
    for check in record.checks:
        if is_unread(check) and check.component.host is not None:
            key = hidden_by(check), check.rule.removeprefix(_UNREAD), _needs(check)
            found.setdefault(key, {})[check.component.host] = None
    entries = [_entry(*key, hosts=tuple(hosts), answered=answered) for key, hosts in found.items()]
    return tuple(sorted(entries, key=lambda entry: -entry.count))


def unread_told(entries: Iterable[Unread]) -> str:
    """How many looks were taken nowhere, and how many only on some nodes; empty where all of them were taken."""
    nowhere = [entry.nowhere for entry in entries]
    if not nowhere:
        return ""
    anywhere = len(nowhere) - sum(nowhere)
    if not anywhere:
        return str(say("report.looks.unread_nowhere", n=len(nowhere)))
    if not any(nowhere):
        return str(say("report.looks.unread_some", n=anywhere))
    return str(say("report.looks.unread_both", n=sum(nowhere), some=anywhere))


def _needs(check: CheckResult) -> str:
    return next((right for start, right in _NEEDS if check.check.startswith(start)), "other")


def _entry(hides: str, state: str, needs: str, *, hosts: tuple[str, ...], answered: Sequence[str]) -> Unread:
    nowhere = set(answered) <= set(hosts)
    where = say("report.looks.any", n=len(hosts)) if nowhere and len(hosts) > 1 else folded(hosts)
    if state == _DENIED:
        why = say("report.unseen.denied", where=where, needs=say(f"report.needs.{needs}"))
    else:
        why = say(f"report.unseen.{state}", where=where)
    return Unread(hides, one_line(str(why)), folded(hosts), len(hosts), nowhere)
