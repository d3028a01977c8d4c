"""The search for what slows a job between nodes: round by round, until the rest is proven or nothing more can be said.

Which round comes next is said by `diagnosis.search`, from nothing but what was read so far; a search that was
interrupted is gone through again with the results that were kept.
"""

from __future__ import annotations

from collections.abc import Mapping

from healthcheck.diagnosis.search import Ending, Read, Round, Searching
from healthcheck.diagnosis.search_record import Found, Phase, Played, search_record
from healthcheck.diagnosis.search_results import BUDGET, NO_ORDER, NOTHING_MEASURED, STOPPED, search_checks
from healthcheck.evaluation.expectation import Expectation
from healthcheck.evaluation.limits import BUSBW_CHECK, largest_busbw_gbyte_s, thresholds
from healthcheck.evaluation.reading import largest_bytes, told_at
from healthcheck.evaluation.rules import reads_low
from healthcheck.evaluation.stage import JobJudgement
from healthcheck.model.command import JobOutcome
from healthcheck.model.component import FABRIC
from healthcheck.model.finding import CheckResult, Confidence
from healthcheck.model.message import say
from healthcheck.model.playbook import Stage
from healthcheck.model.progress import Begun, Over
from healthcheck.model.search import (
    FullReading,
    PairRound,
    Problem,
    Purpose,
    Standing,
)
from healthcheck.model.verdict import Verdict
from healthcheck.planning.rails import PairWay, rails_apart
from healthcheck.planning.walk import between
from healthcheck.ports import Event
from healthcheck.workflows.engine import Engine
from healthcheck.workflows.ledger import Ledger
from healthcheck.workflows.search_gpus import name_gpus
from healthcheck.workflows.search_plays import STAGE, Plays
from healthcheck.workflows.search_rails import name_rails
from healthcheck.workflows.search_round import Rounds

EMPTY_ROUNDS = 2
LEAST_SHORTFALL = 0.05
DEFAULT_TOURNAMENT = 8


def run_localise(stage: Stage, ledger: Ledger, engine: Engine, earlier: Mapping[str, JobOutcome]) -> None:
    """Search, where a joint job was slow; everything found is in the ledger afterwards."""
    if engine.pace is None:  # a gate only finds out who is slow
        name_gpus(ledger, engine, earlier)
    slow = slowest(ledger)
    asked = stage.when == "always" or ledger.request.only == stage.name
    if slow is not None:
        _Search(stage, slow, ledger, engine, earlier).run()
    elif asked:
        ledger.add_checks([_nothing_to_search(stage, ledger)])


def slowest(ledger: Ledger) -> JobJudgement | None:
    """The joint job to begin with: of those that are not good enough the first, all_reduce before others.

    One that is fast enough and took a wrong way needs no search: NCCL named the nodes.
    """
    slow = [joint for joint in ledger.joint if joint.verdict in (Verdict.DEGRADED, Verdict.FAIL) and joint.limit]
    slow = [joint for joint in slow if not _only_astray(joint)]
    return min(slow, key=lambda joint: joint.outcomes[0].job.collective.value != "all_reduce", default=None)


def _only_astray(joint: JobJudgement) -> bool:
    bad = [check for check in joint.checks if check.verdict > Verdict.PASS]
    return all(check.check == BUSBW_CHECK and not reads_low(check) for check in bad)


def _nothing_to_search(stage: Stage, ledger: Ledger) -> CheckResult:
    if ledger.joint and all(joint.verdict is Verdict.PASS for joint in ledger.joint):
        message, verdict = say("search.nothing_to_search"), Verdict.SKIPPED
        return CheckResult("localise.search", FABRIC, verdict, message, "search.does_not_apply", stage.name)
    message, verdict = say("search.no_joint_job"), Verdict.INCONCLUSIVE
    return CheckResult("stage.run", FABRIC, verdict, message, "stage.not_run", stage.name)


class _Search:
    """One search. Belongs to the thread of the workflow."""

    def __init__(
        self, stage: Stage, slow: JobJudgement, ledger: Ledger, engine: Engine, earlier: Mapping[str, JobOutcome]
    ) -> None:
        self.stage, self.slow, self.ledger, self.engine = stage, slow, ledger, engine
        request = ledger.request
        outcome = slow.outcomes[0]
        self.job = outcome.job
        self.multi = request.playbook.stage(self.job.stage) or Stage("multi_node")
        assert slow.limit is not None and ledger.platform is not None  # without a platform no job is slow
        fractions, _ = thresholds(self.multi, request.playbook, ledger.platform, request.thresholds)
        self.expected = Expectation(ledger.platform, self.job.collective, fractions)
        self.rounds = Rounds(self.multi, ledger, engine, earlier)
        self.plays = Plays(self.job, self.multi, self.expected, self.rounds, ledger, engine)
        values = [largest_busbw_gbyte_s(each) for each in slow.outcomes]
        finished = [value for value in values if value is not None]
        measured = min(finished) if len(finished) == len(values) and _has_numbers(slow) else None
        expected, size = self.expected.joint(len(self.job.hosts)), largest_bytes(slow.outcomes)
        self.slow_run = FullReading(1, self.job.hosts, measured, expected, self.job.id, size)
        self.played: list[Played] = []
        self.phases: list[Phase] = []
        self.verified: tuple[str, ...] = ()
        self.empty = 0
        self.spent_s = 0.0

    def run(self) -> None:
        """All of it: rail by rail where that can be, then whole nodes where no rail is slow."""
        hosts = [self.rounds.hosts[name] for name in self.job.hosts if name in self.rounds.hosts]
        rails = rails_apart(hosts, *self.ledger.tool)
        way = self._tell_begin(rails)
        if self.slow_run.busbw_gbyte_s is None:
            self.plays.alone_first(self.slow.outcomes)
        ending = self._phase(way)
        if ending is None:
            self.engine.observer.event(Event(STAGE, say("search.whole_nodes")))
            way = self._way(1)
            ending = self._phase(way)
        self._conclude(ending or Ending.UNEXPLAINED, way)

    def _tell_begin(self, rails: int) -> PairWay:
        slow = self.slow_run
        way = say("search.way.rails") if rails > 1 else say("search.way.nodes")
        message = say("search.begins_stuck", hosts=len(slow.hosts), way=way)
        if slow.busbw_gbyte_s is not None:
            measured, expected = told_at(slow.busbw_gbyte_s, slow.size_bytes), round(slow.expected_gbyte_s, 1)
            message = say("search.begins", hosts=len(slow.hosts), measured=measured, expected=expected, way=way)
        begun = Begun(0, budget_s=self._budget_s, suspects=len(slow.hosts))
        self.engine.observer.event(Event(STAGE, message, step=begun))
        return self._way(rails)

    def _way(self, rails: int) -> PairWay:
        collective = self.job.collective
        return PairWay(self.ledger.request.playbook, self.multi, collective, rails, self.expected.pair(rails))

    def _problem(self, way: PairWay) -> Problem:
        labels = {host.name: host.label("leaf") or "" for host in self.ledger.request.hosts}
        request = self.ledger.request
        return Problem(
            hosts=self.job.hosts,
            leaves=tuple(labels[name] for name in self.job.hosts),
            shortfall=max(self.slow_run.shortfall, LEAST_SHORTFALL),
            pair_gbyte_s=way.expected,
            sensitivity=request.sensitivity,
            max_rounds=request.max_rounds,
            # The second time a walk is enough: everybody has met everybody.
            tournament_up_to=0 if self.phases else DEFAULT_TOURNAMENT,
        )

    def _phase(self, way: PairWay) -> str | None:
        """Search with one kind of pairs; how it ended. None: no rail is slow, whole nodes have not been tried."""
        problem = self._problem(way)
        searching = Searching(problem, self.expected.joint)
        searching.round = 1 + len(self.played)
        steps = searching.steps()
        ending: str | None = None
        read: Read | None = None
        before: Round | None = None
        while ending is None:
            searching.set_aside(self.plays.gone())
            try:
                step = next(steps) if read is None else steps.send(read)
            except StopIteration as stop:
                ending = stop.value
            if read is not None and before is not None:
                self.plays.telling.read(before, read, searching)
            if ending is not None:
                break
            if way.rails > 1 and _starts_over(step) and not _named(searching):
                break
            ending = self._may_not_go_on()
            if ending is None:
                read, before = self._play(step, way), step
                ending = self._after(read) or self._no_order(searching, step, read)
        self.phases.append(Phase(problem, searching.view, searching.known.pairs))
        return ending

    @property
    def _budget_s(self) -> float | None:
        asked = self.ledger.request.budget_s
        return self.stage.budget if asked is None else asked

    def _may_not_go_on(self) -> str | None:
        budget, pace = self._budget_s, self.engine.pace
        if self.engine.cancel.wanted:
            return STOPPED
        if 1 + len(self.played) >= self.ledger.request.max_rounds:
            return Ending.ROUNDS
        if pace is not None and not pace.may_begin:
            return BUDGET
        # A round takes about as long as the one before; one that is begun is not cut short.
        longest = self.spent_s / len(self.played) if self.played else 0.0
        return BUDGET if budget is not None and self.spent_s + longest >= budget else None

    def _after(self, read: Read) -> str | None:
        if self.engine.cancel.wanted:
            return STOPPED
        self.empty = 0 if read else self.empty + 1
        return NOTHING_MEASURED if self.empty >= EMPTY_ROUNDS else None

    def _no_order(self, searching: Searching, step: Round, read: Read) -> str | None:
        """A slow verification whose ring had to use what is known to be slow proves nothing, and never will."""
        if isinstance(step, PairRound) or len(step.orders) > 1:
            return None
        view, leaf = searching.view, searching.leaf
        bad = {between(a, b) for a, b in view.link_pairs("confirmed", "likely")}
        for reading in read:
            if isinstance(reading, FullReading) and reading.shortfall > searching.tolerance:
                ring = zip(reading.hosts, (*reading.hosts[1:], reading.hosts[0]), strict=True)
                if any(between(a, b) in bad or between(leaf[a], leaf[b]) in view.paths for a, b in ring):
                    return NO_ORDER
        return None

    def _play(self, step: Round, way: PairWay) -> Read:
        begun = self.engine.clock.monotonic()
        if isinstance(step, PairRound):
            played, durations = self.plays.pairs(step, way)
        else:
            played, durations = self.plays.joint(step, way)
        if not self.engine.cancel.wanted:
            self.played.append(played)
        # Rounds that were kept from an earlier try cost their time then.
        self.spent_s += max(self.engine.clock.monotonic() - begun, max(durations, default=0.0))
        self.ledger.save("incomplete")
        return played.pairs or played.fulls

    def _conclude(self, ending: str, way: PairWay) -> None:
        ledger = self.ledger
        if ending == Ending.VERIFIED and self.plays.passed:
            self.verified = self.plays.proven_for_all(self.played[-1].fulls[-1].hosts, way)
        good = self.verified or self.phases[-1].view.standing(Standing.GOOD)
        on = self._may_not_go_on() in (None, Ending.ROUNDS)
        rails, devices = name_rails(self.plays, self.phases[-1].view, self._way(1), good) if on else ((), {})
        found = Found(
            phases=tuple(self.phases),
            played=tuple(self.played),
            ending=ending,
            slow_run=self.slow_run,
            verified=self.verified,
            gone=tuple(host for host in self.job.hosts if host in self.plays.gone()),
            rails=rails,
            devices=devices,
        )
        checks = (*search_checks(found, self.slow.verdict, self.plays.why), *self.plays.lost())
        ledger.add_checks(checks)
        ledger.search = search_record(found)
        ledger.verified = self.verified
        for check in checks:
            host = check.component.host
            if host is not None and check.confidence is Confidence.CONFIRMED:
                ledger.excluded.setdefault(host, check.message)
            if check.verdict > Verdict.PASS:
                self.engine.observer.event(Event(STAGE, check.message, str(check.component), check.verdict))
        rounds, how = 1 + len(self.played), checks[-1 - len(self.plays.lost())].message
        self.engine.observer.event(Event(STAGE, how, step=Over(rounds, 0)))


def _starts_over(step: Round) -> bool:
    """Whether the search begins to look for smaller losses, after a slow verification."""
    return isinstance(step, PairRound) and any(pair.purpose is Purpose.FRESH for pair in step.pairs)


def _named(searching: Searching) -> bool:
    view = searching.view
    return bool(view.standing(Standing.CONFIRMED) or view.paths or view.link_pairs("confirmed", "likely"))


def _has_numbers(joint: JobJudgement) -> bool:
    return any(check.check == BUSBW_CHECK for check in joint.checks)
