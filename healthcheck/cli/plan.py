"""The plan of a run: every job, its command line, how long it takes. Touches no host."""

from __future__ import annotations

import json
import shlex

from healthcheck.cli.asked import Asked, new_request, read_inputs
from healthcheck.cli.exits import out
from healthcheck.cli.plan_search import as_document, as_lines, planned_search
from healthcheck.evaluation.limits import expectation_gbyte_s
from healthcheck.launchers import LAUNCHERS
from healthcheck.launchers.site import LaunchSite
from healthcheck.model.baseline import Baseline
from healthcheck.model.command import CollectiveJob
from healthcheck.model.message import Message, say
from healthcheck.model.node import MpiFlavour
from healthcheck.model.playbook import BENCHMARK_STAGES
from healthcheck.planning.estimate import job_seconds, stage_seconds
from healthcheck.planning.stages import multi_node_jobs, single_node_jobs
from healthcheck.reporting.figures import moment, one_line
from healthcheck.workflows.baseline import KnownPast
from healthcheck.workflows.request import RunRequest

# Nothing was looked at, so the plan is written for the most common launcher; the run asks each node.
ASSUMED = {"mpirun": MpiFlavour("openmpi", "4"), "hydra": MpiFlavour("hydra", "4"), "srun": MpiFlavour("srun", "")}
GUESSED_GPUS = 8


def print_plan(asked: Asked, as_json: bool) -> None:
    """Every job of the playbook in order, with an estimate in minutes."""
    inputs, outside = read_inputs(asked)
    outside.close()
    request = new_request(asked, inputs, run_id="planned")
    gpus = inputs.platform.gpu.count if inputs.platform is not None else GUESSED_GPUS
    request = request.with_slots(gpus)
    planned = [(name, jobs) for name in BENCHMARK_STAGES if (jobs := _jobs(request, name))]
    seconds = {name: stage_seconds(jobs, _expected(request, jobs[0])) for name, jobs in planned}
    search = planned_search(request)
    if as_json:
        stages = [
            {
                "stage": name,
                "seconds": round(seconds[name], 1),
                "jobs": [
                    {"id": job.id, "hosts": job.hosts, "n_ranks": job.n_ranks, "argv": _argv(request, job)}
                    for job in jobs
                ],
            }
            for name, jobs in planned
        ]
        document = {"schema": "healthcheck.plan/1", "simulated": request.simulated, "stages": stages}
        if search is not None:
            document["search"] = as_document(search)
        if request.baseline is not None:
            document["baseline"] = _baseline_document(request.baseline, request)
        out(json.dumps(document, indent=1))
        return
    head = "plan.head_simulated" if request.simulated else "plan.head"
    out(str(say(head, playbook=request.playbook.name, hosts=len(request.hosts))))
    if inputs.platform is None:
        out(str(say("plan.guess", gpus=gpus)))
    if request.baseline is not None:
        out(_baseline_line(request.baseline, request))
    for name, jobs in planned:
        out(f"\n{say('plan.stage', stage=name, jobs=len(jobs), minutes=max(seconds[name] / 60, 0.1))}")
        for job in jobs:
            size = say("plan.job", hosts=len(job.hosts), ranks=job.ranks_per_host[0], time=_time(request, job))
            out(f"  {job.id}  {size}")
            out(f"    {shlex.join(_argv(request, job))}")
    if search is not None:
        out("\n" + "\n".join(as_lines(search, request, _argv)))
    out(f"\n{say('plan.total', minutes=max(sum(seconds.values()) / 60, 0.1))}")


def _covered(baseline: Baseline, request: RunRequest) -> int:
    known = KnownPast(baseline).hosts()
    return sum(host.name in known for host in request.hosts)


def _baseline_document(baseline: Baseline, request: RunRequest) -> dict[str, object]:
    return {
        "source": baseline.source,
        "platform": baseline.platform,
        "runs": baseline.runs,
        "created_at": baseline.created_at,
        "hosts_covered": _covered(baseline, request),
    }


def _baseline_line(baseline: Baseline, request: RunRequest) -> str:
    told = say(
        "baseline.plan",
        source=baseline.source,
        runs=len(baseline.runs),
        platform=baseline.platform,
        made=moment(baseline.created_at) if baseline.created_at else "?",
        covered=_covered(baseline, request),
        hosts=len(request.hosts),
    )
    return one_line(str(told))


def _time(request: RunRequest, job: CollectiveJob) -> Message:
    """The deadline of a job, and how long it should take."""
    return say("plan.time", most_s=job.timeout_s, expected_s=job_seconds(job, _expected(request, job)))


def _jobs(request: RunRequest, name: str) -> tuple[CollectiveJob, ...]:
    stage = request.playbook.stage(name)
    if stage is None or not request.wants(name):
        return ()
    if name == "single_node":
        return single_node_jobs(request.playbook, stage, request.hosts, from_here=request.slurm is not None)
    first = None if request.launch_from == "local" else request.hosts[0].name
    return multi_node_jobs(request.playbook, stage, request.hosts, first)


def _expected(request: RunRequest, job: CollectiveJob) -> float:
    return expectation_gbyte_s(request.platform, job.collective, len(job.hosts))


def _argv(request: RunRequest, job: CollectiveJob) -> tuple[str, ...]:
    folder = request.push_folder or request.binary_folder or ""
    where = f"~/.cache/healthcheck/{folder}" if request.push else folder
    site = LaunchSite(
        flavour=ASSUMED[request.launcher],
        program=f"{where}/{job.collective.binary}",
        token="TOKEN",  # noqa: S106 - a placeholder in a printed plan
        folder=None if len(job.hosts) == 1 else "~/.cache/healthcheck/run/TOKEN",
        slurm=request.slurm,
        wrapper=request.playbook.wrapper,
    )
    return LAUNCHERS[site.flavour.family](job, site).argv
