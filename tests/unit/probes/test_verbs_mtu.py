"""The way from programs to the cards, and the size of the packets on it."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from healthcheck.model.finding import CheckResult
from healthcheck.model.reading import ReadingState
from healthcheck.model.verdict import Verdict
from healthcheck.probes import PROBES, verbs
from healthcheck.probes.batch import PartState
from healthcheck.probes.probe import Needs
from healthcheck.probes.read import read_node
from tests.unit.probes.fixtures import DGX_A100, answer, said

NEEDS = Needs(DGX_A100, own_token="hc-own")
ROCE = replace(NEEDS, platform=replace(DGX_A100, nics=replace(DGX_A100.nics, link_layer="Ethernet")))


def judged(fixture: str, cards: str = "healthy_sysfs", needs: Needs = NEEDS) -> list[tuple[str, str, str, str]]:
    facts = read_node("node05", {"verbs": answer("verbs", fixture), "hcas": answer("hcas", cards)})
    return [
        (result.check, str(result.component), result.verdict.name, result.rule)
        for result in PROBES["verbs"].judge(facts, needs)
    ]


READY = ("hca.verbs", "node05", "PASS", "hca.verbs_ready")
FULL = ("hca.mtu", "node05", "PASS", "hca.mtu_full")
UNSEEN = ("hca.mtu", "node05", "SKIPPED", "unseen.tool_missing")


@pytest.mark.parametrize(
    ("fixture", "expected"),
    [
        ("healthy", [READY, FULL]),
        ("healthy_no_devinfo", [READY, UNSEEN]),
        (
            "sick_missing",
            [
                ("hca.verbs", "node05", "FAIL", "hca.verbs_missing"),
                ("hca.mtu", "node05", "SKIPPED", "unseen.unparsable"),
            ],
        ),
        (
            "sick_denied",
            [
                ("hca.verbs", "node05", "FAIL", "hca.verbs_closed"),
                ("hca.mtu", "node05", "SKIPPED", "unseen.unparsable"),
            ],
        ),
        ("sick_container_cgroup", [("hca.verbs", "node05", "FAIL", "hca.verbs_closed"), FULL]),
        ("sick_one_file_missing", [("hca.verbs", "node05", "FAIL", "hca.verbs_closed"), FULL]),
        ("sick_small_mtu", [READY, ("hca.mtu", "node05/hca:mlx5_2", "DEGRADED", "hca.mtu_small")]),
        ("tool_missing", [("hca.verbs", "node05", "FAIL", "hca.verbs_missing"), UNSEEN]),
    ],
)
def test_recorded_nodes(fixture: str, expected: list[tuple[str, str, str, str]]) -> None:
    assert judged(fixture) == expected


def test_a_node_that_only_works_alone_does_not_need_its_cards() -> None:
    assert judged("sick_missing", needs=replace(NEEDS, together=False))[0][2] == "DEGRADED"


def results(fixture: str, cards: str, needs: Needs) -> tuple[CheckResult, ...]:
    facts = read_node("node05", {"verbs": answer("verbs", fixture), "hcas": answer("hcas", cards)})
    return PROBES["verbs"].judge(facts, needs)


def test_the_card_that_cannot_be_opened_is_named() -> None:
    closed = results("sick_container_cgroup", "healthy_sysfs", NEEDS)[0]
    assert str(closed.message) == "no program of this user can open mlx5_3: 1 of 8 cards"
    assert (closed.evidence[0].source, closed.evidence[0].text) == ("/dev/infiniband/uverbs3", "broken")
    gone = results("sick_one_file_missing", "healthy_sysfs", NEEDS)[0]
    assert "mlx5_6" in str(gone.message)


def test_a_card_that_is_not_for_computing_may_stay_closed() -> None:
    text = answer("verbs", "healthy").stdout
    storage = said(f"node uverbs8 mlx5_8 denied\n{text}")
    facts = read_node("n", {"verbs": storage, "hcas": answer("hcas", "healthy_with_storage_ports")})
    assert PROBES["verbs"].judge(facts, NEEDS)[0].verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("cards", "expected"),
    [
        ("healthy_roce", [FULL]),
        ("sick_roce_small_mtu", [("hca.mtu", "node05/hca:mlx5_5", "DEGRADED", "hca.mtu_small")]),
        ("sick_roce_mixed_mtu", [("hca.mtu", "node05", "DEGRADED", "hca.mtu_differs")]),
    ],
)
def test_roce_is_judged_by_its_interface_even_without_a_tool(
    cards: str, expected: list[tuple[str, str, str, str]]
) -> None:
    assert judged("healthy_no_devinfo", cards, ROCE)[1:] == expected


def test_the_small_interface_reads_as_the_operator_expects() -> None:
    small = results("healthy_no_devinfo", "sick_roce_small_mtu", ROCE)[1]
    assert str(small.message) == "packets of 1500 bytes where 9000 are usual (eth7 of mlx5_5)"
    assert (small.evidence[0].source, small.evidence[0].text) == ("/sys/class/net/eth7/mtu", "1500")
    assert (small.observed, small.expected, small.unit) == (1500.0, 9000.0, "bytes")


def test_without_cards_or_their_answer_nothing_passes() -> None:
    no_card = read_node("n", {"verbs": answer("verbs", "tool_missing"), "hcas": answer("hcas", "sick_no_card")})
    assert [result.verdict.name for result in PROBES["verbs"].judge(no_card, NEEDS)] == ["SKIPPED", "SKIPPED"]
    unknown = read_node("n", {"verbs": answer("verbs", "healthy")})
    assert [result.rule for result in PROBES["verbs"].judge(unknown, NEEDS)] == ["unseen.unparsable"]


@pytest.mark.parametrize(
    "stdout",
    ["", "node uverbs0 mlx5_0 ok", "node uverbs0 mlx5_0 fine\n#devinfo missing", "Kommando nicht gefunden", "\x1b[31m"],
)
def test_half_an_answer_is_no_answer(stdout: str) -> None:
    assert verbs.read(said(stdout)).state is ReadingState.UNPARSABLE
    assert verbs.read(said(stdout, state=PartState.TIMED_OUT)).state is ReadingState.UNPARSABLE


def test_a_tool_that_prints_an_error_and_ends_well_tells_no_mtu() -> None:
    found = verbs.read(said("node uverbs0 mlx5_0 ok\n#devinfo 0\nFailed to query device props")).value
    assert found is not None
    assert found.mtus.state is ReadingState.UNPARSABLE
