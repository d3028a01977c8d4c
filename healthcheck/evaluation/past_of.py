"""What the nodes of a run used to read, from earlier runs of the same results folder: a baseline nobody had to make."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from msgspec import Struct

from healthcheck.evaluation.baseline_of import usual_of
from healthcheck.model.baseline import LEAST_RUNS, PLACEMENTS, Baseline
from healthcheck.model.history import PastJob, PastRun
from healthcheck.model.message import Message
from healthcheck.model.playbook import BENCHMARK_STAGES
from healthcheck.parsing.nodeset import fold

# A year of monthly runs, looked for in two: older numbers say more about older drivers.
MOST_VALUES = 12
MOST_RUNS = 24

_Job = tuple[str, str, str, int]
_Where = tuple[int, str]


class Asking(Struct, frozen=True):
    """Whose past is wanted: these nodes, as this machine type. The run `run_id` asks, and is not its own past."""

    run_id: str
    platform: str
    simulated: bool
    hosts: frozenset[str]


def comparable(asking: Asking, run: PastRun) -> bool:
    """Whether a run says anything about these nodes: of the same machine type, and of one kind, real or simulated."""
    same = run.platform == asking.platform and run.simulated == asking.simulated
    return same and run.run_id != asking.run_id and any(host.name in asking.hosts for host in run.hosts)


def past_of(asking: Asking, newest_first: Iterable[PastRun]) -> Baseline | None:
    """What jobs of these nodes read when they were healthy; None where no job has three values that say what is usual.

    Of the newest 24 of the runs, which are comparable, up to 12 values a job. A job that was not PASS is no measure of
    health, whatever became of the run.
    """
    values: dict[_Job, dict[_Where, list[float]]] = {}
    used: set[str] = set()
    spelled: dict[tuple[str, ...], str] = {}
    for run in itertools.islice(newest_first, MOST_RUNS):
        for job in run.jobs:
            if job.verdict != "PASS" or job.stage not in BENCHMARK_STAGES or not asking.hosts.issuperset(job.hosts):
                continue
            hosts = job.hosts[0] if len(job.hosts) == 1 else spelled.get(job.hosts)
            if hosts is None:  # folding a thousand names takes as long as all the rest of a run
                hosts = spelled[job.hosts] = fold(job.hosts)
            if _take(job, values.setdefault((job.stage, job.collective, hosts, job.n_ranks), {})):
                used.add(run.run_id)
    usual = tuple(
        entry
        for about, of_job in sorted(values.items())
        for where, found in sorted(of_job.items())
        if len(found) >= LEAST_RUNS and (entry := usual_of((*about, *where), found)).is_limit
    )
    if not usual:
        return None
    source = f"history of {max(each.n for each in usual)} runs"
    return Baseline(asking.platform, asking.simulated, tuple(sorted(used)), usual, source)


def _take(job: PastJob, values: dict[_Where, list[float]]) -> bool:
    """Keep what a job read wherever there are not enough values yet; whether anything was kept."""
    kept = False
    for placement, halves in zip(PLACEMENTS, (job.out_of_place, job.in_place), strict=True):
        for size_bytes, value in zip(job.sizes, halves, strict=True):
            if value is not None and value > 0:
                found = values.setdefault((size_bytes, placement), [])
                if len(found) < MOST_VALUES:
                    found.append(value)
                    kept = True
    return kept


class Remembered(Struct, frozen=True):
    """The past of the nodes as a baseline, None where there is not enough of it, and what went wrong on the way."""

    baseline: Baseline | None
    notes: tuple[Message, ...] = ()
