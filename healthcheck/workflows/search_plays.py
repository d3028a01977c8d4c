"""What a search measures: the pairs of a round, jobs over many hosts, and who could not be measured."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from healthcheck.diagnosis.search_record import Played
from healthcheck.evaluation.expectation import Expectation
from healthcheck.model.command import CollectiveJob, JobOutcome
from healthcheck.model.component import node
from healthcheck.model.fabric_facts import Topology
from healthcheck.model.finding import CheckResult
from healthcheck.model.message import Message, say
from healthcheck.model.playbook import Stage
from healthcheck.model.search import FullReading, FullRound, Kind, Pair, PairReading, PairRound
from healthcheck.model.verdict import Verdict
from healthcheck.planning.rails import PairWay, joint_job, pair_job
from healthcheck.planning.stages import single_node_jobs
from healthcheck.workflows.engine import Engine
from healthcheck.workflows.judging import judge_verification
from healthcheck.workflows.ledger import Ledger
from healthcheck.workflows.search_round import Ended, Rounds
from healthcheck.workflows.search_telling import SearchTelling

STAGE = "localise"
TRIES, MOST_ALONE = 3, 8
"""A joint job is tried without hosts that turned out to be busy so often; a host so often with other partners."""


class Plays:
    """Measures the rounds that a search asks for, over the hosts of the slow job. Belongs to one thread.

    `passed` says whether the last joint job was fast enough by the limits of its stage; `why` holds the first reason
    for which a pair could not be measured.
    """

    def __init__(
        self, job: CollectiveJob, multi: Stage, expected: Expectation, rounds: Rounds, ledger: Ledger, engine: Engine
    ) -> None:
        self.job, self.multi, self.expected, self.rounds = job, multi, expected, rounds
        self.ledger, self.engine = ledger, engine
        self.telling = SearchTelling(len(job.hosts), ledger.request, engine)
        self.failed_starts: dict[str, dict[str, Message | None]] = {}
        self.passed = False
        self.broken: set[str] = set()
        self.why: Message | None = None

    def gone(self) -> frozenset[str]:
        """Hosts of the slow job that can no longer be measured."""
        lost = {host for host, partners in self.failed_starts.items() if len(partners) >= TRIES}
        return frozenset(host for host in self.job.hosts if host in self.ledger.set_aside or host in lost | self.broken)

    def alone_first(self, outcomes: Iterable[JobOutcome]) -> None:
        """Hosts that the error of the joint job names, each by itself; who breaks alone leaves, with a result."""
        named = dict.fromkeys(host for outcome in outcomes for host in named_hosts(outcome))
        request = self.ledger.request
        single = request.playbook.stage("single_node") or Stage("single_node", sizes=self.multi.sizes)
        once = replace(single, collectives=(self.job.collective,), repeats=1)
        hosts = [self.rounds.hosts[host] for host in list(named)[:MOST_ALONE] if host in self.rounds.hosts]
        jobs = [
            replace(job, id=f"{STAGE}-alone-{job.hosts[0]}", stage=STAGE)
            for job in single_node_jobs(request.playbook, once, hosts, from_here=request.slurm is not None)
        ]
        for result in self.rounds.run(jobs).values() if jobs else ():
            host = result.job.hosts[0]
            if result.did_not_finish:
                message = say("search.node.breaks", why=result.why or "")
                component, rule, job = node(host), "breaks_alone.confirmed", result.job.id
                self.ledger.add_checks(
                    [CheckResult("localise.node", component, Verdict.FAIL, message, rule, STAGE, job=job)]
                )
                self.ledger.excluded.setdefault(host, message)
                self.broken.add(host)

    def topology(self, host: str) -> Topology | None:
        """How GPUs and HCAs of a host are joined, where the look at it could say so."""
        facts = self.ledger.facts.get(host)
        return None if facts is None else facts.topology.value

    def pairs(self, step: PairRound, way: PairWay) -> tuple[Played, list[float]]:
        """The pairs of a round, all at once; and how long each job took, in seconds."""
        gone = self.gone()
        pairs = [pair for pair in step.pairs if gone.isdisjoint((pair.a, pair.b))]
        jobs = {pair: self._pair_job(step.round, pair, way) for pair in pairs}
        self.telling.begins(step.round, tuple(jobs.values()), way.expected)
        ended = self.rounds.run(list(jobs.values()))
        left = frozenset(self.ledger.set_aside)
        readings, untested = [], []
        for pair, job in jobs.items():
            result = ended.get(job.id)
            # A node that died took its partner's job with it: that says nothing of the partner.
            if result is None or not result.tells or (result.did_not_finish and not left.isdisjoint(job.hosts)):
                untested.append((pair.a, pair.b))
                self._note_failed(pair, result)
                continue
            self.failed_starts.pop(pair.a, None)
            self.failed_starts.pop(pair.b, None)
            value, size = result.measured_gbyte_s, result.size_bytes
            readings.append(PairReading(step.round, pair.a, pair.b, pair.purpose, value, job=job.id, size_bytes=size))
        kind = Kind.RAILS if way.rails > 1 else Kind.NODES
        return Played(step.round, kind, tuple(readings), untested=tuple(untested)), _durations(ended.values())

    def _pair_job(self, round_number: int, pair: Pair, way: PairWay) -> CollectiveJob:
        hosts = self.rounds.hosts[pair.a], self.rounds.hosts[pair.b]
        return pair_job(round_number, pair, hosts, self.rounds.launch_host((pair.a, pair.b)), way)

    def _note_failed(self, pair: Pair, result: Ended | None) -> None:
        if result is None or self.engine.cancel.wanted:
            return
        self.why = self.why or result.why
        if not self.gone().isdisjoint((pair.a, pair.b)):
            return
        self.failed_starts.setdefault(pair.a, {})[pair.b] = result.why
        self.failed_starts.setdefault(pair.b, {})[pair.a] = result.why

    def joint(self, step: FullRound, way: PairWay) -> tuple[Played, list[float]]:
        """Jobs over many hosts, in the order asked for; who turns out to be busy leaves, and the others try again."""
        verify = len(step.orders) == 1
        readings: list[FullReading] = []
        durations: list[float] = []
        orders = dict(enumerate(step.orders, start=1))
        for _ in range(TRIES):
            jobs = {}
            for place, order in orders.items():
                hosts = [self.rounds.hosts[name] for name in order if name not in self.gone()]
                if len(hosts) > 1:
                    name = "verify" if verify else f"half{place}"
                    stage = self.multi.name if verify else STAGE
                    first = self.rounds.launch_host([host.name for host in hosts])
                    jobs[place] = joint_job(f"{STAGE}-r{step.round:02d}-{name}", hosts, first, way, stage)
            longest = max((len(job.hosts) for job in jobs.values()), default=2)
            self.telling.begins(step.round, tuple(jobs.values()), self.expected.joint(longest))
            ended = self.rounds.run(list(jobs.values()))
            durations += _durations(ended.values())
            for place, job in jobs.items():
                result = ended.get(job.id)
                if result is None or (result.outcome is None and not self.engine.cancel.wanted):
                    continue
                del orders[place]
                value = self._judged(result) if verify else result.measured_gbyte_s
                expected = self.expected.joint(len(job.hosts))
                readings.append(FullReading(step.round, job.hosts, value, expected, job.id, result.size_bytes))
            if not orders or self.engine.cancel.wanted:
                break
        for order in orders.values():
            # Never begun: nothing is proven, and the search takes it for as slow as can be.
            readings.append(FullReading(step.round, order, None, self.expected.joint(len(order))))
        return Played(step.round, Kind.VERIFY if verify else Kind.HALVES, fulls=tuple(readings)), durations

    def _judged(self, result: Ended) -> float | None:
        """A verification is judged and kept as every job over all nodes is."""
        if result.outcome is None:
            return None
        judgement = judge_verification(self.multi, result.outcome, self.ledger, self.engine)
        self.passed = judgement.verdict is Verdict.PASS
        return result.measured_gbyte_s

    def lost(self) -> tuple[CheckResult, ...]:
        """Hosts whose jobs did not start with any partner."""
        lost = []
        for host, tried in self.failed_starts.items():
            if len(tried) >= TRIES:
                message = say("search.node.lost", why=next(iter(tried.values())) or "")
                check = CheckResult("localise.node", node(host), Verdict.INCONCLUSIVE, message, "node_lost", STAGE)
                lost.append(check)
        return tuple(lost)

    def proven_for_all(self, hosts: tuple[str, ...], way: PairWay) -> tuple[str, ...]:
        """The same hosts with the other collectives of the joint stage: less than was planned proves nothing."""
        proven = True
        for collective in self.multi.collectives:
            if collective is self.job.collective or self.engine.cancel.wanted:
                continue
            members = [self.rounds.hosts[name] for name in hosts]
            other = replace(way, collective=collective)
            job_id = f"{STAGE}-verify-{collective.value}"
            job = joint_job(job_id, members, self.rounds.launch_host(hosts), other, self.multi.name)
            result = self.rounds.run([job]).get(job.id)
            if result is None or result.outcome is None:
                return ()
            self._judged(result)
            proven = proven and self.passed
        return hosts if proven and not self.engine.cancel.wanted else ()


def named_hosts(outcome: JobOutcome) -> tuple[str, ...]:
    """Hosts of a job that its own output or its launcher blames, by the names they have in the job."""
    blamed = [failure.host for failure in outcome.output.failures if failure.host and not failure.secondary]
    told = outcome.launch_error.args.get("host") if outcome.launch_error is not None else None
    words = {*blamed, *([str(told)] if told else [])}
    return tuple(host for host in outcome.job.hosts if host in words or host.partition(".")[0] in words)


def _durations(ended: Iterable[Ended]) -> list[float]:
    return [one.outcome.result.duration_s for one in ended if one.outcome is not None]
