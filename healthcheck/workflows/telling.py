"""What is told of a benchmark stage when it begins and when it is over; the numbers are those of the report."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

from healthcheck.evaluation.limits import BUSBW_CHECK, expectation_gbyte_s
from healthcheck.model.command import CollectiveJob
from healthcheck.model.durations import span
from healthcheck.model.message import Message, say
from healthcheck.model.platform import Limit
from healthcheck.model.playbook import Stage
from healthcheck.model.progress import Begun, Counted, Over
from healthcheck.model.record import JobRecord
from healthcheck.model.verdict import Verdict
from healthcheck.planning.estimate import stage_seconds
from healthcheck.ports import Event
from healthcheck.reporting.figures import number, percent
from healthcheck.reporting.measured import measured, merged, middle
from healthcheck.workflows.engine import Engine
from healthcheck.workflows.ledger import Ledger


class Count:
    """Counts what has ended of a stage: hosts where each works alone, jobs where all work together."""

    def __init__(self, jobs: Sequence[CollectiveJob]) -> None:
        alone = all(len(job.hosts) == 1 for job in jobs)
        self._left = Counter(job.hosts[0] for job in jobs) if alone else Counter(job.id for job in jobs)
        self._alone = alone
        self.of = len(self._left)
        self.done = 0

    def ended(self, job: CollectiveJob, gbyte_s: float | None = None) -> Counted:
        """One job came to its end, whatever it read."""
        key = job.hosts[0] if self._alone else job.id
        self._left[key] -= 1
        self.done += self._left[key] == 0
        return Counted(self.done, self.of, gbyte_s)


def tell_begin(stage: Stage, jobs: Sequence[CollectiveJob], known: int, ledger: Ledger, engine: Engine) -> None:
    """Hosts, jobs and how long they take by plan; `known` of them were measured before."""
    if not jobs:
        return
    expected_s = _planned_s(jobs, ledger, engine.parallel)
    hosts = len({host for job in jobs for host in job.hosts})
    message = say("progress.begins_for", hosts=hosts, jobs=len(jobs), time=span(expected_s))
    if known:
        message = say("progress.begins_again", hosts=hosts, jobs=len(jobs), again=known)
    of = Count(jobs).of
    engine.observer.event(Event(stage.name, message, step=Begun(of, None if known else expected_s)))


def _planned_s(jobs: Sequence[CollectiveJob], ledger: Ledger, parallel: int) -> float:
    first = jobs[0]
    expected = expectation_gbyte_s(ledger.platform, first.collective, len(first.hosts))
    at_once = len({job.hosts for job in jobs})
    waves = math.ceil(at_once / parallel)
    return waves * stage_seconds(jobs, expected)


def tell_over(stage: Stage, count: Count, worst: Verdict, ledger: Ledger, engine: Engine) -> None:
    """What the stage read, and how many hosts or jobs are of which verdict."""
    jobs = [job for job in ledger.jobs if job.stage == stage.name]
    verdicts: dict[object, Verdict] = {}
    for job in jobs:
        key = job.hosts if stage.name == "single_node" else job.id
        verdicts[key] = max(job.judged_as, verdicts.get(key, Verdict.SKIPPED))
    counted = Counter(verdicts.values())
    step = Over(count.done, count.of, tuple((verdict, counted[verdict]) for verdict in sorted(counted, reverse=True)))
    engine.observer.event(Event(stage.name, _headline(stage, merged(jobs), ledger.limits), verdict=worst, step=step))


def _headline(stage: Stage, jobs: Sequence[JobRecord], limits: Iterable[Limit]) -> Message:
    if not jobs:
        return say("progress.nothing_read")
    if stage.name == "single_node":
        return _median([job for job in jobs if job.collective == jobs[0].collective], limits)
    several = len({job.collective for job in jobs}) > 1
    job = max(jobs, key=lambda one: one.judged_as)
    value, limit = measured(job).slower, _limit(job, limits)
    if value is None:
        return say("progress.nothing_read")
    hosts, busbw = len(job.hosts), f"{value:.1f}"
    told = say("progress.together_only", hosts=hosts, busbw=busbw)
    if limit is not None:
        share, peak = percent(value, limit), number(limit.peak)
        told = say("progress.together", hosts=hosts, busbw=busbw, percent=share, peak=peak)
    return say("progress.together_of", collective=job.collective, what=told) if several else told


def _median(jobs: Sequence[JobRecord], limits: Iterable[Limit]) -> Message:
    """As in the table of the report: of the nodes that PASS, where any does."""
    good = [job for job in jobs if job.verdict is Verdict.PASS] or jobs
    # The report takes the median of each placement, and then the slower one.
    each = [measured(job) for job in good]
    halves = (middle(one.out_of_place for one in each), middle(one.in_place for one in each))
    value = min((half for half in halves if half is not None), default=None)
    if value is None:
        return say("progress.nothing_read")
    limit = _limit(jobs[0], limits)
    if limit is None:
        return say("progress.median_only", busbw=f"{value:.1f}")
    return say("progress.median", busbw=f"{value:.1f}", percent=percent(value, limit), peak=number(limit.peak))


def _limit(job: JobRecord, limits: Iterable[Limit]) -> Limit | None:
    kinds = (BUSBW_CHECK, job.stage, job.collective)
    return next((one for one in limits if (one.check, one.stage, one.collective) == kinds), None)
