"""What a job needs where it starts: the program, the launch files, a last look at its hosts; and taking them away."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from msgspec import Struct
from msgspec.structs import replace

from healthcheck.evaluation.fresh import passport
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
from healthcheck.model.slurm import SlurmJob
from healthcheck.model.verdict import Verdict
from healthcheck.ports import PushFile, Transport
from healthcheck.workflows.cleanup import tidy_command
from healthcheck.workflows.engine import WIDTH, Cancel, Engine
from healthcheck.workflows.fanout import run_short, visit
from healthcheck.workflows.jobs import Launch, Refused
from healthcheck.workflows.ledger import Ledger
from healthcheck.workflows.look import busy_now, look_at
from healthcheck.workflows.request import LOCALHOST


def measured(job: CollectiveJob, earlier: Mapping[str, JobOutcome]) -> bool:
    """Whether an earlier try of this very job ended by itself with something to judge.

    Its deadline does not matter then: that of a gate is another one each time.
    """
    outcome = earlier.get(job.id)
    return (
        outcome is not None
        and replace(outcome.job, timeout_s=job.timeout_s) == job
        and outcome.result.kind in (ExitKind.EXITED, ExitKind.TEARDOWN_HUNG)
        and outcome.output.state in (OutputState.COMPLETE, OutputState.FAILED)
    )


def _program(facts: NodeFacts, job: CollectiveJob) -> str:
    assert facts.binary.value is not None  # hosts without the binary were set aside by the probes
    return str(PurePosixPath(facts.binary.value.path).parent / job.collective.binary)


class Start(Struct, frozen=True):
    """Where the mpirun of a job starts, and what was found there. `folder` holds the launch files, if it needs any."""

    host: Host
    transport: Transport
    facts: NodeFacts
    flavour: MpiFlavour
    folder: str | None = None


def launch(job: CollectiveJob, start: Start, hosts: tuple[Host, ...], stage: Stage, ledger: Ledger) -> Launch:
    """The command line of a job, and where it starts."""
    if ledger.engine.pace is not None:
        job = ledger.engine.pace.within(job)
    program, token = _program(ledger.facts[hosts[0].name], job), ledger.request.owner.token
    slurm, wrapper = ledger.request.slurm, ledger.request.playbook.wrapper
    site = LaunchSite(start.flavour, program, token, start.folder, _is_root(start.facts), slurm, wrapper)
    command = LAUNCHERS[start.flavour.family](job, site)
    passports = {host.name: passport(ledger.facts[host.name]) for host in hosts}
    return Launch(job, command, start.host, start.transport, hosts, float(stage.stall), passports)


def alone(host: Host, ledger: Ledger, engine: Engine) -> Start:
    """Where a job over one host starts: on it, or here where srun does it."""
    facts = ledger.facts[host.name]
    if ledger.request.slurm is not None:
        return by_srun(facts, ledger.request.slurm, engine)
    assert facts.mpi.value is not None  # hosts without mpirun were set aside by the probes
    return Start(host, engine.transport, facts, facts.mpi.value)


def by_srun(facts: NodeFacts, slurm: SlurmJob, engine: Engine) -> Start:
    """Steps of an allocation start on this machine and need no files beside them."""
    return Start(LOCALHOST, engine.local, facts, MpiFlavour("srun", slurm.version))


def _is_root(facts: NodeFacts) -> bool:
    identity = facts.identity.value if facts.identity is not None else None
    return identity is not None and identity.uid == 0


def prepare(
    stage: Stage,
    job: CollectiveJob,
    hosts: Sequence[Host],
    launch_host: Host | None,
    ledger: Ledger,
    engine: Engine,
    apart: str = "",
) -> Start | CheckResult:
    """Everything a job over `hosts` needs where it starts (None: this machine), or why it cannot start there.

    `apart` names launch files of its own, for jobs that start on one machine at the same time.
    """
    if ledger.request.slurm is not None:
        return _checked(stage, by_srun(ledger.facts[hosts[0].name], ledger.request.slurm, engine), job, hosts, ledger)
    if launch_host is None:
        host, transport = LOCALHOST, engine.local
        look = look_at(LOCALHOST, ledger.request, engine.local, engine)
        if look.refusal is not None:
            return between(stage, look.refusal, look.rule)
        facts = look.facts
    else:
        host, transport, facts = launch_host, engine.transport, ledger.facts[launch_host.name]
    if facts is None or facts.mpi.value is None:
        return between(stage, say("launch.mpirun_missing", host=host.name), "launch.mpirun_missing")
    folder = _bring_files(facts.mpi.value, hosts, host, transport, ledger, apart)
    if isinstance(folder, Message):
        return between(stage, folder, "launch.files")
    return _checked(stage, Start(host, transport, facts, facts.mpi.value, folder), job, hosts, ledger)


def _checked(
    stage: Stage, start: Start, job: CollectiveJob, hosts: Sequence[Host], ledger: Ledger
) -> Start | CheckResult:
    """One command line starts the ranks of all hosts, so the program has to stand in one place."""
    programs = {str(PurePosixPath(_program(ledger.facts[host.name], job)).parent) for host in hosts}
    if len(programs) > 1:
        message = say("run.wrong_folders", folders=", ".join(sorted(programs)[:4]))
        return between(stage, message, "launch.folders_differ")
    return start


def launch_host_of(hosts: Sequence[Host], launch_from: str) -> Host | None:
    """Where mpirun starts: None for this machine. A named host that is not healthy gives way to the first."""
    if launch_from == "local":
        return None
    return next((host for host in hosts if host.name == launch_from), hosts[0])


def _bring_files(
    flavour: MpiFlavour, hosts: Sequence[Host], start: Host, transport: Transport, ledger: Ledger, apart: str
) -> str | Message:
    """Push hostfile, ssh config and known hosts to the launch host; the folder there, or why not."""
    token = ledger.request.owner.token
    where = f"run/{token}/{hashlib.sha256(apart.encode()).hexdigest()[:8]}" if apart else f"run/{token}"
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
    hosts = [by_name[name] for name in sorted(ledger.launch_folders)]
    # A search starts jobs on many hosts. A cancel does not cut it short: leaving nothing behind is part of stopping.
    for _ in visit(
        hosts, lambda host: run_short(transport, host, tidy_command(f"run/{token}", token)), Cancel(), WIDTH
    ):
        pass


def last_look(launch: Launch, ledger: Ledger, engine: Engine) -> tuple[CheckResult, ...]:
    """Right before a launch: is any of its hosts busy now? Nobody's work is disturbed by a late job of ours."""
    pace = engine.pace
    if pace is not None and not pace.may_begin:
        component = node(launch.hosts[0].name) if len(launch.hosts) == 1 else FABRIC
        message = say("stage.not_run", why=say("gate.no_time_to_begin"))
        return (CheckResult("stage.run", component, Verdict.INCONCLUSIVE, message, "stage.no_time", launch.job.stage),)
    if len(launch.hosts) == 1:
        return busy_now(launch.hosts[0], ledger, engine)
    found: list[CheckResult] = []
    for _, checks in visit(launch.hosts, lambda host: busy_now(host, ledger, engine), engine.cancel, engine.width):
        found.extend(checks)
    return tuple(found)


def between(stage: Stage, message: Message, rule: str, verdict: Verdict = Verdict.INCONCLUSIVE) -> CheckResult:
    """A result about a whole stage that could not be run as planned."""
    return CheckResult("stage.run", FABRIC, verdict, message, rule, stage.name)


def refuse(refused: Refused, ledger: Ledger) -> None:
    """Keep what was found right before a start, and set the host aside."""
    for check in refused.checks:
        ledger.add_checks([check])
        if check.component.host is not None:
            ledger.set_aside.setdefault(check.component.host, check.message)
