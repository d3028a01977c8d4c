"""One check-up of a host at a time: who is set aside because another run has the host."""

from __future__ import annotations

from collections.abc import Iterable

from healthcheck.model.component import node
from healthcheck.model.finding import CheckResult
from healthcheck.model.lock import HELD, LET_GO
from healthcheck.model.message import Arg, Message, english_of, listed, say
from healthcheck.model.playbook import PROBE_STAGE
from healthcheck.model.verdict import Verdict
from healthcheck.parsing.nodeset import fold
from healthcheck.ports import Event
from healthcheck.probes import leftovers
from healthcheck.workflows.engine import Engine
from healthcheck.workflows.ledger import Ledger
from healthcheck.workflows.request import RunRequest

LEAST_TOGETHER = 2
"""Hosts that a job over several nodes takes."""


def take_hosts(ledger: Ledger, engine: Engine) -> None:
    """Lock the hosts of the run before anything touches them; those that others have are not touched at all."""
    if engine.locks is None:
        return
    request = ledger.request
    need = needed(request) if request.gate is not None else 0
    taken = engine.locks.take((host.name for host in request.hosts), need)
    for note in taken.notes:
        ledger.notes.append(note)
        engine.observer.event(Event(PROBE_STAGE, note))
    for host, refusal in taken.refused.items():
        verdict = Verdict.SKIPPED if refusal.rule == HELD else Verdict.INCONCLUSIVE
        _set_aside(host, refusal.message, refusal.rule, verdict, ledger, engine)
    held = who_holds(ledger.checks)
    for host in taken.let_go:
        _set_aside(host, say("lock.let_go", held=held), LET_GO, Verdict.SKIPPED, ledger, engine)


def who_holds(checks: Iterable[CheckResult]) -> Arg:
    """`node[01-02] in use by healthcheck run ...`, for each run that has some; empty where nobody has any."""
    hosts: dict[str, list[str]] = {}
    holders: dict[str, Arg] = {}
    for check in checks:
        if check.rule == HELD and check.component.host is not None:
            who = check.message.args["who"]
            holders.setdefault(english_of(who), who)
            hosts.setdefault(english_of(who), []).append(check.component.host)
    told = (say("lock.held_by", hosts=fold(hosts[name]), who=who) for name, who in holders.items())
    return listed(told, "text.semicolon")


def n_held(checks: Iterable[CheckResult]) -> int:
    """How many hosts other runs have."""
    return sum(check.rule == HELD for check in checks)


def needed(request: RunRequest) -> int:
    """How many free hosts it takes to prove any set of them.

    With fewer a gate only keeps them from others; a check-up still measures each by itself.
    """
    if len(request.hosts) == 1 or request.playbook.stage("multi_node") is None:
        return 0
    least = None if request.gate is None else request.gate.min_nodes
    return max(LEAST_TOGETHER, least or 0)


def _set_aside(host: str, message: Message, rule: str, verdict: Verdict, ledger: Ledger, engine: Engine) -> None:
    ledger.set_aside[host] = message
    ledger.add_checks([CheckResult(leftovers.CHECK, node(host), verdict, message, rule, PROBE_STAGE)])
    engine.observer.event(Event(PROBE_STAGE, message, host, verdict))
