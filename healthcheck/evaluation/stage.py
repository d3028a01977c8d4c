"""All outcomes of one stage to its results. Pure: the same outcomes are judged again by `rejudge`."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from healthcheck.evaluation.integrity import component_of, judge_integrity
from healthcheck.evaluation.limits import BUSBW_CHECK, judge_bandwidth, limit_for
from healthcheck.model.command import JobOutcome
from healthcheck.model.finding import CheckResult
from healthcheck.model.message import say
from healthcheck.model.platform import Limit, Platform, Thresholds
from healthcheck.model.playbook import Playbook, Stage
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


def judge_jobs(
    stage: Stage,
    outcomes: Iterable[JobOutcome],
    playbook: Playbook,
    platform: Platform | None,
    override: Thresholds | None = None,
) -> tuple[JobJudgement, ...]:
    """One judgement for each collective and set of hosts, all repeats together, in the order of `outcomes`.

    The first passing repeat does not win: every repeat has to be whole, and the median runs over all of them.
    """
    groups: dict[tuple[str, tuple[str, ...]], list[JobOutcome]] = {}
    for outcome in outcomes:
        groups.setdefault((outcome.job.collective.value, outcome.job.hosts), []).append(outcome)
    return tuple(_judge_group(stage, group, playbook, platform, override) for group in groups.values())


def _judge_group(
    stage: Stage, group: list[JobOutcome], playbook: Playbook, platform: Platform | None, override: Thresholds | None
) -> JobJudgement:
    integrity = tuple(judge_integrity(outcome) for outcome in group)
    broken = tuple(check for check in integrity if check.verdict is not Verdict.PASS)
    first = group[0]
    limit = None if platform is None else limit_for(first.job, stage, playbook, platform, override)
    if broken:
        return JobJudgement(tuple(group), broken, limit)
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
        return JobJudgement(tuple(group), (*integrity, no_limit), None)
    return JobJudgement(tuple(group), (*integrity, *judge_bandwidth(group, limit, stage.unsaturated_ok)), limit)
