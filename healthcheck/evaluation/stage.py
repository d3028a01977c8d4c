"""All outcomes of one stage to its results. Pure: the same outcomes are judged again by `rejudge`."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from healthcheck.evaluation.integrity import component_of, judge_integrity
from healthcheck.evaluation.known_good_rule import ask_known_good
from healthcheck.evaluation.limits import BUSBW_CHECK, judge_bandwidth, limit_for
from healthcheck.evaluation.past import Past
from healthcheck.evaluation.peers import ask_peers, peers_of
from healthcheck.evaluation.reading import JudgedReading, judged_reading
from healthcheck.evaluation.rules import PEERS, TRANSPORT, Answer, all_skipped, begun, not_asked, weighed
from healthcheck.model.baseline import Baseline
from healthcheck.model.command import CollectiveJob, JobOutcome
from healthcheck.model.finding import CheckResult
from healthcheck.model.message import say
from healthcheck.model.platform import Limit, Platform
from healthcheck.model.playbook import Playbook, Stage
from healthcheck.model.thresholds import AskedThresholds
from healthcheck.model.verdict import Verdict


class JobJudgement(Struct, frozen=True):
    """The results of one job and all its repeats. `verdict` is the worst of them."""

    outcomes: tuple[JobOutcome, ...]
    checks: tuple[CheckResult, ...]
    limit: Limit | None

    @property
    def verdict(self) -> Verdict:
        """Worst of the checks; a job always has at least one."""
        return max(check.verdict for check in self.checks)


class _Judged(Struct, frozen=True):
    """A job by rules 1 and 2, which look at nothing but itself. `reading` None where no other rule may be asked."""

    judgement: JobJudgement
    reading: JudgedReading | None = None

    @property
    def job(self) -> CollectiveJob:
        return self.judgement.outcomes[0].job


def judge_jobs(
    stage: Stage,
    outcomes: Iterable[JobOutcome],
    playbook: Playbook,
    platform: Platform | None,
    override: AskedThresholds | None = None,
    *,
    baseline: Baseline | None = None,
) -> tuple[JobJudgement, ...]:
    """One judgement for each collective and set of hosts, all repeats together, in the order of `outcomes`.

    The first passing repeat does not win: every repeat has to be whole, and the median runs over all of them. The
    outcomes of a whole stage belong together: nodes are compared with each other. `baseline`: what they used to read.
    """
    groups: dict[tuple[str, tuple[str, ...]], list[JobOutcome]] = {}
    for outcome in outcomes:
        groups.setdefault((outcome.job.collective.value, outcome.job.hosts), []).append(outcome)
    judged = [_by_itself(stage, group, playbook, platform, override) for group in groups.values()]
    peers = _Peers(judged)
    past = Past(baseline, platform)
    return tuple(_by_all_rules(one, platform, peers, past) for one in judged)


def _by_itself(
    stage: Stage,
    group: list[JobOutcome],
    playbook: Playbook,
    platform: Platform | None,
    override: AskedThresholds | None,
) -> _Judged:
    integrity = tuple(judge_integrity(outcome) for outcome in group)
    broken = tuple(check for check in integrity if check.verdict is not Verdict.PASS)
    first = group[0]
    limit = None if platform is None else limit_for(first.job, stage, playbook, platform, override)
    if broken:
        return _Judged(JobJudgement(tuple(group), broken, limit))
    if limit is None:
        why = say("bandwidth.no_limit") if platform is None else say("bandwidth.no_peak", name=first.job.collective)
        no_limit = CheckResult(
            BUSBW_CHECK,
            component_of(first),
            Verdict.INCONCLUSIVE,
            why,
            "limits.unknown_platform" if platform is None else "limits.no_peak",
            stage.name,
            job=first.job.id,
        )
        return _Judged(JobJudgement(tuple(group), (*integrity, all_skipped(no_limit)), None))
    bandwidth = judge_bandwidth(group, limit, stage.unsaturated_ok)
    sure = bandwidth[0].verdict is not Verdict.INCONCLUSIVE
    return _Judged(JobJudgement(tuple(group), (*integrity, *bandwidth), limit), judged_reading(group) if sure else None)


class _Peers:
    """The readings of all nodes, by what makes their jobs the same."""

    def __init__(self, judged: Iterable[_Judged]) -> None:
        values: dict[tuple[str, tuple[int, ...]], list[float]] = {}
        for one in judged:
            if one.reading is not None and len(one.job.hosts) == 1:
                values.setdefault(_kind(one.job), []).append(one.reading.value)
        self._found = {kind: (peers_of(readings), len(readings)) for kind, readings in values.items()}

    def ask(self, reading: JudgedReading, job: CollectiveJob) -> Answer:
        if len(job.hosts) > 1:
            return not_asked(PEERS, say("rules.peers.joint"))
        return ask_peers(reading, *self._found[_kind(job)])


def _kind(job: CollectiveJob) -> tuple[str, tuple[int, ...]]:
    return job.collective.value, job.ranks_per_host


def _by_all_rules(judged: _Judged, platform: Platform | None, peers: _Peers, past: Past) -> JobJudgement:
    def all_asked(check: CheckResult) -> CheckResult:
        if check.check != BUSBW_CHECK or check.rules:
            return check
        if judged.reading is None or platform is None:
            return all_skipped(check)
        answers = (
            ask_known_good(judged.reading, judged.job, platform),
            peers.ask(judged.reading, judged.job),
            past.ask(judged.reading, judged.job),
            not_asked(TRANSPORT, say("rules.transport.unseen")),
        )
        return weighed(begun(check), answers)

    return replace(judged.judgement, checks=tuple(map(all_asked, judged.judgement.checks)))
