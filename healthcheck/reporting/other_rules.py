"""What the other rules said to a bandwidth that is not as it should be, and which could not be asked."""

from __future__ import annotations

from healthcheck.model.finding import CheckResult, RuleResult
from healthcheck.model.message import say
from healthcheck.model.verdict import Verdict
from healthcheck.reporting.figures import one_line
from healthcheck.reporting.joining import in_a_row


def decided_by(check: CheckResult) -> RuleResult | None:
    """The rule that made the verdict: the first of the worst. None for what is no bandwidth."""
    return next((rule for rule in check.rules if rule.verdict is check.verdict), None)


def other_rules(check: CheckResult | None) -> str:
    """One line; empty where there are no other rules."""
    if check is None:
        return ""
    decided = decided_by(check)
    told = [_said(rule) for rule in check.rules if rule is not decided]
    return one_line(str(say("report.rules", rules=in_a_row(told)))) if told else ""


def _said(rule: RuleResult) -> str:
    name = str(say(f"report.rule.{rule.rule}"))
    if rule.verdict is Verdict.SKIPPED:
        return str(say("report.rules.not_asked", name=name, why=rule.message))
    return str(say("report.rules.said", name=name, verdict=rule.verdict.name, what=rule.message))
