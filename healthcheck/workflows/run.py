"""`healthcheck run`: look, measure every node alone, then all healthy ones together, and write down the truth.

Whatever happens on the way, what was measured is on disk: every job as it ends, the record before each benchmark stage.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping

from healthcheck.errors import Interrupted, StoreError
from healthcheck.evaluation.fleet import judge_drift, judge_pins
from healthcheck.model.command import JobOutcome
from healthcheck.model.component import FABRIC, node
from healthcheck.model.finding import CheckResult
from healthcheck.model.host import Host
from healthcheck.model.message import Message, say
from healthcheck.model.platform import Platform
from healthcheck.model.playbook import BENCHMARK_STAGES, PROBE_STAGE, Stage
from healthcheck.model.record import RunRecord
from healthcheck.model.verdict import Verdict
from healthcheck.parsing.record_codec import encode_platform
from healthcheck.ports import Event
from healthcheck.probes import binary, gpu_processes, leftovers, mpi, twins
from healthcheck.probes.detect import detect_platform
from healthcheck.probes.judge import judge_node
from healthcheck.probes.probe import Needs
from healthcheck.probes.settings import settings
from healthcheck.workflows.engine import Engine
from healthcheck.workflows.ledger import Ledger
from healthcheck.workflows.look import look_at_all
from healthcheck.workflows.request import RunRequest
from healthcheck.workflows.stage import remove_launch_files, run_stage

SLOTS_CHECK = "hostfile.slots"
# A host on which one of these is not PASS cannot, or must not, be measured.
NEEDED = frozenset({gpu_processes.CHECK, leftovers.CHECK, binary.CHECK, mpi.CHECK, twins.CHECK, SLOTS_CHECK})


def check_up(request: RunRequest, engine: Engine, earlier: Mapping[str, JobOutcome]) -> RunRecord:
    """Run the whole playbook and return the completed record. `earlier` are results of the run being resumed.

    Raises Interrupted after a signal, with the record saved as `interrupted`.
    """
    ledger = Ledger(request, engine)
    ledger.save("incomplete")
    engine.observer.event(
        Event(
            "run", say("run.started", run_id=request.run_id, playbook=request.playbook.name, hosts=len(request.hosts))
        )
    )
    try:
        _probe(ledger, engine)
        for stage in request.playbook.stages:
            if stage.name != PROBE_STAGE and not engine.cancel.wanted:
                _stage(stage, ledger, engine, earlier)
        remove_launch_files(ledger, engine)
    except BaseException:
        # A crash of ours or a second Ctrl-C: the record says `incomplete`, and everything measured is in it.
        # Where the disk is full it cannot be said better than it was; the first reason is the one to tell.
        with contextlib.suppress(StoreError):
            ledger.save("incomplete")
        raise
    signum = engine.cancel.signum
    if signum is not None:
        ledger.save("interrupted", signum)
        raise Interrupted(signum)
    record = ledger.save("complete")
    engine.observer.event(Event("run", say("run.ended", run_id=request.run_id), verdict=record.verdict))
    return record


def _stage(stage: Stage, ledger: Ledger, engine: Engine, earlier: Mapping[str, JobOutcome]) -> None:
    """One stage behind the probes: run, or said to be not run where the run stopped before it."""
    if ledger.stop_after is not None:
        _not_run(ledger, stage.name, ledger.stop_after)
    elif not ledger.request.wants(stage.name):
        return
    elif stage.name in BENCHMARK_STAGES:
        # It may take long, and the process may be killed in it: until then this is what is known.
        ledger.save("incomplete")
        run_stage(stage, ledger, engine, earlier)
    else:
        _localise_is_later(stage, ledger)


def _probe(ledger: Ledger, engine: Engine) -> None:
    """Look at every node, find the platform, judge what was found, set aside what must not be loaded."""
    request = ledger.request
    look_at_all(ledger, engine)
    if ledger.platform is None and ledger.facts:
        _find_platform(ledger)
    if ledger.platform is not None:
        engine.store.write("inputs/platform.json", encode_platform(ledger.platform))
    benchmarks = any(request.wants(stage) for stage in BENCHMARK_STAGES)
    needs = Needs(
        ledger.platform,
        request.owner.token,
        binary=benchmarks,
        mpi=benchmarks,
        # MPICH and Open MPI both call it mpirun: only hydra is a wish for one of them.
        launcher="hydra" if request.launcher == "hydra" else None,
        allow_busy=request.allow_busy,
    )
    visited = [(host, ledger.facts[host.name]) for host in request.hosts if host.name in ledger.facts]
    doubled = twins.judge_twins(facts for _, facts in visited)
    for host, facts in visited:
        same = [check for check in doubled if check.component == node(host.name)]
        checks = (*judge_node(facts, needs), *same, *_slots(host, ledger.platform))
        ledger.add_checks(checks)
        _sort_out(ledger, host.name, checks, engine)
    _compare(ledger, engine)
    reached = len(ledger.facts)
    engine.observer.event(Event(PROBE_STAGE, say("stage.probe_done", reached=reached, hosts=len(request.hosts))))


def _compare(ledger: Ledger, engine: Engine) -> None:
    """Versions and settings side by side: who differs from most, and who from what was pinned."""
    ledger.settings = {host: settings(facts) for host, facts in ledger.facts.items()}
    playbook, platform = ledger.request.playbook, ledger.platform
    checks = [*judge_drift(ledger.settings), *judge_pins(ledger.settings, playbook.pins, f"playbook {playbook.name}")]
    if platform is not None:
        checks += judge_pins(ledger.settings, platform.pins, f"platform {platform.name}")
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
        if check.check in NEEDED and check.verdict in (Verdict.SKIPPED, Verdict.INCONCLUSIVE):
            ledger.set_aside.setdefault(host, check.message)
        elif check.verdict is Verdict.FAIL:
            ledger.excluded.setdefault(host, check.message)
        engine.observer.event(Event(PROBE_STAGE, check.message, str(check.component), check.verdict))


def _not_run(ledger: Ledger, stage: str, why: Message) -> None:
    message = say("stage.not_run", why=str(why))
    ledger.add_checks([CheckResult("stage.run", FABRIC, Verdict.INCONCLUSIVE, message, "stage.not_run", stage)])


def _localise_is_later(stage: Stage, ledger: Ledger) -> None:
    """Say plainly that the search is not there yet: a result where it was planned for sure, else a note if needed."""
    if stage.when == "always" or ledger.request.only == stage.name:
        _not_run(ledger, stage.name, say("stage.no_localise"))
        return
    slow = [job for job in ledger.jobs if job.stage == "multi_node" and job.verdict in (Verdict.DEGRADED, Verdict.FAIL)]
    if slow:
        ledger.notes.append(say("stage.no_localise"))
