"""One round of a search: its jobs started all at once, each result kept as it ends, and what they read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from healthcheck.evaluation.integrity import judge_integrity
from healthcheck.evaluation.limits import largest_busbw_gbyte_s
from healthcheck.evaluation.reading import largest_bytes
from healthcheck.model.command import NEVER_STARTED, CollectiveJob, ExitKind, JobOutcome
from healthcheck.model.finding import CheckResult
from healthcheck.model.host import Host
from healthcheck.model.message import Message
from healthcheck.model.playbook import Stage
from healthcheck.model.verdict import Verdict
from healthcheck.planning.rails import pair_stage
from healthcheck.workflows.engine import Engine
from healthcheck.workflows.fanout import visit
from healthcheck.workflows.jobs import Launch, Refused, run_jobs
from healthcheck.workflows.launching import alone, last_look, launch, launch_host_of, prepare, refuse
from healthcheck.workflows.ledger import Ledger
from healthcheck.workflows.look import busy_now

WRONG_RESULTS = "integrity.data_check"


class Ended(Struct, frozen=True):
    """One job of a round. `finished` False with a reason: it began and did not come to a good end.

    `outcome` None: it was not begun. `why` says what kept it from being a measurement. It was read at `size_bytes`.
    """

    job: CollectiveJob
    outcome: JobOutcome | None
    measured_gbyte_s: float | None = None
    did_not_finish: bool = False
    why: Message | None = None
    size_bytes: int | None = None

    @property
    def tells(self) -> bool:
        """Whether it says anything about its hosts."""
        return self.measured_gbyte_s is not None or self.did_not_finish


class Rounds:
    """Runs the jobs of rounds, writes them into the ledger, sets aside hosts that leave on the way."""

    def __init__(self, stage: Stage, ledger: Ledger, engine: Engine, earlier: Mapping[str, JobOutcome]) -> None:
        self._stage = stage
        self._ledger = ledger
        self._engine = engine
        self._earlier = earlier
        self.hosts = {host.name: host for host in ledger.usable()}

    def launch_host(self, hosts: Sequence[str]) -> str | None:
        """Where a job over these hosts starts; None for this machine."""
        found = launch_host_of([self.hosts[name] for name in hosts], self._ledger.request.launch_from)
        return None if found is None else found.name

    def run(self, jobs: Sequence[CollectiveJob]) -> dict[str, Ended]:
        """All jobs, by id; those measured before are not run again."""
        kept = {job.id: self._earlier[job.id] for job in jobs if _kept(job, self._earlier.get(job.id))}
        ended: dict[str, Ended] = {}
        launches = []
        for job, start in self._prepared([job for job in jobs if job.id not in kept]):
            if isinstance(start, Launch):
                launches.append(start)
            else:
                ended[job.id] = Ended(job, None, why=start.message)
        outcomes = dict(kept)
        for result in run_jobs(launches, lambda one: last_look(one, self._ledger, self._engine), self._engine, _whole):
            if isinstance(result, Refused):
                refuse(result, self._ledger)
                ended[result.job.id] = Ended(result.job, None, why=_reason(result.checks))
            else:
                outcomes[result.job.id] = result
        doubtful: set[str] = set()
        for job in jobs:
            outcome = outcomes.get(job.id)
            if outcome is not None:
                ended[job.id] = read_job(outcome, self._ledger, is_judged=job.stage == self._stage.name)
                if ended[job.id].measured_gbyte_s is None and job.id not in kept:
                    doubtful.update(job.hosts)
        self._look_again(doubtful)
        return ended

    def _prepared(self, jobs: Sequence[CollectiveJob]) -> Iterable[tuple[CollectiveJob, Launch | CheckResult]]:
        """What starts each job; on many hosts at once, for each has its own hostfile to be brought."""
        by_name = {job.id: job for job in jobs}
        if self._ledger.request.launch_from == "local":
            return [(job, self._prepare(job)) for job in jobs if not self._engine.cancel.wanted]
        tickets = [Host(job_id, job_id) for job_id in by_name]
        done = visit(
            tickets, lambda ticket: self._prepare(by_name[ticket.name]), self._engine.cancel, self._engine.width
        )
        return [(by_name[ticket.name], start) for ticket, start in done]

    def _prepare(self, job: CollectiveJob) -> Launch | CheckResult:
        # The hostfile says how many ranks go to each: of one GPU a node only one.
        named = zip(job.hosts, job.ranks_per_host, strict=True)
        hosts = tuple(replace(self.hosts[name], slots=ranks) for name, ranks in named)
        if len(hosts) == 1:
            start = alone(hosts[0], self._ledger, self._engine)
            return launch(job, start, hosts, self._stage, self._ledger)
        place = None if job.launch_host is None else self.hosts[job.launch_host]
        prepared = prepare(self._stage, job, hosts, place, self._ledger, self._engine, apart=job.id)
        if isinstance(prepared, CheckResult):
            return prepared
        stage = pair_stage(self._stage) if len(hosts) == 2 else self._stage
        return launch(job, prepared, hosts, stage, self._ledger)

    def _look_again(self, names: set[str]) -> None:
        """Who is still there after a job that did not end well? Who is not leaves, with a result that says so."""
        hosts = [self.hosts[name] for name in self.hosts if name in names]
        for host, checks in visit(
            hosts, lambda host: busy_now(host, self._ledger, self._engine), self._engine.cancel, self._engine.width
        ):
            if checks:
                self._ledger.add_checks(checks)
                self._ledger.set_aside.setdefault(host.name, checks[0].message)


def read_job(outcome: JobOutcome, ledger: Ledger, *, is_judged: bool) -> Ended:
    """What a job of a round read. It is kept without a verdict, unless it `is_judged` as a job of its stage besides.

    That it is evidence and no check of its own is docs/adr/0010; wrong results are a result of their own either way.
    """
    job, check = outcome.job, judge_integrity(outcome)
    if check.rule == WRONG_RESULTS:
        ledger.add_checks([check])
    measured = check.verdict is Verdict.PASS or check.rule == WRONG_RESULTS
    value = largest_busbw_gbyte_s(outcome) if measured else None
    stuck = value is None and check.verdict is Verdict.FAIL
    if not is_judged:
        ledger.add_job(outcome, None, () if value is not None else (check.message,))
    return Ended(job, outcome, value, stuck, check.message, largest_bytes([outcome]))


def _reason(checks: Sequence[CheckResult]) -> Message | None:
    return checks[0].message if checks else None


def _whole(outcome: JobOutcome) -> bool:
    return judge_integrity(outcome).verdict is Verdict.PASS


def _kept(job: CollectiveJob, outcome: JobOutcome | None) -> bool:
    """Whether an earlier try of this very job says something: also one that hung does."""
    unsaid = {*NEVER_STARTED, ExitKind.STOPPED, ExitKind.CUT, ExitKind.CONNECTION_LOST}
    return outcome is not None and outcome.job == job and outcome.result.kind not in unsaid
