"""The looks at every node, before and after the benchmarks, judged; and who is kept away from the benchmarks."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from healthcheck.evaluation.fleet import judge_drift, judge_pins
from healthcheck.model.component import FABRIC, node
from healthcheck.model.finding import CheckResult
from healthcheck.model.host import Host
from healthcheck.model.message import Message, say
from healthcheck.model.platform import Platform
from healthcheck.model.playbook import BENCHMARK_STAGES, PROBE_STAGE
from healthcheck.model.progress import Begun, Counted, Over
from healthcheck.model.verdict import Verdict
from healthcheck.parsing.record_codec import encode_platform
from healthcheck.ports import Event
from healthcheck.probes import PROBES, binary, gpu_processes, gpus, leftovers, mpi, same_boot, twins
from healthcheck.probes.clock import ALLOWED_S, fleet_offset_s
from healthcheck.probes.detect import detect_platform
from healthcheck.probes.judge import judge_node
from healthcheck.probes.probe import Needs
from healthcheck.probes.settings import settings
from healthcheck.workflows import allocation
from healthcheck.workflows.engine import Engine
from healthcheck.workflows.fanout import visit
from healthcheck.workflows.judged_jobs import spoken
from healthcheck.workflows.ledger import Ledger
from healthcheck.workflows.locking import take_hosts
from healthcheck.workflows.look import Look, look_after, look_at_all, not_reached
from healthcheck.workflows.nccl_judging import NCCL

SLOTS_CHECK = "hostfile.slots"
# A host on which one of these is not PASS cannot, or must not, be measured; nor one whose GPUs nobody could list.
NEEDED = frozenset(
    {gpu_processes.CHECK, allocation.CHECK, leftovers.CHECK, binary.CHECK, mpi.CHECK, twins.CHECK, SLOTS_CHECK}
)


def probe_before(ledger: Ledger, engine: Engine) -> None:
    """Look at every node, find the platform, judge what was found, set aside what must not be loaded."""
    take_hosts(ledger, engine)
    look_at_all(ledger, engine)
    judge_before(ledger, engine, ledger.slurm.judge)
    if ledger.platform is not None:
        engine.store.write("inputs/platform.json", encode_platform(ledger.platform))
    over = Over(len(ledger.facts), len(ledger.request.hosts))
    engine.observer.event(Event(PROBE_STAGE, _machine(ledger), step=over))


def _machine(ledger: Ledger) -> Message:
    if ledger.platform is None:
        return say("progress.platform_unknown")
    name = ledger.platform.name
    return say("progress.platform" if ledger.request.platform is not None else "progress.platform_found", name=name)


def judge_before(ledger: Ledger, engine: Engine, allocated: Callable[[Host], CheckResult | None]) -> None:
    """Judge the first look at every node, by the machine type that was asked for or that they look like.

    `allocated` says what Slurm makes of a host; None where none answers. Nothing is written but the ledger.
    """
    request = ledger.request
    if ledger.platform is None and ledger.facts:
        _find_platform(ledger)
    ahead_s = fleet_offset_s(ledger.facts.values())
    if abs(ahead_s) > ALLOWED_S:
        ledger.notes.append(say("run.own_clock", seconds=round(ahead_s, 1)))
    needs = replace(_needs(ledger), clocks_ahead_s=ahead_s)
    visited = [(host, ledger.facts[host.name]) for host in request.hosts if host.name in ledger.facts]
    doubled = twins.judge_twins(facts for _, facts in visited)
    for host, facts in visited:
        same = [check for check in doubled if check.component == node(host.name)]
        given = allocated(host)
        checks = (*judge_node(facts, needs), *same, *_slots(host, ledger.platform), *((given,) if given else ()))
        ledger.add_checks(checks)
        _sort_out(ledger, host.name, checks, engine)
    _compare(ledger, engine)


def _compare(ledger: Ledger, engine: Engine) -> None:
    """Versions and settings side by side: who differs from most, and who from what was pinned."""
    ledger.settings = {host: settings(facts) for host, facts in ledger.facts.items()}
    checks = list(judge_drift(ledger.settings))
    for pins, source in ledger.pins():
        # Which NCCL is loaded only a job shows: its pin is judged by the log of one.
        visible = {name: wanted for name, wanted in pins.items() if name != NCCL}
        checks += judge_pins(ledger.settings, visible, source)
    ledger.add_checks(checks)
    for check in checks:
        if check.verdict is Verdict.FAIL and check.component.host is not None:
            ledger.excluded.setdefault(check.component.host, check.message)
        if check.verdict is not Verdict.PASS:
            engine.observer.event(Event(PROBE_STAGE, check.message, str(check.component), check.verdict))


def _find_platform(ledger: Ledger) -> None:
    """The machine type that the nodes look like; where none fits, the run ends with the probes."""
    found = detect_platform(tuple(ledger.facts.values()), ledger.request.platforms)
    if isinstance(found, Platform):
        ledger.platform = found
        return
    # Without a platform there is no limit: a benchmark would load the nodes and prove nothing.
    ledger.stop_after = found
    ledger.add_checks(
        [CheckResult("platform.detect", FABRIC, Verdict.INCONCLUSIVE, found, "platform.unknown", PROBE_STAGE)]
    )


def _slots(host: Host, platform: Platform | None) -> tuple[CheckResult, ...]:
    """Other slots than GPUs: a part of the node would go unmeasured, or ranks would share a GPU."""
    if platform is None or host.slots in (None, platform.gpu.count):
        return ()
    message = say("probe.slots", slots=host.slots or 0, gpus=platform.gpu.count)
    return (CheckResult(SLOTS_CHECK, node(host.name), Verdict.INCONCLUSIVE, message, "slots.differ", PROBE_STAGE),)


def _sort_out(ledger: Ledger, host: str, checks: tuple[CheckResult, ...], engine: Engine) -> None:
    """Set aside what cannot or must not be measured; exclude from the jobs over several nodes what is broken."""
    for check in checks:
        if check.verdict is Verdict.PASS or (check.verdict is Verdict.SKIPPED and not check.sets_aside):
            continue
        needed = check.check in NEEDED or check.rule in gpus.UNREADABLE
        if needed and check.verdict in (Verdict.SKIPPED, Verdict.INCONCLUSIVE):
            ledger.set_aside.setdefault(host, spoken(check))
        elif check.verdict is Verdict.FAIL:
            ledger.excluded.setdefault(host, spoken(check))
        engine.observer.event(Event(PROBE_STAGE, check.message, str(check.component), check.verdict))


def _needs(ledger: Ledger) -> Needs:
    request = ledger.request
    # The looks alone are judged for the needs of the whole playbook: that is what they are taken for.
    alone = request.only == PROBE_STAGE
    wanted = {stage.name for stage in request.playbook.stages if alone or request.wants(stage.name)}
    benchmarks = not wanted.isdisjoint(BENCHMARK_STAGES)
    return Needs(
        ledger.platform,
        request.owner.token,
        binary=benchmarks,
        # slurmd starts the ranks of srun: no node needs an mpirun.
        mpi=benchmarks and request.launcher != "srun",
        # MPICH and Open MPI both call it mpirun: only hydra is a wish for one of them.
        launcher="hydra" if request.launcher == "hydra" else None,
        allow_busy=request.allow_busy,
        together="multi_node" in wanted and len(request.hosts) > 1,
        began_at=ledger.began_at,
        known=tuple(request.platforms.values()),
    )


def probe_after(ledger: Ledger, engine: Engine) -> None:
    """Look again at every node once the benchmarks are over: counters that grew, what the kernel logged meanwhile.

    Nothing to see where no benchmark ran. A node that no longer answers is a result, too.
    """
    if ledger.began_at is None or engine.cancel.wanted:
        return
    request = ledger.request
    hosts = [host for host in request.hosts if host.name in ledger.facts]
    if not hosts:
        return
    tell, again, answered, seen = engine.observer.event, say("progress.after"), say("progress.answered"), 0
    tell(Event(PROBE_STAGE, say("progress.who", hosts=len(hosts)), step=Begun(len(hosts))))
    for host, look in visit(hosts, lambda host: look_after(host, request, engine), engine.cancel, engine.width):
        judge_after(host, look, ledger, engine)
        seen += look.facts is not None
        tell(Event(PROBE_STAGE, answered, host.name, step=Counted(seen, len(hosts))))
    tell(Event(PROBE_STAGE, again, step=Over(seen, len(hosts))))


def judge_after(host: Host, look: Look, ledger: Ledger, engine: Engine) -> None:
    """Judge the look at one node after the benchmarks, against the one before them."""
    checks: tuple[CheckResult, ...]
    if look.facts is None:
        checks = (not_reached(host, look.refusal or say("probe.no_output", code=-1), look.rule),)
    else:
        if look.made is not None:
            ledger.after[host.name] = look.made
        before, needs = ledger.facts[host.name], _needs(ledger)
        grown = tuple(
            result
            for probe in PROBES.values()
            if probe.judge_after is not None
            for result in probe.judge_after(before, look.facts, needs)
        )
        checks = (*same_boot.judge_boot(before, look.facts), *grown)
    ledger.add_checks(checks)
    _sort_out(ledger, host.name, checks, engine)
