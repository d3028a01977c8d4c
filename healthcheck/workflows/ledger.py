"""What a run knows so far, and the record made of it. Every step writes here; nothing is taken back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from msgspec.structs import replace

from healthcheck.diagnosis.explain import findings
from healthcheck.diagnosis.fingerprints import Shape, shape_of
from healthcheck.evaluation.advice import settled
from healthcheck.evaluation.fleet import fleet_settings
from healthcheck.evaluation.fresh import baseline_digest, measured_alone, passport, platform_digest
from healthcheck.evaluation.gate import (
    checks_by_host,
    counted,
    exit_code,
    gated,
    host_verdict,
    proven_hosts,
    proven_together,
    run_verdict,
)
from healthcheck.evaluation.stage import JobJudgement
from healthcheck.launchers.rank_log import folders_of_run
from healthcheck.model.circumstances import Circumstances, LookMade
from healthcheck.model.command import NEVER_STARTED, JobOutcome
from healthcheck.model.component import node
from healthcheck.model.finding import CheckResult
from healthcheck.model.fleet import Settings
from healthcheck.model.gate import GateRecord
from healthcheck.model.host import Host
from healthcheck.model.message import Message, say
from healthcheck.model.node import NodeFacts
from healthcheck.model.platform import Limit, Platform
from healthcheck.model.playbook import BENCHMARK_STAGES
from healthcheck.model.record import HostRecord, JobRecord, Provenance, RunRecord
from healthcheck.model.search import SearchRecord
from healthcheck.model.verdict import Verdict
from healthcheck.parsing.nodeset import fold
from healthcheck.probes import leftovers
from healthcheck.workflows.allocation import Slurm
from healthcheck.workflows.baseline import KnownPast
from healthcheck.workflows.engine import Engine, stamp
from healthcheck.workflows.gate_notes import gate_notes
from healthcheck.workflows.judged_jobs import measures_its_hosts, reasons_of, spoken, versions
from healthcheck.workflows.request import RunRequest

DOUBTS = frozenset({"slow_node.likely", "slow_node.suspected"})
_REMARKS = frozenset({"busy.allowed"})

State = Literal["incomplete", "complete", "interrupted"]


class Ledger:
    """The growing knowledge of one run. Belongs to the thread of the workflow.

    `set_aside` hosts are not measured at all, `excluded` ones were measured alone and take no part in later jobs; both
    map to the sentence that says why. `slow_together` took part in a job over several nodes that was DEGRADED.
    `began_at` is when the first benchmark began, in seconds since 1970 by our clock. `slurm` may be asked by workers,
    who also note in `launch_folders` where they brought files. `shapes` says of each job what it was. `joint` are the
    judged jobs of multi_node, `tool` is nccl-tests (name, version) as a table printed it; `verified` are the hosts that
    a search proved together. `before` and `after` say how to read the looks that were kept, `past` is what the nodes
    used to read.
    """

    def __init__(self, request: RunRequest, engine: Engine) -> None:
        self.request = request
        self.engine = engine
        self.platform: Platform | None = request.platform
        self.past = KnownPast(request.baseline)
        self.baseline_sha256 = baseline_digest(request.baseline)
        self.started_at = stamp(engine.clock.now())
        self.facts: dict[str, NodeFacts] = {}
        self.settings: dict[str, Settings] = {}
        self.slurm = Slurm(request, engine, self.facts)
        self.known_hosts: dict[str, tuple[str, ...]] = {}
        self.checks: list[CheckResult] = []
        self.jobs: list[JobRecord] = []
        self.shapes: dict[str, Shape] = {}
        self.limits: list[Limit] = []
        self.set_aside: dict[str, Message] = {}
        self.excluded: dict[str, Message] = {}
        self.launch_folders: set[str] = set()
        self.may_still_run: set[str] = set()
        self.logs_left: set[str] = set()
        self.measured: set[str] = set()
        self.slow_together: set[str] = set()
        self.simulated = request.simulated
        self.notes: list[Message] = []
        self.stop_after: Message | None = None
        self.began_at: float | None = None
        self.joint: list[JobJudgement] = []
        self.tool: tuple[str | None, str | None] = (None, None)
        self.search: SearchRecord | None = None
        self.verified: tuple[str, ...] = ()
        self.gate: GateRecord | None = None
        self.reused: set[str] = set()
        self.before: dict[str, LookMade] = {}
        self.after: dict[str, LookMade] = {}

    def usable(self) -> tuple[Host, ...]:
        """Hosts that may be measured, in hostfile order, slots filled in."""
        return tuple(self.with_slots(host) for host in self.request.hosts if host.name not in self.set_aside)

    def to_measure(self) -> tuple[Host, ...]:
        """Hosts that are to be measured alone: those whose pass of an earlier run holds are not."""
        return tuple(host for host in self.usable() if host.name not in self.reused)

    def healthy(self) -> tuple[Host, ...]:
        """Hosts that may take part in jobs over several nodes."""
        return tuple(host for host in self.usable() if host.name not in self.excluded)

    def with_slots(self, host: Host) -> Host:
        """The host with a definite number of ranks: hostfile, else platform, else what the probe counted."""
        if host.slots is not None:
            return host
        if self.platform is not None:
            return replace(host, slots=self.platform.gpu.count)
        facts = self.facts.get(host.name)
        found = facts.gpus.value if facts is not None else None
        return replace(host, slots=len(found) if found else 1)

    def pins(self) -> tuple[tuple[Mapping[str, str], str], ...]:
        """What is pinned, and where that stands."""
        playbook, platform = self.request.playbook, self.platform
        pinned = ((playbook.pins, f"playbook {playbook.name}"),)
        return pinned if platform is None else (*pinned, (platform.pins, f"platform {platform.name}"))

    def add_facts(self, facts: NodeFacts, made: LookMade | None) -> None:
        """Keep what the first look saw of a node, and how to read that look again."""
        self.facts[facts.host] = facts
        if made is not None:
            self.before[facts.host] = made
        identity = facts.identity.value if facts.identity is not None else None
        self.simulated |= identity is not None and identity.simulated

    def add_checks(self, checks: Iterable[CheckResult]) -> None:
        """Keep results."""
        self.checks.extend(checks)

    def add_jobs(self, judgements: Iterable[JobJudgement]) -> None:
        """Keep judged jobs with their rows, limits and results."""
        for judgement in judgements:
            self.add_checks(judgement.checks)
            if judgement.limit is not None and judgement.limit not in self.limits:
                self.limits.append(judgement.limit)
            for outcome in judgement.outcomes:
                if measures_its_hosts(judgement):
                    self.measured.update(outcome.job.hosts)
                elif judgement.verdict is Verdict.DEGRADED:
                    self.slow_together.update(outcome.job.hosts)
                self.add_job(outcome, judgement.verdict, reasons_of(judgement, outcome))

    def add_job(self, outcome: JobOutcome, verdict: Verdict | None, reasons: tuple[Message, ...]) -> None:
        """Keep one job, and what it left behind on its hosts. `verdict` None: it is evidence, and judged by nobody."""
        job = outcome.job
        if self.platform is not None:
            self.shapes[job.id] = shape_of(job, self.platform)
        self._note_what_may_still_run(outcome)
        # In order of time on every host: the visit after a later job deletes what one before it could not.
        self.logs_left.difference_update(job.hosts if outcome.result.kind not in NEVER_STARTED else ())
        self.logs_left.update(outcome.nccl_left)
        # A stand-in says so in its own output, whatever the user thinks the hosts are.
        self.simulated |= any(warning.code == "simulated" for warning in outcome.output.warnings)
        self.tool = next(((table.tool, table.tool_version) for table in outcome.output.tables), self.tool)
        raw, _ = self.engine.store.raw_text_files(job.id, job.stage)
        self.jobs.append(
            JobRecord(
                id=job.id,
                stage=job.stage,
                collective=job.collective.value,
                hosts=job.hosts,
                n_ranks=job.n_ranks,
                verdict=verdict,
                rows=tuple(row for table in outcome.output.tables for row in table.rows),
                command=outcome.argv,
                raw=str(raw.parent.relative_to(self.engine.store.folder)),
                started_at=outcome.started_at,
                duration_s=round(outcome.result.duration_s, 3),
                reasons=reasons,
            )
        )

    def _note_what_may_still_run(self, outcome: JobOutcome) -> None:
        """A node on which ranks of ours may still hold the GPUs is no place to start on, however fast it was."""
        job, named = outcome.job, {host.name for host in self.request.hosts}
        for name in outcome.may_still_run:
            if name in named and name not in self.may_still_run:
                message, rule = say("host.may_still_run"), "leftovers.may_still_run"
                check = CheckResult(leftovers.CHECK, node(name), Verdict.INCONCLUSIVE, message, rule, job.stage)
                self.add_checks([replace(check, job=job.id)])
        self.may_still_run.update(outcome.may_still_run)

    def record(self, state: State, signum: int | None = None) -> RunRecord:
        """The record as of now. An unfinished run is never better than INCONCLUSIVE."""
        request = self.request
        fleet = fleet_settings(self.settings)
        planned = any(request.wants(stage) for stage in BENCHMARK_STAGES)
        checks = settled(self.checks, self._measured_well(), {host.name for host in request.hosts})
        by_host = checks_by_host(checks)
        verdicts = {
            host.name: self._host_verdict(host.name, by_host.get(host.name, ()), planned) for host in request.hosts
        }
        verdict = run_verdict(verdicts, checks)
        if state != "complete":
            verdict = max(verdict, Verdict.INCONCLUSIVE)
        jobs = [(job.stage, job.hosts, job.verdict) for job in self.jobs if job.verdict is not None]
        together = proven_together(jobs, verdicts, checks, self.verified) if state == "complete" else ()
        proven = proven_hosts(together, verdicts)
        gate, named = counted(self.gate, len(proven)), verdict
        verdict = gated(verdict, gate)
        code = exit_code(verdict, request.playbook.gate, request.allow_degraded, gate, len(proven))
        finished = stamp(self.engine.clock.now()) if state != "incomplete" else None
        return RunRecord(
            run_id=request.run_id,
            state=state,
            verdict=verdict,
            exit_code=None if state == "incomplete" else 128 + signum if signum is not None else code,
            simulated=self.simulated,
            started_at=self.started_at,
            finished_at=finished,
            platform=self.platform,
            playbook=request.playbook,
            owner=request.owner,
            hosts=tuple(
                self._host_record(host, verdicts[host.name], by_host.get(host.name, ())) for host in request.hosts
            ),
            jobs=tuple(self.jobs),
            checks=checks,
            findings=findings(
                # Where nothing was to be measured, somebody who computes is in nobody's way.
                checks if planned else [check for check in checks if not check.sets_aside],
                verdicts,
                request.run_id,
                {job.id: job.hosts for job in self.jobs},
                interrupted=state == "interrupted",
                shapes=self.shapes,
                platform=self.platform,
            ),
            healthy_hosts=proven,
            excluded_hosts=self._excluded(verdicts, proven, by_host),
            notes=(*self._notes(), *(gate_notes(gate, len(proven), named) if gate is not None else ())),
            provenance=Provenance(
                tool=request.tool,
                versions=versions(fleet),
                limits=tuple(self.limits),
                playbook_sha256=request.playbook_sha256,
                hostfile=request.hostfile,
                arguments=request.arguments,
                only=request.only or "",
            ),
            inventory=request.hosts,
            fleet=fleet,
            search=self.search,
            proven_together=together,
            gate=gate,
        )

    def _measured_well(self) -> set[str]:
        """Hosts whose every job, alone and with others, was as it should be, or that a search proved at its end."""
        slow = {name for job in self.jobs if job.verdict not in (Verdict.PASS, None) for name in job.hosts}
        return (self.measured - slow - set(self.set_aside)) | set(self.verified)

    def _notes(self) -> tuple[Message, ...]:
        notes = [say("run.simulated")] if self.simulated else []
        job = self.request.allocation
        notes += [say("run.allocation", job=job)] if job else []
        notes += [*self.notes, *self.slurm.notes]
        if self.logs_left:
            hosts, count = fold(self.logs_left), len(self.logs_left)
            folders = f"{folders_of_run(self.request.owner.token)}.*"
            notes.append(say("run.logs_left", count=count, hosts=hosts, folders=folders, run_id=self.request.run_id))
        return tuple(notes)

    def _excluded(
        self, verdicts: Mapping[str, Verdict], proven: tuple[str, ...], by_host: Mapping[str, Sequence[CheckResult]]
    ) -> tuple[str, ...]:
        """Hosts not to start on. Where a proof was asked for, whoever is not proven, so that no host stands in neither
        list; where it was not, whoever has something against it.

        A search that proved nobody excludes whom something sure speaks against: no host for what lies between nodes, or
        for being in doubt.
        """
        if self.search is not None and not proven:
            return tuple(name for name in verdicts if any(map(_speaks_against, by_host.get(name, ()))))
        if self.request.wants("multi_node"):
            together = set(proven)
            return tuple(name for name in verdicts if name not in together)
        return tuple(name for name, found in verdicts.items() if found is not Verdict.PASS)

    def _host_verdict(self, host: str, checks: Iterable[CheckResult], planned: bool) -> Verdict:
        """A host that left on the way (busy, no longer reached) was not measured in all that was planned; one that was
        measured only together with others, and slow, is as good as they were."""
        stayed = host not in self.set_aside
        if stayed and host in self.slow_together and host not in self.measured:
            return max(Verdict.DEGRADED, host_verdict(checks, measured=True, planned=planned))
        return host_verdict(checks, measured=stayed and host in self.measured, planned=planned)

    def _host_record(self, host: Host, verdict: Verdict, checks: Iterable[CheckResult]) -> HostRecord:
        # A number taken beside somebody's job is a measurement with a reason to doubt it.
        reasons = [
            spoken(check)
            for check in checks
            if check.verdict > Verdict.PASS or check.sets_aside or check.rule in _REMARKS
        ]
        reasons += [say("host.excluded", why=self.excluded[host.name])] if host.name in self.excluded else []
        if verdict is not Verdict.PASS and not reasons:
            together = any(len(job.hosts) > 1 and host.name in job.hosts for job in self.jobs)
            without = say("host.only_together") if together else say("finding.no_result")
            reasons.append(self.set_aside.get(host.name, without))
        return HostRecord(
            host.name, verdict, tuple(reasons), host.labels, may_still_run=host.name in self.may_still_run
        )

    def save(self, state: State, signum: int | None = None) -> RunRecord:
        """Write the record as of now."""
        record = self.record(state, signum)
        self.engine.store.save_circumstances(self._circumstances())
        self.engine.store.save_record(record)
        return record

    def _circumstances(self) -> Circumstances:
        request = self.request
        return Circumstances(
            before=dict(self.before),
            after=dict(self.after),
            began_at=self.began_at,
            verified=self.verified,
            thresholds=request.thresholds,
            allow_busy=request.allow_busy,
            allow_degraded=request.allow_degraded,
            launcher=request.launcher,
            passports={name: passport(facts) for name, facts in self.facts.items()},
            platform_sha256=platform_digest(self.platform),
            baseline_sha256=self.baseline_sha256,
            oldest_job=min((job.started_at for job in self.jobs), default=""),
            alone=measured_alone(request.playbook),
        )


def _speaks_against(check: CheckResult) -> bool:
    """Whether a result about a host is reason enough to keep it out of jobs."""
    return check.verdict > Verdict.PASS and check.rule not in DOUBTS
