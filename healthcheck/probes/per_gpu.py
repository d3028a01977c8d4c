"""From faults of single GPUs to check results: one a sick GPU, one for the node where all share a fault or none has."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from healthcheck.model.component import gpu, node
from healthcheck.model.finding import CheckResult
from healthcheck.model.message import Message
from healthcheck.model.reading import Evidence
from healthcheck.model.verdict import Verdict

STAGE = "probe"
_MOST_QUOTED = 6


class Fault(Struct, frozen=True):
    """What is wrong with GPU `index`; the message does not name it, because the component does."""

    index: int
    verdict: Verdict
    rule: str
    message: Message
    evidence: tuple[Evidence, ...] = ()
    observed: float | None = None
    expected: float | None = None
    unit: str = ""

    def alike(self, other: Fault) -> bool:
        """Whether it is the same fault on another GPU."""
        return (self.rule, self.message) == (other.rule, other.message)


def of_node(
    check: str, host: str, verdict: Verdict, rule: str, message: Message, evidence: tuple[Evidence, ...] = ()
) -> CheckResult:
    """The one result for a node."""
    return CheckResult(check, node(host), verdict, message, rule, STAGE, evidence=evidence)


def results(check: str, host: str, faults: Sequence[Fault], gpus: int, well: CheckResult) -> tuple[CheckResult, ...]:
    """`gpus`: how many were looked at. A setting that all of them share is one thing to repair, so one result."""
    if not faults:
        return (well,)
    first = faults[0]
    if len(faults) == gpus > 1 and all(fault.alike(first) for fault in faults):
        evidence = tuple(entry for fault in faults for entry in fault.evidence)[:_MOST_QUOTED]
        return (_result(check, host, first, whole=True, evidence=evidence),)
    return tuple(_result(check, host, fault, whole=False, evidence=fault.evidence) for fault in faults)


def _result(check: str, host: str, fault: Fault, *, whole: bool, evidence: tuple[Evidence, ...]) -> CheckResult:
    return CheckResult(
        check,
        node(host) if whole else gpu(host, fault.index),
        fault.verdict,
        fault.message,
        fault.rule,
        STAGE,
        observed=fault.observed,
        expected=fault.expected,
        unit=fault.unit,
        evidence=evidence,
    )
