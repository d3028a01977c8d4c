"""One check-up of a host at a time: who is set aside because another run has the host."""

from __future__ import annotations

from healthcheck.model.component import node
from healthcheck.model.finding import CheckResult
from healthcheck.model.lock import HELD
from healthcheck.model.playbook import PROBE_STAGE
from healthcheck.model.verdict import Verdict
from healthcheck.ports import Event
from healthcheck.probes import leftovers
from healthcheck.workflows.engine import Engine
from healthcheck.workflows.ledger import Ledger


def take_hosts(ledger: Ledger, engine: Engine) -> None:
    """Lock the hosts of the run before anything touches them; those that others have are not touched at all."""
    if engine.locks is None:
        return
    taken = engine.locks.take(host.name for host in ledger.request.hosts)
    for note in taken.notes:
        ledger.notes.append(note)
        engine.observer.event(Event(PROBE_STAGE, note))
    for host, refusal in taken.refused.items():
        verdict = Verdict.SKIPPED if refusal.rule == HELD else Verdict.INCONCLUSIVE
        check = CheckResult(leftovers.CHECK, node(host), verdict, refusal.message, refusal.rule, PROBE_STAGE)
        ledger.set_aside[host] = refusal.message
        ledger.add_checks([check])
        engine.observer.event(Event(PROBE_STAGE, refusal.message, host, verdict))
