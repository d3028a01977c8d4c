"""Which GPU makes a node slow by itself: pairs and halves of its GPUs, where no look has named a part."""

from __future__ import annotations

from collections.abc import Mapping

from healthcheck.diagnosis.gpus_of import gpu_checks
from healthcheck.evaluation.limits import BUSBW_CHECK
from healthcheck.evaluation.rules import reads_low
from healthcheck.model.command import JobOutcome
from healthcheck.model.component import Kind
from healthcheck.model.finding import CheckResult
from healthcheck.model.message import say
from healthcheck.model.playbook import Stage
from healthcheck.model.verdict import Verdict
from healthcheck.planning.gpus import GpuJob, gpu_jobs
from healthcheck.ports import Event
from healthcheck.workflows.engine import Engine
from healthcheck.workflows.ledger import Ledger
from healthcheck.workflows.search_round import Rounds

STAGE = "localise"
INSIDE = (Kind.GPU, Kind.NVLINK)
MOST_NODES = 64


def name_gpus(ledger: Ledger, engine: Engine, earlier: Mapping[str, JobOutcome]) -> None:
    """All such nodes at once, the jobs of each one after the other; what is found is in the ledger afterwards."""
    stage = ledger.request.playbook.stage("single_node") or Stage("single_node")
    rounds = Rounds(stage, ledger, engine, earlier)
    slow = slow_alone(ledger)
    planned: dict[str, tuple[GpuJob, ...]] = {}
    for host in list(slow)[:MOST_NODES]:
        if host in rounds.hosts and host not in ledger.set_aside:
            planned[host] = gpu_jobs(ledger.request.playbook, stage, rounds.hosts[host])
    jobs = [each.job for own in planned.values() for each in own]
    if not jobs:
        return
    engine.observer.event(Event(STAGE, say("search.gpus", nodes=len(planned))))
    ended = rounds.run(jobs)
    for host, own in planned.items():
        readings = {each.gpus: ended[each.job.id] for each in own if each.job.id in ended and ended[each.job.id].tells}
        values = {gpus: one.measured_gbyte_s for gpus, one in readings.items()}
        size = max((one.size_bytes for one in readings.values() if one.size_bytes is not None), default=None)
        checks = gpu_checks(host, values, slow[host].verdict, size)
        ledger.add_checks(checks)
        for check in checks:
            if check.verdict > Verdict.PASS:
                engine.observer.event(Event(STAGE, check.message, str(check.component), check.verdict))


def slow_alone(ledger: Ledger) -> dict[str, CheckResult]:
    """Nodes below their own limit, with no part of theirs named."""
    named = {check.component.host for check in ledger.checks if check.component.kind in INSIDE and _bad(check)}
    return {
        check.component.host: check
        for check in ledger.checks
        if check.check == BUSBW_CHECK and check.stage == "single_node" and _bad(check) and reads_low(check)
        if check.component.host is not None and check.component.host not in named
    }


def _bad(check: CheckResult) -> bool:
    return check.verdict in (Verdict.DEGRADED, Verdict.FAIL)
