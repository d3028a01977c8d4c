"""A search by other limits: who is slow stays, how bad it is follows the job that it explains."""

from __future__ import annotations

import pytest

from healthcheck.diagnosis.search_again import Change, Grounds, search_again
from healthcheck.model.component import FABRIC, Component, gpu, hca, link, node
from healthcheck.model.finding import CheckResult, Confidence
from healthcheck.model.message import Message, say
from healthcheck.model.search import NodeStanding, RailsRecord, SearchRecord, Standing
from healthcheck.model.verdict import Verdict

LITTLE, MUCH = 0.07, 0.30
SEARCH = SearchRecord(
    "verified",
    shortfall=0.4,
    unseen=0.05,
    noise=0.01,
    suspects=(
        NodeStanding("little", Standing.CONFIRMED, LITTLE, 1.0, 3),
        NodeStanding("much", Standing.CONFIRMED, MUCH, 1.0, 3),
    ),
    rails=(RailsRecord("much", (0.0, MUCH), (1,), ("mlx5_0", "mlx5_1")),),
)
TEXT = say("search.end.pair")


def _check(
    check: str,
    component: Component,
    verdict: Verdict,
    rule: str,
    message: Message = TEXT,
    confidence: Confidence | None = Confidence.CONFIRMED,
) -> CheckResult:
    return CheckResult(check, component, verdict, message, rule, "localise", confidence=confidence)


NODES = [
    _check("localise.node", node("little"), Verdict.FAIL, "slow_node.confirmed"),
    _check("localise.node", node("much"), Verdict.FAIL, "slow_node.confirmed"),
]
RAIL = _check("localise.rail", hca("much", "mlx5_1"), Verdict.FAIL, "slow_rail.confirmed", Message("x", {"rail": 1}))
LINK = _check("localise.link", link("a", "b"), Verdict.FAIL, "slow_link.confirmed")
END = _check("localise.search", FABRIC, Verdict.PASS, "search.verified", Message("x", {"hosts": 6}), None)
BROKEN = _check("localise.node", node("a"), Verdict.FAIL, "breaks_alone.confirmed", confidence=None)
LOST = _check("localise.node", node("a"), Verdict.INCONCLUSIVE, "node_lost", confidence=None)
ALL = [*NODES, RAIL, LINK, END, BROKEN, LOST]


def _again(
    checks: list[CheckResult], now: Verdict | None, then: Verdict = Verdict.FAIL, verified: bool = True
) -> list[CheckResult]:
    return list(search_again(checks, SEARCH, Grounds(Change(then, now), {}, verified)))


def test_by_the_same_verdict_nothing_changes() -> None:
    assert _again(ALL, Verdict.FAIL) == ALL


def test_a_softer_verdict_of_the_job_softens_what_was_only_as_bad_as_the_job() -> None:
    verdicts = [check.verdict for check in _again(ALL, Verdict.DEGRADED)]
    assert verdicts == [
        Verdict.DEGRADED,  # loses little
        Verdict.FAIL,  # loses a tenth or more: that is a sick node by any limit
        Verdict.FAIL,
        Verdict.DEGRADED,
        Verdict.PASS,
        Verdict.FAIL,
        Verdict.INCONCLUSIVE,
    ]


def test_a_harder_verdict_hardens_it() -> None:
    softer = _again([*NODES, LINK], Verdict.DEGRADED)
    assert [check.verdict for check in _again(softer, Verdict.FAIL, Verdict.DEGRADED)] == [Verdict.FAIL] * 3


def test_a_job_that_is_fast_enough_needs_no_explanation_but_a_node_that_breaks_alone_is_broken() -> None:
    assert _again(ALL, Verdict.PASS) == [BROKEN]


def test_a_proof_that_no_longer_holds_proves_nobody() -> None:
    (end,) = _again([END], Verdict.FAIL, verified=False)
    assert end.verdict is Verdict.FAIL and end.message.code == "search.end.still_slow"
    assert end.rule == "search.unexplained"


@pytest.mark.parametrize(
    ("now", "verdict"), [(Verdict.FAIL, Verdict.FAIL), (Verdict.DEGRADED, Verdict.DEGRADED), (Verdict.PASS, None)]
)
def test_a_gpu_is_as_bad_as_its_node_alone(now: Verdict, verdict: Verdict | None) -> None:
    slow = _check("localise.gpu", gpu("a", 3), Verdict.FAIL, "slow_gpu.confirmed")
    alike = _check("localise.gpu", node("a"), Verdict.PASS, "slow_gpu.none", confidence=None)
    grounds = Grounds(Change(None, None), {"a": Change(Verdict.FAIL, now)})
    found = [check.verdict for check in search_again([slow, alike], None, grounds)]
    assert found == ([] if verdict is None else [verdict, Verdict.PASS])
