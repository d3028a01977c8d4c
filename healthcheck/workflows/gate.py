"""What a gate does differently from a check-up: it reuses passes, makes stages fit into its budget, or leaves them out.

Whatever it leaves out has a result that says so: what did not fit is never green.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from msgspec.structs import replace

from healthcheck.evaluation.fresh import CHECK, REUSED, Today, measured, passport, platform_digest, why_again
from healthcheck.evaluation.gate import checks_by_host
from healthcheck.evaluation.limits import expectation_gbyte_s
from healthcheck.model.component import FABRIC, node
from healthcheck.model.durations import span
from healthcheck.model.finding import CheckResult
from healthcheck.model.gate import GateAsked, GateRecord, Reused
from healthcheck.model.host import Host
from healthcheck.model.message import Message, say
from healthcheck.model.playbook import PROBE_STAGE, Stage
from healthcheck.model.progress import Counted
from healthcheck.model.verdict import Verdict
from healthcheck.parsing.nodeset import fold
from healthcheck.planning.gate_plan import Fitted, Piece, about, fit, search_seconds
from healthcheck.ports import Event
from healthcheck.workflows.engine import Engine, stamp
from healthcheck.workflows.ledger import Ledger
from healthcheck.workflows.localise import slowest
from healthcheck.workflows.locking import LEAST_TOGETHER
from healthcheck.workflows.search_gpus import slow_alone

ALONE, TOGETHER, SEARCH = "single_node", "multi_node", "localise"


class Gate:
    """The time and the memory of one gate. Belongs to the thread of the workflow."""

    def __init__(self, ledger: Ledger, engine: Engine, asked: GateAsked) -> None:
        assert engine.pace is not None  # whoever starts a gate gives it its time
        self._ledger, self._engine, self._pace, self._asked = ledger, engine, engine.pace, asked
        before = ledger.request.gate_before or GateRecord(asked)
        # Stages that were shortened stay so: the playbook of the record is what was measured by.
        self._keep(GateRecord(asked, shortened=before.shortened, used_s=before.used_s))

    def fitted(self, stage: Stage) -> Stage | None:
        """The stage as there is time for it; None where there is none, with a result that says so."""
        self._pace.measure()
        if stage.name == SEARCH:
            return stage if self._may_search() else None
        pieces = self._pieces(stage)
        if stage.name == ALONE and pieces:
            self._reuse(stage, fit(pieces, self._pace.jobs_left_s).stage or stage)
            pieces = self._pieces(stage)
        if not pieces or pieces[0].stage.name != stage.name:
            return stage  # nobody is left to measure; the stage itself says so
        found = fit(pieces, self._pace.jobs_left_s)
        if found.stage is None:
            self._leave_out(stage, found)
            return None
        self._tell_shorter(found)
        self._pace.measure(found.job_s)
        return found.stage

    def _keep(self, gate: GateRecord) -> None:
        """What became of the gate so far, here and in the ledger."""
        self._gate = self._ledger.gate = gate

    def _pieces(self, stage: Stage) -> list[Piece]:
        """The benchmark stages from `stage` on that have enough hosts."""
        return [piece for piece in self._to_come(stage) if len(piece.hosts) >= _least(piece.stage)]

    def _to_come(self, stage: Stage) -> Iterable[Piece]:
        """The benchmark stages from `stage` on, with the hosts they would have."""
        ledger, playbook = self._ledger, self._ledger.request.playbook
        behind = playbook.stage(TOGETHER) if stage.name == ALONE else None
        for one in (stage, behind):
            if one is None:
                continue
            hosts = ledger.to_measure() if one.name == ALONE else ledger.healthy()
            busbw = expectation_gbyte_s(ledger.platform, one.collectives[0], 1 if one.name == ALONE else len(hosts))
            yield Piece(one, playbook, hosts, busbw, self._engine.parallel)

    def _leave_out(self, stage: Stage, found: Fitted) -> None:
        left, budget = span(self._pace.jobs_left_s), span(self._asked.budget_s)
        why = say("gate.no_time", needs=about(found.needs_s), budget=budget, left=left)
        message, rule = say("stage.not_run", why=why), "stage.no_time"
        self._engine.observer.event(Event(stage.name, message))
        self._ledger.add_checks([CheckResult("stage.run", FABRIC, Verdict.INCONCLUSIVE, message, rule, stage.name)])
        self._left_out(found.told)

    def _left_out(self, what: Iterable[Message]) -> None:
        self._keep(replace(self._gate, left_out=(*self._gate.left_out, *what)))

    def _tell_shorter(self, found: Fitted) -> None:
        if found.stage is None or not found.told:
            return
        self._keep(replace(self._gate, shortened=(*self._gate.shortened, *found.told)))
        # What was really run is what a record says, and what a search measures by.
        request = self._ledger.request
        stages = tuple(found.stage if one.name == found.stage.name else one for one in request.playbook.stages)
        self._ledger.request = replace(request, playbook=replace(request.playbook, stages=stages))

    def _may_search(self) -> bool:
        """Whether there is time for a search that may prove the rest; where none is needed, there is."""
        ledger = self._ledger
        alone = slow_alone(ledger)
        if alone:
            self._left_out([say("gate.left_out.gpus", hosts=fold(alone))])
        slow = slowest(ledger)
        multi = ledger.request.playbook.stage(TOGETHER)
        if slow is None or multi is None:
            return True
        job = slow.outcomes[0].job
        hosts = tuple(Host(name, name, slots=ranks) for name, ranks in zip(job.hosts, job.ranks_per_host, strict=True))
        busbw = expectation_gbyte_s(ledger.platform, job.collective, len(hosts))
        joint = fit([Piece(replace(multi, collectives=(job.collective,)), ledger.request.playbook, hosts, busbw)], 1e9)
        least_s, needs_s = search_seconds(len(hosts), joint.needs_s, ledger.request.max_rounds)
        if least_s > self._pace.jobs_left_s:
            self._left_out([say("gate.left_out.search", time=about(needs_s))])
            return False
        ledger.request = replace(ledger.request, budget_s=self._pace.jobs_left_s)
        return True

    def _reuse(self, stage: Stage, fitted: Stage) -> None:
        """Nodes whose pass of an earlier run holds are not measured alone again. `fitted` is what would be measured of
        them if none did: a pass for which less was measured is none."""
        ledger, passes, fresh_for_s = self._ledger, self._engine.passes, self._asked.fresh_for_s
        if passes is None or fresh_for_s <= 0:
            return
        request, hosts = ledger.request, ledger.usable()
        now_s = self._engine.clock.now().timestamp()
        found = passes.newest(
            request.run_id, ledger.simulated, [host.name for host in hosts], since_s=now_s - fresh_for_s
        )
        today = Today(
            now_s,
            fresh_for_s,
            request.playbook_sha256,
            platform_digest(ledger.platform),
            measured(fitted),
            request.thresholds,
            ledger.baseline_sha256,
        )
        looked = checks_by_host(ledger.checks)
        reused: list[Reused] = []
        for place, host in enumerate(hosts, 1):
            earlier = found.get(host.name)
            told = why_again(earlier, today, passport(ledger.facts[host.name]), looked.get(host.name, ()))
            if told is None and len(request.hosts) == 1:
                told = say("gate.again.alone")
            if told is None:
                assert earlier is not None  # of which `why_again` says that there is no pass
                when = stamp(datetime.fromtimestamp(earlier.measured_s, UTC))
                told = say("gate.reused", when=when, run_id=earlier.run_id)
                reused.append(Reused(host.name, earlier.run_id, when))
                ledger.add_checks([CheckResult(CHECK, node(host.name), Verdict.PASS, told, REUSED, stage.name)])
                ledger.reused.add(host.name)
                ledger.measured.add(host.name)
            self._engine.observer.event(Event(PROBE_STAGE, told, host.name, step=Counted(place, len(hosts))))
        self._keep(replace(self._gate, reused=tuple(reused)))


def _least(stage: Stage) -> int:
    """With fewer hosts there is nothing to measure."""
    return LEAST_TOGETHER if stage.name == TOGETHER else 1
