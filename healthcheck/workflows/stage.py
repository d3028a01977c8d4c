"""One benchmark stage: plan its jobs, bring the launch files, run, judge, and decide who goes on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath

from msgspec import Struct

from healthcheck.evaluation.limits import BUSBW_CHECK
from healthcheck.evaluation.stage import JobJudgement, judge_jobs
from healthcheck.launchers import LAUNCHERS
from healthcheck.launchers.files import launch_files
from healthcheck.launchers.site import LaunchSite
from healthcheck.model.command import CollectiveJob, ExitKind, JobOutcome
from healthcheck.model.component import FABRIC, node
from healthcheck.model.finding import CheckResult
from healthcheck.model.host import Host
from healthcheck.model.measurement import OutputState
from healthcheck.model.message import Message, say
from healthcheck.model.node import MpiFlavour, NodeFacts
from healthcheck.model.playbook import Stage
from healthcheck.model.verdict import Verdict
from healthcheck.planning.stages import multi_node_jobs, single_node_jobs
from healthcheck.ports import Event, PushFile, Transport
from healthcheck.workflows.cleanup import tidy_command
from healthcheck.workflows.engine import Engine
from healthcheck.workflows.fanout import run_short, visit
from healthcheck.workflows.jobs import Launch, Refused, run_jobs
from healthcheck.workflows.ledger import Ledger
from healthcheck.workflows.look import busy_now, look_at
from healthcheck.workflows.nccl_judging import judge_logs
from healthcheck.workflows.request import LOCALHOST
from healthcheck.workflows.under_load import LoadedLooks


def run_stage(stage: Stage, ledger: Ledger, engine: Engine, earlier: Mapping[str, JobOutcome]) -> None:
    """Run and judge one of single_node and multi_node; everything found is in the ledger afterwards."""
    if stage.name == "single_node":
        hosts = {host.name: host for host in ledger.usable()}
        jobs = single_node_jobs(ledger.request.playbook, stage, tuple(hosts.values()))
        wanted = [job for job in jobs if not _measured(job, earlier)]
        launches = [_alone(job, hosts[job.hosts[0]], stage, ledger, engine) for job in wanted]
    else:
        jobs, launches = _together(stage, ledger, engine, earlier)
    again = len(jobs) - len(launches)
    begins = say("stage.resumes", jobs=len(jobs), again=again) if again else say("stage.begins", jobs=len(jobs))
    engine.observer.event(Event(stage.name, begins))
    outcomes = {job.id: earlier[job.id] for job in jobs if _measured(job, earlier)}
    by_itself: dict[str, JobJudgement] = {}

    def passed(outcome: JobOutcome) -> bool:
        by_itself[outcome.job.id] = _judge_alone(stage, outcome, ledger)
        return by_itself[outcome.job.id].verdict is Verdict.PASS

    loaded = LoadedLooks(ledger.request, engine)
    under_load = loaded.take if stage.name == "single_node" else None
    for ended in run_jobs(launches, lambda launch: _last_look(launch, ledger, engine), engine, passed, under_load):
        if isinstance(ended, Refused):
            _refuse(ended, ledger)
        else:
            outcomes[ended.job.id] = ended
            _tell(ended, by_itself.get(ended.job.id) or _judge_alone(stage, ended, ledger), engine)
    in_order = [outcomes[job.id] for job in jobs if job.id in outcomes]
    judgements = judge_jobs(stage, in_order, ledger.request.playbook, ledger.platform, ledger.request.thresholds)
    ledger.add_jobs(judgements)
    ledger.add_checks(loaded.checks(ledger.platform, stage.name))
    judge_logs(stage, judgements, ledger, engine)
    _never_ran([job for job in jobs if job.id not in outcomes], ledger)
    if stage.name == "single_node":
        _who_goes_on(stage, judgements, ledger)
    worst = max((judgement.verdict for judgement in judgements), default=Verdict.INCONCLUSIVE)
    if _asks(stage, worst) == "stop":
        ledger.stop_after = say("stage.stopped_early", stage=stage.name)
    engine.observer.event(Event(stage.name, say("stage.done", jobs=len(in_order)), verdict=worst))


def _measured(job: CollectiveJob, earlier: Mapping[str, JobOutcome]) -> bool:
    """Whether an earlier try of this very job ended by itself with something to judge."""
    outcome = earlier.get(job.id)
    return (
        outcome is not None
        and outcome.job == job
        and outcome.result.kind in (ExitKind.EXITED, ExitKind.TEARDOWN_HUNG)
        and outcome.output.state in (OutputState.COMPLETE, OutputState.FAILED)
    )


def _program(facts: NodeFacts, job: CollectiveJob) -> str:
    assert facts.binary.value is not None  # hosts without the binary were set aside by the probes
    return str(PurePosixPath(facts.binary.value.path).parent / job.collective.binary)


class _Start(Struct, frozen=True):
    """Where the mpirun of a job starts, and what was found there. `folder` holds the launch files, if it needs any."""

    host: Host
    transport: Transport
    facts: NodeFacts
    flavour: MpiFlavour
    folder: str | None = None


def _alone(job: CollectiveJob, host: Host, stage: Stage, ledger: Ledger, engine: Engine) -> Launch:
    facts = ledger.facts[host.name]
    assert facts.mpi.value is not None  # hosts without mpirun were set aside by the probes
    start = _Start(host, engine.transport, facts, facts.mpi.value)
    return _launch(job, start, (host,), stage, ledger)


def _launch(job: CollectiveJob, start: _Start, hosts: tuple[Host, ...], stage: Stage, ledger: Ledger) -> Launch:
    program, token = _program(ledger.facts[hosts[0].name], job), ledger.request.owner.token
    site = LaunchSite(start.flavour, program, token, start.folder, as_root=_is_root(start.facts))
    command = LAUNCHERS[start.flavour.family](job, site)
    return Launch(job, command, start.host, start.transport, hosts, float(stage.stall))


def _is_root(facts: NodeFacts) -> bool:
    identity = facts.identity.value if facts.identity is not None else None
    return identity is not None and identity.uid == 0


def _together(
    stage: Stage, ledger: Ledger, engine: Engine, earlier: Mapping[str, JobOutcome]
) -> tuple[tuple[CollectiveJob, ...], list[Launch]]:
    """Jobs over all healthy hosts and what starts them; a result instead where they cannot be started."""
    request = ledger.request
    _set_aside_busy(ledger, engine)
    hosts = ledger.healthy()
    if len(hosts) < 2:
        _too_few(stage, len(hosts), ledger)
        return (), []
    launch_host = _launch_host(hosts, request.launch_from)
    name = None if launch_host is None else launch_host.name
    jobs = multi_node_jobs(request.playbook, stage, hosts, name)
    wanted = [job for job in jobs if not _measured(job, earlier)]
    if not wanted:
        return jobs, []
    start = _prepare(stage, wanted[0], hosts, launch_host, ledger, engine)
    if isinstance(start, CheckResult):
        ledger.add_checks([start])
        return tuple(job for job in jobs if _measured(job, earlier)), []
    return jobs, [_launch(job, start, hosts, stage, ledger) for job in wanted]


def _prepare(
    stage: Stage, job: CollectiveJob, hosts: Sequence[Host], launch_host: Host | None, ledger: Ledger, engine: Engine
) -> _Start | CheckResult:
    """Everything a job over `hosts` needs where it starts (None: this machine), or why it cannot start there."""
    if launch_host is None:
        host, transport = LOCALHOST, engine.local
        look = look_at(LOCALHOST, ledger.request, engine.local, engine)
        if look.refusal is not None:
            return _between(stage, look.refusal, look.rule)
        facts = look.facts
    else:
        host, transport, facts = launch_host, engine.transport, ledger.facts[launch_host.name]
    if facts is None or facts.mpi.value is None:
        return _between(stage, say("launch.mpirun_missing", host=host.name), "launch.mpirun_missing")
    folder = _bring_files(facts.mpi.value, hosts, host, transport, ledger)
    if isinstance(folder, Message):
        return _between(stage, folder, "launch.files")
    programs = {str(PurePosixPath(_program(ledger.facts[host.name], job)).parent) for host in hosts}
    if len(programs) > 1:
        message = say("run.wrong_folders", folders=", ".join(sorted(programs)[:4]))
        return _between(stage, message, "launch.folders_differ")
    return _Start(host, transport, facts, facts.mpi.value, folder)


def _launch_host(hosts: Sequence[Host], launch_from: str) -> Host | None:
    """Where mpirun starts: None for this machine. A named host that is not healthy gives way to the first."""
    if launch_from == "local":
        return None
    return next((host for host in hosts if host.name == launch_from), hosts[0])


def _bring_files(
    flavour: MpiFlavour, hosts: Sequence[Host], start: Host, transport: Transport, ledger: Ledger
) -> str | Message:
    """Push hostfile, ssh config and known hosts to the launch host; the folder there, or why not."""
    token = ledger.request.owner.token
    where = f"run/{token}"
    empty = transport.push(start, where, ())
    if empty.folder is None:
        return empty.reason or say("push.refused", detail="")
    known = [line for host in hosts for line in ledger.known_hosts.get(host.name, ())]
    ranks = [host.slots or 1 for host in hosts]
    files = [
        PushFile(name, 0o700 if name == "ssh" else 0o600, content=text.encode())
        for name, text in launch_files(flavour.family, hosts, ranks, known, empty.folder).items()
    ]
    pushed = transport.push(start, where, files)
    if pushed.folder is None:
        return pushed.reason or say("push.refused", detail="")
    ledger.launch_folders.add(start.name)
    return pushed.folder


def remove_launch_files(ledger: Ledger, engine: Engine) -> None:
    """Take the launch files away again; what stays of us on a node is the cache of binaries only."""
    token = ledger.request.owner.token
    # A host of the hostfile may be called localhost, too: a tunnel to somewhere else.
    here = ledger.request.launch_from == "local"
    by_name = {host.name: host for host in ((LOCALHOST,) if here else ledger.request.hosts)}
    transport = engine.local if here else engine.transport
    for name in ledger.launch_folders:
        run_short(transport, by_name[name], tidy_command(f"run/{token}", token))


def _last_look(launch: Launch, ledger: Ledger, engine: Engine) -> tuple[CheckResult, ...]:
    """Right before a launch: is any of its hosts busy now? Nobody's work is disturbed by a late job of ours."""
    if len(launch.hosts) == 1:
        return busy_now(launch.hosts[0], ledger, engine)
    found: list[CheckResult] = []
    for _, checks in visit(launch.hosts, lambda host: busy_now(host, ledger, engine), engine.cancel, engine.width):
        found.extend(checks)
    return tuple(found)


def _set_aside_busy(ledger: Ledger, engine: Engine) -> None:
    """Nodes that became busy since the first look leave before the others are planned together without them."""
    for host, checks in visit(
        ledger.healthy(), lambda host: busy_now(host, ledger, engine), engine.cancel, engine.width
    ):
        if checks:
            ledger.add_checks(checks)
            ledger.set_aside.setdefault(host.name, checks[0].message)


def _refuse(refused: Refused, ledger: Ledger) -> None:
    for check in refused.checks:
        ledger.add_checks([check])
        if check.component.host is not None:
            ledger.set_aside.setdefault(check.component.host, check.message)


def _never_ran(jobs: Iterable[CollectiveJob], ledger: Ledger) -> None:
    """Every planned job ends in a result: those that were not begun say so."""
    for job in jobs:
        component = node(job.hosts[0]) if len(job.hosts) == 1 else FABRIC
        why = ledger.set_aside.get(job.hosts[0]) if len(job.hosts) == 1 else None
        message = say("stage.not_run", why=str(why or say("run.interrupted")))
        if len(job.hosts) > 1 and not ledger.engine.cancel.wanted:
            busy = sorted(host for host in job.hosts if host in ledger.set_aside)
            message = say("stage.not_run", why=str(ledger.set_aside[busy[0]]) if busy else "?")
        ledger.add_checks(
            [CheckResult("job.integrity", component, Verdict.INCONCLUSIVE, message, "integrity.not_run", job.stage)]
        )


def _asks(stage: Stage, verdict: Verdict) -> str:
    if verdict in (Verdict.FAIL, Verdict.INCONCLUSIVE):
        return stage.on_fail
    return stage.on_degraded if verdict is Verdict.DEGRADED else "continue"


def _who_goes_on(stage: Stage, judgements: Iterable[JobJudgement], ledger: Ledger) -> None:
    """Exclude nodes whose own job was not good enough; a job that was not measured counts as not good enough."""
    for judgement in judgements:
        if _asks(stage, judgement.verdict) == "exclude":
            reason = next(check.message for check in judgement.checks if check.verdict is judgement.verdict)
            ledger.excluded.setdefault(judgement.outcomes[0].job.hosts[0], reason)


def _between(stage: Stage, message: Message, rule: str, verdict: Verdict = Verdict.INCONCLUSIVE) -> CheckResult:
    return CheckResult("stage.run", FABRIC, verdict, message, rule, stage.name)


def _too_few(stage: Stage, count: int, ledger: Ledger) -> None:
    named = len(ledger.request.hosts)
    if named == 1:
        ledger.add_checks([_between(stage, say("stage.one_host"), "stage.does_not_apply", Verdict.SKIPPED)])
    else:
        message = say("stage.too_few_hosts", count=count, named=named)
        ledger.add_checks([_between(stage, message, "stage.too_few_hosts")])


def _judge_alone(stage: Stage, outcome: JobOutcome, ledger: Ledger) -> JobJudgement:
    """One job as it has ended; judged again, properly and with all repeats, when the stage has."""
    return judge_jobs(stage, [outcome], ledger.request.playbook, ledger.platform, ledger.request.thresholds)[0]


def _tell(outcome: JobOutcome, judged: JobJudgement, engine: Engine) -> None:
    """Progress while the stage runs."""
    decisive = [check for check in judged.checks if check.verdict is judged.verdict]
    # Of several that say the same, the bandwidth is what a person wants to read.
    message = next((check.message for check in decisive if check.check == BUSBW_CHECK), decisive[0].message)
    who = outcome.job.hosts[0] if len(outcome.job.hosts) == 1 else f"{len(outcome.job.hosts)} nodes"
    engine.observer.event(Event(outcome.job.stage, message, who, judged.verdict))
