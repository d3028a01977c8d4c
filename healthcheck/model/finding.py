"""What was concluded: one result a check, and the lines an operator acts on."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from healthcheck.model.component import Component
from healthcheck.model.message import Message
from healthcheck.model.reading import Evidence
from healthcheck.model.verdict import Verdict


class Confidence(StrEnum):
    """How sure a finding is, in the three words of the report."""

    CONFIRMED = "confirmed"
    LIKELY = "likely"
    SUSPECTED = "suspected"


class RuleResult(Struct, frozen=True, gc=False):
    """What one rule of judgement says to one number; SKIPPED where it could not be asked, with the reason.

    `rule` is peak, known_good, peers, history or transport. `observed` and `expected` are in the unit of the check.
    """

    rule: str
    verdict: Verdict
    message: Message
    observed: float | None = None
    expected: float | None = None


class CheckResult(Struct, frozen=True, gc=False):
    """The one result of one planned check.

    `check` is a stable id (docs/checks.md), `rule` names the rule that fired (`integrity.incomplete`,
    `peak.below_broken`, ...), `observed` and `expected` are in `unit`; None where there is no number. `job` is the
    job it judged (the first of its repeats), empty for a look at a node. `confidence` where the check itself knows how
    sure it is, and `against` what speaks against it. `rules` of a bandwidth: every rule and what it said, of which
    `rule` names the one that decided.
    """

    check: str
    component: Component
    verdict: Verdict
    message: Message
    rule: str
    stage: str = ""
    observed: float | None = None
    expected: float | None = None
    unit: str = ""
    evidence: tuple[Evidence, ...] = ()
    job: str = ""
    confidence: Confidence | None = None
    against: tuple[Message, ...] = ()
    rules: tuple[RuleResult, ...] = ()

    @property
    def sets_aside(self) -> bool:
        """Whether its host was left alone on purpose; any other SKIPPED does not apply, or could not be seen."""
        return self.verdict is Verdict.SKIPPED and self.rule.startswith("busy.")


class Finding(Struct, frozen=True, rename={"evidence_for": "for", "evidence_against": "against"}):
    """One line an operator acts on: who, how bad, why, what speaks for and against, what to do.

    `cause` and `remedy` are messages of the catalogue; their codes are stable. `job` is the job whose raw output
    shows it, empty where a look at the node did.
    """

    component: Component
    verdict: Verdict
    confidence: Confidence
    cause: Message
    remedy: Message
    evidence_for: tuple[Message, ...] = ()
    evidence_against: tuple[Message, ...] = ()
    commands: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    job: str = ""
