"""`healthcheck run`: look, measure every node alone, then all healthy ones together, and write down the truth.

Whatever happens on the way, what was measured is on disk: every job as it ends, the record before each benchmark stage.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping

from healthcheck.errors import Interrupted, StoreError
from healthcheck.model.command import JobOutcome
from healthcheck.model.component import FABRIC
from healthcheck.model.finding import CheckResult
from healthcheck.model.message import Message, say
from healthcheck.model.playbook import BENCHMARK_STAGES, PROBE_STAGE, Stage
from healthcheck.model.record import RunRecord
from healthcheck.model.verdict import Verdict
from healthcheck.ports import Event
from healthcheck.workflows.baseline import settle_baseline
from healthcheck.workflows.engine import Engine
from healthcheck.workflows.gate import Gate
from healthcheck.workflows.launching import remove_launch_files
from healthcheck.workflows.ledger import Ledger
from healthcheck.workflows.localise import run_localise
from healthcheck.workflows.probing import probe_after, probe_before
from healthcheck.workflows.request import RunRequest
from healthcheck.workflows.resuming import still_true
from healthcheck.workflows.stage import run_stage


class NotKept(StoreError):
    """The results folder failed on the way. `record` is what was known of the run by then, complete in nothing."""

    def __init__(self, problem: str, record: RunRecord) -> None:
        self.record = record
        super().__init__(problem)


def check_up(request: RunRequest, engine: Engine, earlier: Mapping[str, JobOutcome]) -> RunRecord:
    """Run the whole playbook and return the completed record. `earlier` are results of the run being resumed.

    Raises Interrupted after a signal, with the record saved as `interrupted`, and NotKept where it cannot be saved.
    """
    ledger = Ledger(request, engine)
    try:
        return _check_up(request, engine, earlier, ledger)
    except StoreError as error:
        raise NotKept(str(error), ledger.record("incomplete")) from error


def _check_up(request: RunRequest, engine: Engine, earlier: Mapping[str, JobOutcome], ledger: Ledger) -> RunRecord:
    ledger.save("incomplete")
    engine.observer.event(
        Event(
            "run", say("run.started", run_id=request.run_id, playbook=request.playbook.name, hosts=len(request.hosts))
        )
    )
    gate = None if request.gate is None else Gate(ledger, engine, request.gate)
    try:
        probe_before(ledger, engine)
        earlier = still_true(earlier, ledger, engine)
        settle_baseline(ledger, engine)
        for stage in request.playbook.stages:
            if stage.name != PROBE_STAGE and not engine.cancel.wanted:
                _stage(stage, ledger, engine, earlier, gate)
        probe_after(ledger, engine)
        remove_launch_files(ledger, engine)
    except BaseException:
        # A crash of ours or a second Ctrl-C: the record says `incomplete`, and everything measured is in it.
        # Where the disk is full it cannot be said better than it was; the first reason is the one to tell.
        with contextlib.suppress(StoreError):
            ledger.save("incomplete")
        raise
    finally:
        if engine.locks is not None:
            engine.locks.release()
    signum = engine.cancel.signum
    if signum is not None:
        ledger.save("interrupted", signum)
        raise Interrupted(signum)
    record = ledger.save("complete")
    if request.only == "single_node" and not record.healthy_hosts:
        measured = {host for job in record.jobs if job.rows for host in job.hosts}
        ended = say("run.alone", measured=len(measured), hosts=len(record.hosts))
    elif any(map(request.wants, BENCHMARK_STAGES)):
        ended = say("run.ended", ready=len(record.healthy_hosts), hosts=len(record.hosts))
    else:
        ended = say("run.looked_at", looked=len(ledger.facts), hosts=len(record.hosts))
    engine.observer.event(Event("run", ended, verdict=record.verdict))
    return record


def _stage(stage: Stage, ledger: Ledger, engine: Engine, earlier: Mapping[str, JobOutcome], gate: Gate | None) -> None:
    """One stage behind the probes: run, or said to be not run where the run stopped before it."""
    if ledger.stop_after is not None:
        _not_run(ledger, stage.name, ledger.stop_after)
        return
    if not ledger.request.wants(stage.name):
        return
    fitted = stage if gate is None else gate.fitted(stage)
    if fitted is None:
        return
    if stage.name in BENCHMARK_STAGES:
        # It may take long, and the process may be killed in it: until then this is what is known.
        ledger.save("incomplete")
        ledger.began_at = ledger.began_at or engine.clock.now().timestamp()
        run_stage(fitted, ledger, engine, earlier)
    else:
        ledger.save("incomplete")
        run_localise(fitted, ledger, engine, earlier)


def _not_run(ledger: Ledger, stage: str, why: Message) -> None:
    message = say("stage.not_run", why=why)
    ledger.add_checks([CheckResult("stage.run", FABRIC, Verdict.INCONCLUSIVE, message, "stage.not_run", stage)])
