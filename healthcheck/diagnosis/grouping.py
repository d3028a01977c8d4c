"""Which results are one fault: grouped by component and cause, and what one of them explains folded into it.

A cause only explains what stands behind it in the catalogue, so nothing can explain its own explanation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, field

from healthcheck.diagnosis.cause import Cause
from healthcheck.diagnosis.causes import CONSEQUENCES, STOPPED, cause_of, explains, urgency
from healthcheck.model.component import Component, Kind, natural
from healthcheck.model.finding import CheckResult
from healthcheck.model.message import say
from healthcheck.model.verdict import Verdict

BETWEEN_NODES = (Kind.FABRIC, Kind.PATH, Kind.LINK, Kind.RAIL)


class Group(Struct):
    """The results of one component that lead to one cause, worst first, and those of others that it explains.

    `follows`: groups of other nodes, or between nodes, that are the likelier reason for this one.
    """

    component: Component
    cause: Cause
    own: list[CheckResult]
    folded: list[CheckResult] = field(default_factory=list)
    follows: list[Group] = field(default_factory=list)

    @property
    def verdict(self) -> Verdict:
        """The worst of what is folded in from the same node too: a node never looks better than its results."""
        host = self.component.host
        return max(check.verdict for check in (*self.own, *self.folded) if check.component.host == host)

    @property
    def sick(self) -> bool:
        """Whether something was measured or read that is not as it should be."""
        return self.own[0].verdict in (Verdict.DEGRADED, Verdict.FAIL)


def groups(checks: Iterable[CheckResult], members: Mapping[str, tuple[str, ...]]) -> list[Group]:
    """The faults there are, in the order of the catalogue. `members` maps a job to its hosts."""
    found = sorted(_grouped(checks), key=lambda group: (urgency(group.cause), natural(group.component.text)))
    found = _without_consequences(found)
    by_host: dict[str, list[Group]] = {}
    for group in found:
        if group.component.host is not None:
            by_host.setdefault(group.component.host, []).append(group)
    # From the end, so that what is folded into a row goes on with it when that row is explained itself.
    folded = {
        id(group)
        for group in reversed(found)
        if _fold_on_its_node(group, by_host) or _fold_between_nodes(group, found, members)
    }
    kept = [group for group in found if id(group) not in folded]
    # A cause that is the same on thousands of nodes is asked once whether it explains, and not for each of them.
    sick: dict[str, list[Group]] = {}
    for group in kept:
        if group.sick and group.component.host is not None:
            sick.setdefault(group.cause.code, []).append(group)
    hosts_of = _Hosts(members)
    for group in kept:
        group.follows = list(_reasons_elsewhere(group, list(sick.values()), hosts_of))
    return _one_consequence_each(kept)


def _grouped(checks: Iterable[CheckResult]) -> Iterator[Group]:
    by_cause: dict[tuple[Component, str], Group] = {}
    for check in checks:
        if check.verdict is Verdict.PASS or (check.verdict is Verdict.SKIPPED and not check.sets_aside):
            continue
        cause = STOPPED if never_reached(check) else cause_of(check.rule)
        group = by_cause.setdefault((check.component, cause.code), Group(check.component, cause, []))
        group.own.append(check)
    for group in by_cause.values():
        group.own = [check for check in group.own if check.rule not in CONSEQUENCES] or group.own
        group.own.sort(key=lambda check: -check.verdict)
        yield group


def _one_consequence_each(kept: Iterable[Group]) -> list[Group]:
    """Several troubles of one component that all only follow from elsewhere are one line."""
    first: dict[Component, Group] = {}
    told: list[Group] = []
    for group in kept:
        known = first.setdefault(group.component, group) if group.follows else group
        if known is group:
            told.append(group)
        else:
            known.own = sorted((*known.own, *group.own), key=lambda check: -check.verdict)
            known.folded += group.folded
            known.follows += group.follows
    return told


def never_reached(check: CheckResult) -> bool:
    """Whether it was not run because the user ended the run before."""
    interrupted = say("run.interrupted")
    # Records of earlier versions hold the sentence itself.
    return check.rule == "integrity.not_run" and check.message.args.get("why") in (interrupted, interrupted.english)


def _without_consequences(found: Sequence[Group]) -> list[Group]:
    """What only repeats that something else is wrong says nothing where that is named."""
    told = {_place(group) for group in found if not _repeats(group)}
    return [group for group in found if not (_repeats(group) and _place(group) in told)]


def _repeats(group: Group) -> bool:
    return all(check.rule in CONSEQUENCES for check in group.own)


def _place(group: Group) -> str:
    return group.component.host or group.component.text


def _explains(group: Group, other: Group) -> bool:
    """Whether every result of the other is only evidence of this one."""
    return (
        group is not other
        and (group.sick or group.own[0].verdict is other.own[0].verdict is Verdict.INCONCLUSIVE)
        and _explains_rules(group.cause, other)
    )


def _explains_rules(cause: Cause, other: Group) -> bool:
    """Whether a cause stands before that of the other and every rule of it may follow from it."""
    return urgency(cause) < urgency(other.cause) and all(explains(cause, check.rule) for check in other.own)


def _fold_on_its_node(group: Group, by_host: Mapping[str, Sequence[Group]]) -> bool:
    """Into the reasons on the same node. A part does not speak for another part of its kind."""
    component = group.component
    reasons = [
        other
        for other in by_host.get(component.host or "", ())
        if (other.component == component or other.component.kind is not component.kind) and _explains(other, group)
    ]
    return _fold(group, reasons)


def _fold_between_nodes(group: Group, found: Sequence[Group], members: Mapping[str, tuple[str, ...]]) -> bool:
    """The result of a joint job, into what is at least as bad on a node that took part in it, or between nodes.

    Where NCCL's log of a node decided the joint job, too, both have one cause, and the node has it.
    """
    if group.component.kind is not Kind.FABRIC or any(check.job not in members for check in group.own):
        return False
    hosts = frozenset[str]().union(*(members[check.job] for check in group.own))
    reasons = [
        other
        for other in found
        if (other.component.host in hosts or other.component.kind in BETWEEN_NODES)
        and other.own[0].verdict >= group.own[0].verdict
        and (_explains(other, group) or (other.cause is group.cause and other.component.host in hosts))
    ]
    return _fold(group, reasons)


def _fold(group: Group, reasons: Sequence[Group]) -> bool:
    for reason in reasons:
        reason.folded += [*group.own, *group.folded]
    return bool(reasons)


class _Hosts:
    """The hosts of jobs, each set made once: every node of a joint job has results of it."""

    def __init__(self, members: Mapping[str, tuple[str, ...]]) -> None:
        self._members = members
        self._known: dict[frozenset[str], frozenset[str]] = {}

    def of(self, group: Group) -> frozenset[str]:
        """All hosts of the jobs whose results a group holds."""
        jobs = frozenset(check.job for check in group.own)
        if jobs not in self._known:
            self._known[jobs] = frozenset[str]().union(*(self._members.get(job, ()) for job in jobs))
        return self._known[jobs]


def _reasons_elsewhere(group: Group, sick: Sequence[Sequence[Group]], hosts_of: _Hosts) -> Iterator[Group]:
    """Sick parts of other nodes that this most likely only follows from; of any, where its hosts are unknown.

    `sick`: all groups of sick parts, those of one cause together.
    """
    between = group.component.kind in BETWEEN_NODES
    hosts = hosts_of.of(group)
    if not group.sick or (not between and hosts <= {group.component.host}):
        return
    for alike in sick:
        if not between and not _explains_rules(alike[0].cause, group):
            continue
        for other in alike:
            host = other.component.host
            if other is group or host == group.component.host:
                continue
            took_part = host in hosts or (between and not hosts)
            if took_part and (_explains(other, group) or (between and other.component.kind is Kind.HCA)):
                yield other
