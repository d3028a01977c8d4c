"""Rule 6: what NCCL's own log says of the ways it took, held beside the number that came of them.

The results about the log stand by themselves, one a host; here they become the last answer to the bandwidth of the job.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from healthcheck.evaluation.limits import BUSBW_CHECK
from healthcheck.evaluation.rules import TRANSPORT, Answer, weighed
from healthcheck.evaluation.stage import JobJudgement
from healthcheck.evaluation.transport import GDR_CHECK, NICS_CHECK, NVLS_CHECK, P2P_CHECK, TRANSPORT_CHECK
from healthcheck.model.finding import CheckResult, RuleResult
from healthcheck.model.message import Arg, Message, say
from healthcheck.model.verdict import Verdict

_WAYS = (TRANSPORT_CHECK, P2P_CHECK, NVLS_CHECK, NICS_CHECK, GDR_CHECK)
"""Of equally bad ones the first is told."""


def with_transport(judgements: Iterable[JobJudgement], checks: Iterable[CheckResult]) -> tuple[JobJudgement, ...]:
    """The judgements with what `checks` (of `judge_transport`, for the same jobs) say of their ways.

    In a job over several nodes only what is FAIL decides: anything less is held against the node it was found on, and
    blames none of the others, which were fast enough together with it.
    """
    by_job: dict[str, list[CheckResult]] = {}
    for check in checks:
        if check.check in _WAYS:
            by_job.setdefault(check.job, []).append(check)
    return tuple(_with(one, by_job.get(one.outcomes[0].job.id, ())) for one in judgements)


def _with(judgement: JobJudgement, ways: Sequence[CheckResult]) -> JobJudgement:
    if not ways:
        return judgement
    worst = min(ways, key=lambda check: (-check.verdict, _WAYS.index(check.check)))
    joint = len(judgement.outcomes[0].job.hosts) > 1
    answer = Answer(RuleResult(TRANSPORT, worst.verdict, _told(worst, joint)), worst.rule)
    decides = not joint or worst.verdict is Verdict.FAIL

    def answered(check: CheckResult) -> CheckResult:
        if check.check != BUSBW_CHECK:
            return check
        before = tuple(rule for rule in check.rules if rule.rule != TRANSPORT)
        if not decides:
            return replace(check, rules=(*before, answer.said))
        found = weighed(replace(check, rules=before), [answer])
        # A number that is fast enough must not look like the reason; what was held against it stands in the rules.
        return replace(found, observed=None, expected=None, unit="") if found.verdict > check.verdict else found

    return replace(judgement, checks=tuple(map(answered, judgement.checks)))


def _told(check: CheckResult, joint: bool) -> Message:
    """Between nodes the sentence says whose log it was; the arguments of the cause stay in it."""
    if not joint or check.verdict <= Verdict.PASS:
        return check.message
    of_host: dict[str, Arg] = {"host": check.component.host or "", "what": check.message}
    return say("rules.transport.on", **{**check.message.args, **of_host})
