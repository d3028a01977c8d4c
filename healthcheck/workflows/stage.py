"""One benchmark stage: plan its jobs, bring the launch files, run, judge, and decide who goes on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from healthcheck.evaluation.limits import BUSBW_CHECK
from healthcheck.evaluation.reading import judged_reading
from healthcheck.evaluation.stage import JobJudgement, judge_jobs
from healthcheck.model.command import CollectiveJob, JobOutcome
from healthcheck.model.component import FABRIC, node
from healthcheck.model.finding import CheckResult
from healthcheck.model.host import Host
from healthcheck.model.message import say
from healthcheck.model.playbook import Stage
from healthcheck.model.verdict import Verdict
from healthcheck.planning.stages import multi_node_jobs, single_node_jobs
from healthcheck.ports import Event
from healthcheck.workflows.baseline import usual_for
from healthcheck.workflows.engine import Engine
from healthcheck.workflows.fanout import visit
from healthcheck.workflows.jobs import Launch, Refused, run_jobs
from healthcheck.workflows.judging import asks, judge_stage
from healthcheck.workflows.launching import (
    alone,
    between,
    last_look,
    launch,
    launch_host_of,
    measured,
    prepare,
    refuse,
)
from healthcheck.workflows.ledger import Ledger
from healthcheck.workflows.locking import n_held, needed, who_holds
from healthcheck.workflows.look import busy_now
from healthcheck.workflows.telling import Count, tell_begin, tell_over
from healthcheck.workflows.under_load import LoadedLooks


def run_stage(stage: Stage, ledger: Ledger, engine: Engine, earlier: Mapping[str, JobOutcome]) -> None:
    """Run and judge one of single_node and multi_node; everything found is in the ledger afterwards."""
    if stage.name == "single_node":
        hosts = {host.name: host for host in ledger.to_measure()}
        from_here = ledger.request.slurm is not None
        jobs = single_node_jobs(ledger.request.playbook, stage, tuple(hosts.values()), from_here=from_here)
        wanted = [job for job in jobs if not measured(job, earlier)]
        launches = [_alone(job, hosts[job.hosts[0]], stage, ledger, engine) for job in wanted]
    else:
        jobs, launches = _together(stage, ledger, engine, earlier)
    if not jobs and ledger.reused:
        return
    count = Count(jobs)
    tell_begin(stage, jobs, len(jobs) - len(launches), ledger, engine)
    outcomes = {job.id: earlier[job.id] for job in jobs if measured(job, earlier)}
    for outcome in outcomes.values():
        count.ended(outcome.job)
    by_itself: dict[str, JobJudgement] = {}

    def passed(outcome: JobOutcome) -> bool:
        by_itself[outcome.job.id] = _judge_alone(stage, outcome, ledger)
        return by_itself[outcome.job.id].verdict is Verdict.PASS

    loaded = LoadedLooks(ledger.request, engine)
    under_load = loaded.take if stage.name == "single_node" else None
    for ended in run_jobs(launches, lambda job: last_look(job, ledger, engine), engine, passed, under_load):
        if isinstance(ended, Refused):
            refuse(ended, ledger)
        else:
            outcomes[ended.job.id] = ended
            _tell(ended, by_itself.get(ended.job.id) or _judge_alone(stage, ended, ledger), count, engine)
    in_order = [outcomes[job.id] for job in jobs if job.id in outcomes]
    worst = judge_stage(stage, in_order, ledger, engine)
    _never_ran([job for job in jobs if job.id not in outcomes], ledger)
    if asks(stage, worst) == "stop":
        ledger.stop_after = say("stage.stopped_early", stage=stage.name)
    if jobs:
        tell_over(stage, count, worst, ledger, engine)


def _alone(job: CollectiveJob, host: Host, stage: Stage, ledger: Ledger, engine: Engine) -> Launch:
    return launch(job, alone(host, ledger, engine), (host,), stage, ledger)


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
    launch_host = launch_host_of(hosts, request.launch_from)
    name = None if launch_host is None else launch_host.name
    jobs = multi_node_jobs(request.playbook, stage, hosts, name)
    wanted = [job for job in jobs if not measured(job, earlier)]
    if not wanted:
        return jobs, []
    start = prepare(stage, wanted[0], hosts, launch_host, ledger, engine)
    if isinstance(start, CheckResult):
        ledger.add_checks([start])
        return tuple(job for job in jobs if measured(job, earlier)), []
    return jobs, [launch(job, start, hosts, stage, ledger) for job in wanted]


def _set_aside_busy(ledger: Ledger, engine: Engine) -> None:
    """Nodes that became busy since the first look leave before the others are planned together without them."""
    for host, checks in visit(
        ledger.healthy(), lambda host: busy_now(host, ledger, engine), engine.cancel, engine.width
    ):
        if checks:
            ledger.add_checks(checks)
            ledger.set_aside.setdefault(host.name, checks[0].message)


def _never_ran(jobs: Iterable[CollectiveJob], ledger: Ledger) -> None:
    """Every planned job ends in a result: those that were not begun say so."""
    for job in jobs:
        component = node(job.hosts[0]) if len(job.hosts) == 1 else FABRIC
        why = ledger.set_aside.get(job.hosts[0]) if len(job.hosts) == 1 else None
        message = say("stage.not_run", why=why or say("run.interrupted"))
        if len(job.hosts) > 1 and not ledger.engine.cancel.wanted:
            busy = sorted(host for host in job.hosts if host in ledger.set_aside)
            message = say("stage.not_run", why=ledger.set_aside[busy[0]] if busy else "?")
        ledger.add_checks(
            [CheckResult("job.integrity", component, Verdict.INCONCLUSIVE, message, "integrity.not_run", job.stage)]
        )


def _too_few(stage: Stage, count: int, ledger: Ledger) -> None:
    named = len(ledger.request.hosts)
    if named == 1:
        ledger.add_checks([between(stage, say("stage.one_host"), "stage.does_not_apply", Verdict.SKIPPED)])
    elif (free := named - n_held(ledger.checks)) < min(named, needed(ledger.request)):
        # Who has the others is what an operator wants to know; what else is wrong has a result of its own.
        held = who_holds(ledger.checks)
        ledger.add_checks([between(stage, say("stage.held", named=named, free=free, held=held), "stage.held")])
    else:
        message = say("stage.too_few_hosts", count=count, named=named) if count else say("stage.no_hosts", named=named)
        ledger.add_checks([between(stage, message, "stage.too_few_hosts")])


def _judge_alone(stage: Stage, outcome: JobOutcome, ledger: Ledger) -> JobJudgement:
    """One job as it has ended; judged again, properly and with all repeats, when the stage has."""
    request, usual = ledger.request, usual_for(ledger, [outcome], of=outcome.job)
    return judge_jobs(stage, [outcome], request.playbook, ledger.platform, request.thresholds, baseline=usual)[0]


def _tell(outcome: JobOutcome, judged: JobJudgement, count: Count, engine: Engine) -> None:
    """Progress while the stage runs."""
    job = outcome.job
    decisive = [check for check in judged.checks if check.verdict is judged.verdict]
    # Of several that say the same, the bandwidth is what a person wants to read.
    message = next((check.message for check in decisive if check.check == BUSBW_CHECK), decisive[0].message)
    reading = judged_reading([outcome])
    step = count.ended(job, None if reading is None else reading.value)
    who = job.hosts[0] if len(job.hosts) == 1 else ""
    if not who:
        message = say("progress.joint", hosts=len(job.hosts), collective=job.collective.value, what=message)
    engine.observer.event(Event(job.stage, message, who, judged.verdict, step))
