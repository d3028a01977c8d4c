"""From the facts about a node to its check results."""

from __future__ import annotations

from healthcheck.model.finding import CheckResult
from healthcheck.model.node import NodeFacts
from healthcheck.probes import PROBES
from healthcheck.probes.probe import Needs


def judge_node(facts: NodeFacts, needs: Needs) -> tuple[CheckResult, ...]:
    """Every result of every look, in the order of `PROBES`. A look that saw nothing is INCONCLUSIVE, never PASS."""
    return tuple(result for probe in PROBES.values() for result in probe.judge(facts, needs))
