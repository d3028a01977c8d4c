"""Jobs, all at once as far as they share no host: start, watch, end, read, clean up.

Starting happens on a few worker threads (a login may take seconds); from then on a job is a channel that one loop
polls, so a thousand running jobs need no thousand threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from typing import Any

from msgspec import Struct

from healthcheck.errors import Interrupted
from healthcheck.model.command import CollectiveJob, Command, JobOutcome
from healthcheck.model.finding import CheckResult
from healthcheck.model.gate import Passport
from healthcheck.model.host import Host
from healthcheck.ports import Transport
from healthcheck.workflows.active import ActiveJob
from healthcheck.workflows.cleanup import Passed, after_job, sweep_all
from healthcheck.workflows.engine import Engine
from healthcheck.workflows.nccl_logs import delete_logs

POLL_S = 0.02
POLL_PER_JOB_S = 0.0004
POLL_MAX_S = 0.5


class Launch(Struct, frozen=True):
    """A job with the command that starts it, and where. `hosts` are those of the job, for looking and cleaning,
    `passports` what each of them is.
    """

    job: CollectiveJob
    command: Command
    host: Host
    transport: Transport
    hosts: tuple[Host, ...]
    stall_s: float
    passports: dict[str, Passport] = {}


class Refused(Struct, frozen=True):
    """A job that was not started, with what was found right before (a host had become busy)."""

    job: CollectiveJob
    checks: tuple[CheckResult, ...]


# Looks at the hosts of a launch right before it starts; what it returns keeps the job from starting.
LastLook = Callable[[Launch], tuple[CheckResult, ...]]
# Looks at the hosts of a job while it measures, on a worker thread; the last argument says whether it still does.
UnderLoad = Callable[[CollectiveJob, tuple[Host, ...], Callable[[], bool]], None]


class _Runner:
    """The loop behind `run_jobs`; every attribute belongs to the calling thread."""

    def __init__(
        self,
        launches: Sequence[Launch],
        last_look: LastLook,
        passed: Passed,
        under_load: UnderLoad | None,
        engine: Engine,
        pool: ThreadPoolExecutor,
    ) -> None:
        self.waiting = list(launches)
        self.last_look = last_look
        self.passed = passed
        self.under_load = under_load
        self.looking: dict[Future[None], str] = {}
        self.looked_at: set[str] = set()
        self.engine = engine
        self.pool = pool
        self.starting: dict[Future[ActiveJob | Refused], Launch] = {}
        self.active: list[ActiveJob] = []
        self.ended: dict[Future[JobOutcome], ActiveJob] = {}
        self.occupied: set[str] = set()
        self.abandoned = False
        self.token = launches[0].command.token if launches else ""

    @property
    def busy(self) -> bool:
        return bool(self.starting or self.active or self.ended)

    def start_what_fits(self) -> None:
        """Begin every waiting job whose hosts are free, in order, up to the bound."""
        later = []
        for launch in self.waiting:
            room = len(self.starting) + len(self.active) < self.engine.parallel
            if room and self.occupied.isdisjoint(launch.job.hosts):
                self.occupied.update(launch.job.hosts)
                self.starting[self.pool.submit(self._start, launch)] = launch
            else:
                later.append(launch)
        self.waiting = later

    def _start(self, launch: Launch) -> ActiveJob | Refused:
        if self.engine.cancel.wanted:
            return Refused(launch.job, ())
        found = self.last_look(launch)
        # A cancel cuts the look short: who was not looked at must not be loaded.
        if found or self.engine.cancel.wanted or self.abandoned:
            return Refused(launch.job, found)
        sink = self.engine.store.sink(launch.job.id, launch.job.stage)
        now = self.engine.clock.now()
        running = launch.transport.start(launch.host, launch.command, sink)
        return ActiveJob(
            launch.job,
            launch.command,
            launch.hosts,
            running,
            sink,
            now,
            launch.stall_s,
            launch.passports,
            self.engine,
        )

    def collect(self) -> Iterator[JobOutcome | Refused]:
        """What has ended since the last look."""
        for future in [future for future in self.starting if future.done()]:
            launch = self.starting.pop(future)
            started = future.result()
            if isinstance(started, Refused):
                self.occupied.difference_update(launch.job.hosts)
                yield started
            else:
                self.active.append(started)
        for active in tuple(self.active):
            outcome = active.poll()
            if outcome is None:
                self._look(active)
                continue
            self.active.remove(active)
            after = self.pool.submit(after_job, outcome, active.hosts, active.token, self.engine, self.passed)
            self.ended[after] = active
        for after in [future for future in self.ended if future.done()]:
            self.occupied.difference_update(self.ended.pop(after).job.hosts)
            yield after.result()

    def _look(self, active: ActiveJob) -> None:
        """Once a job, while its table is being filled."""
        if self.under_load is not None and active.measuring and active.job.id not in self.looked_at:
            self.looked_at.add(active.job.id)
            look = self.pool.submit(self.under_load, active.job, active.hosts, lambda: active.measuring)
            self.looking[look] = active.job.id

    def rest(self) -> None:
        """Sleep until something may have changed."""
        for future in [future for future in self.looking if future.done()]:
            del self.looking[future]
            future.result()
        if self.starting or self.ended or self.looking:
            # Real threads are at work: wait for one of them, whatever the clock of this run says. They take their work
            # in order, so what comes first is what they have in hand; to watch all of a thousand would cost more.
            in_hand = self.engine.width
            futures: list[Future[Any]] = [
                *islice(self.starting, in_hand),
                *islice(self.ended, in_hand),
                *islice(self.looking, in_hand),
            ]  # Any: three kinds
            wait(futures, timeout=POLL_S, return_when=FIRST_COMPLETED)
        else:
            self.engine.clock.sleep(min(POLL_MAX_S, POLL_S + POLL_PER_JOB_S * len(self.active)))

    def stop(self) -> None:
        """The user wants to stop: nothing further begins, what runs is asked to end."""
        self.waiting.clear()
        for active in self.active:
            active.interrupt()

    def abandon(self, *, thoroughly: bool) -> None:
        """We cannot go on: ask what runs to end; `thoroughly` also leaves nothing on the hosts of it."""
        self.abandoned = True
        self.stop()
        for future in self.starting:
            future.add_done_callback(_interrupt)
        begun = (*self.active, *self.ended.values())
        members = (*(job.hosts for job in begun), *(launch.hosts for launch in self.starting.values()))
        if thoroughly and members:
            hosts = {host.name: host for job in members for host in job}
            sweep_all(hosts.values(), self.token, self.engine.transport, self.engine.width)
            delete_logs(hosts.values(), self.token, self.engine)


def _interrupt(started: Future[ActiveJob | Refused]) -> None:
    """For a job that was being started when everything was given up."""
    if not started.cancelled() and started.exception() is None:
        active = started.result()
        if isinstance(active, ActiveJob):
            active.interrupt()


def _unjudged(outcome: JobOutcome) -> bool:
    return False


def run_jobs(
    launches: Sequence[Launch],
    last_look: LastLook,
    engine: Engine,
    passed: Passed = _unjudged,
    under_load: UnderLoad | None = None,
) -> Iterator[JobOutcome | Refused]:
    """Run all jobs, those that share a host one after the other; yields each as it ends, already saved.

    `passed` (called on a worker thread) says which were good: of those fewer logs are kept. `under_load` is called once
    a job, while its table is being filled.
    After a cancel the running jobs are stopped and yielded as STOPPED; those not begun are not yielded, or yielded as
    Refused without a check. When something breaks on our side (a full disk), the jobs are ended before it is raised.
    """
    engine.nccl_logs.expect(host.name for launch in launches for host in launch.hosts)
    pool = ThreadPoolExecutor(max_workers=engine.width, thread_name_prefix="job")
    runner = _Runner(launches, last_look, passed, under_load, engine, pool)
    try:
        while runner.waiting or runner.busy:
            if engine.cancel.wanted:
                runner.stop()
            runner.start_what_fits()
            for ended in runner.collect():
                if isinstance(ended, JobOutcome):
                    engine.store.save_outcome(ended)
                yield ended
            if runner.busy:
                runner.rest()
    except BaseException as error:
        # A second signal wants the end at once: no waiting for workers, the channels are closed by the caller.
        runner.abandon(thoroughly=isinstance(error, Exception) and not isinstance(error, Interrupted))
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()
    # A look may break after the last job has ended.
    for future in runner.looking:
        future.result()
