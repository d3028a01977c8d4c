"""The rules that judge one bandwidth, and how their answers become one verdict.

The worst answer decides, of equal ones the earlier rule. A rule that could not be asked is SKIPPED and says why.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from healthcheck.model.finding import CheckResult, Confidence, RuleResult
from healthcheck.model.message import Message, say
from healthcheck.model.verdict import Verdict

PEAK, KNOWN_GOOD, PEERS, HISTORY, TRANSPORT = "peak", "known_good", "peers", "history", "transport"
RULES = (PEAK, KNOWN_GOOD, PEERS, HISTORY, TRANSPORT)
"""In the order in which they are asked."""


class Answer(Struct, frozen=True):
    """What one rule says to one bandwidth.

    `decided` is what the result names when this rule decides (`known_good.below`), and `message` what it then says,
    where that differs from what the rule says among others. `confidence` where the rule knows how sure it is.
    """

    said: RuleResult
    decided: str = ""
    message: Message | None = None
    confidence: Confidence | None = None


def not_asked(rule: str, why: Message) -> Answer:
    """The answer of a rule that could not be asked."""
    return Answer(RuleResult(rule, Verdict.SKIPPED, why))


def begun(check: CheckResult) -> CheckResult:
    """A bandwidth that was held against its peak, with that as its first rule."""
    return replace(check, rules=(RuleResult(PEAK, check.verdict, check.message, check.observed, check.expected),))


def weighed(check: CheckResult, answers: Iterable[Answer]) -> CheckResult:
    """`check` with further answers: a worse one decides, an equal one stands behind those before it."""
    for answer in answers:
        said = answer.said
        check = replace(check, rules=(*check.rules, said))
        if said.verdict > check.verdict:
            check = replace(
                check,
                verdict=said.verdict,
                rule=answer.decided,
                message=answer.message or said.message,
                observed=check.observed if said.observed is None else said.observed,
                expected=check.expected if said.expected is None else said.expected,
                confidence=answer.confidence,
            )
    return check


def all_skipped(check: CheckResult) -> CheckResult:
    """A bandwidth that no limit can judge: no other rule is asked."""
    return weighed(begun(check), (not_asked(rule, say("rules.not_judged")) for rule in RULES[1:]))


def reading_gbyte_s(check: CheckResult) -> float | None:
    """What a bandwidth read in GB/s, whichever rule decided; None where it is no measured bandwidth."""
    if check.observed is not None:
        return check.observed
    return next((rule.observed for rule in check.rules if rule.rule == PEAK), None)


def reads_low(check: CheckResult) -> bool:
    """Whether a rule about the number itself, and not only about the way it came, found a bandwidth too low."""
    about_the_number = [rule.verdict for rule in check.rules if rule.rule != TRANSPORT] or [check.verdict]
    return any(verdict in (Verdict.DEGRADED, Verdict.FAIL) for verdict in about_the_number)
