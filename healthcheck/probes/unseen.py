"""A look that saw nothing: what it is worth, and what that hides.

What the node refuses (DENIED) or has no tool for (TOOL_MISSING) is said and counted, and changes no verdict: SKIPPED.
What answers in a way nobody understands (UNPARSABLE) is a node that does not work as it should: INCONCLUSIVE where
the look is `needed`. Neither is ever PASS. docs/adr/0005 says why.
"""

from __future__ import annotations

from healthcheck.model.component import node
from healthcheck.model.finding import CheckResult
from healthcheck.model.message import Message, say
from healthcheck.model.reading import Reading, ReadingState
from healthcheck.model.verdict import Verdict

UNSEEN = frozenset(
    {"unseen.denied", "unseen.tool_missing", "unseen.unparsable", "unseen.unreachable", "unseen.not_compared"}
)
"""The rules of these results."""


def unseen(
    check: str, host: str, reading: Reading[object], hides: Message, *, needed: bool = True, stage: str = "probe"
) -> CheckResult:
    """The one result of a look without value. `hides`: what stays unknown, as the end of a sentence ("ECC errors")."""
    message = say(f"probe.{reading.state.value}", hides=hides, detail=reading.detail)
    refused = reading.state in (ReadingState.DENIED, ReadingState.TOOL_MISSING)
    verdict = Verdict.SKIPPED if refused or not needed else Verdict.INCONCLUSIVE
    rule = f"unseen.{reading.state.value}"
    return CheckResult(check, node(host), verdict, message, rule, stage, evidence=reading.evidence[:2])
