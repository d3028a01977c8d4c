"""Network ports: the sick compute port is named, storage ports are left in peace."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from healthcheck.model.finding import CheckResult
from healthcheck.model.platform import Platform
from healthcheck.model.reading import ReadingState
from healthcheck.model.verdict import Verdict
from healthcheck.probes import hcas
from healthcheck.probes.read import read_node
from tests.unit.probes.fixtures import DGX_A100, answer, said


def judged(fixture: str, platform: Platform | None = DGX_A100) -> tuple[CheckResult, ...]:
    return hcas.judge("node05", hcas.read(answer("hcas", fixture)), platform)


def against(results: tuple[CheckResult, ...]) -> list[tuple[str, str, str]]:
    return [(str(r.component), r.verdict.name, r.rule) for r in results if r.verdict is not Verdict.PASS]


@pytest.mark.parametrize(
    ("fixture", "expected"),
    [
        ("healthy", []),
        ("healthy_ibstat", []),
        ("healthy_with_storage_ports", []),
        ("healthy_sysfs", []),
        ("healthy_devinfo", []),
        ("sick_half_rate", [("node05/hca:mlx5_2", "FAIL", "hca.rate_broken")]),
        ("sick_half_rate_ibstat", [("node05/hca:mlx5_2", "FAIL", "hca.rate_broken")]),
        ("sick_half_rate_devinfo", [("node05/hca:mlx5_2", "FAIL", "hca.rate_broken")]),
        ("sick_half_rate_with_storage_ports", [("node05/hca:mlx5_2", "FAIL", "hca.rate_broken")]),
        ("sick_half_rate_ambiguous", [("node05", "FAIL", "hca.one_of")]),
        ("sick_three_lanes", [("node05/hca:mlx5_5", "DEGRADED", "hca.rate_low")]),
        ("sick_down", [("node05", "FAIL", "hca.inactive"), ("node05/hca:mlx5_2", "FAIL", "hca.down")]),
        ("sick_missing", [("node05", "FAIL", "hca.missing")]),
        ("sick_no_card", [("node05", "FAIL", "hca.missing")]),
        ("sick_rate_unknown", [("node05/hca:mlx5_7", "INCONCLUSIVE", "hca.rate_unknown")]),
        ("sick_only_rdma_link", [(f"node05/hca:mlx5_{i}", "INCONCLUSIVE", "hca.rate_unknown") for i in range(8)]),
        ("sick_denied", [("node05", "INCONCLUSIVE", "hca.unreadable")]),
        ("sick_vpi_port", [("node05", "FAIL", "hca.other_link_layer")]),
        (
            "sick_no_lid",
            [("node05/hca:mlx5_2", "FAIL", "hca.no_lid"), ("node05/hca:mlx5_4", "FAIL", "hca.no_lid")],
        ),
        (
            "sick_armed",
            [
                ("node05", "FAIL", "hca.inactive"),
                ("node05/hca:mlx5_6", "FAIL", "hca.down"),
                ("node05/hca:mlx5_6", "FAIL", "hca.no_subnet_manager"),
            ],
        ),
        ("tool_missing", [("node05", "INCONCLUSIVE", "hca.tool_missing")]),
    ],
)
def test_recorded_nodes(fixture: str, expected: list[tuple[str, str, str]]) -> None:
    results = judged(fixture)
    assert against(results) == expected
    assert all(result.evidence for result in results if result.verdict is not Verdict.PASS)


def test_the_planted_port_reads_as_the_operator_expects() -> None:
    slow = next(result for result in judged("sick_half_rate") if result.verdict is Verdict.FAIL)
    assert (slow.check, str(slow.message), slow.observed, slow.expected, slow.unit) == (
        "hca.rate",
        "100 of 200 Gb/s",
        100.0,
        200.0,
        "Gb/s",
    )
    assert slow.evidence[1].source == "/sys/class/infiniband/mlx5_2/ports/1/rate"
    assert slow.evidence[1].text == "100 Gb/sec (2X HDR)"


def test_a_slow_port_is_still_there() -> None:
    count = judged("sick_half_rate")[0]
    assert (count.check, count.verdict) == ("hca.count", Verdict.PASS)


def test_where_the_port_cannot_be_told_apart_all_candidates_are_named() -> None:
    (message,) = [str(found.message) for found in judged("sick_half_rate_ambiguous") if found.rule == "hca.one_of"]
    assert "mlx5_2" in message
    assert "mlx5_8" in message


def test_ethernet_cards_do_not_stand_in_for_infiniband() -> None:
    ethernet = answer("hcas", "healthy").stdout.replace("InfiniBand", "Ethernet")
    results = hcas.judge("n", hcas.read(said(ethernet)), DGX_A100)
    assert [(r.rule, r.observed) for r in results] == [("hca.missing", 0.0)]


def test_a_port_that_may_be_any_of_twins_is_neither_blamed_nor_passed_over() -> None:
    four = replace(DGX_A100, nics=replace(DGX_A100.nics, count=4))
    assert against(judged("healthy", four)) == []
    assert against(judged("sick_half_rate", four)) == [("node05", "INCONCLUSIVE", "hca.unclear")]


def test_without_a_platform_nothing_is_called_healthy() -> None:
    assert {result.verdict for result in judged("healthy", None)} == {Verdict.INCONCLUSIVE}


def test_a_fabric_without_subnet_manager_is_named_as_such_on_every_port() -> None:
    found = [result for result in judged("sick_no_subnet_manager") if result.check == "hca.subnet"]
    assert {result.rule for result in found} == {"hca.no_subnet_manager"}
    assert len(found) == 8
    assert str(found[3].message) == "port 1 of mlx5_3 has a link and waits for a subnet manager: 2: INIT"
    assert [entry.text for entry in found[3].evidence] == ["2: INIT", "lid 65535, sm_lid 0"]


def test_a_port_of_the_same_card_with_another_link_layer_is_set_up_wrong_and_not_missing() -> None:
    count = judged("sick_vpi_port")[0]
    assert str(count.message) == "of 8 InfiniBand compute ports, mlx5_3/1 is set to Ethernet"
    assert count.evidence[0].source == "/sys/class/infiniband/mlx5_3/ports/1/link_layer"


def test_roce_needs_no_subnet_manager() -> None:
    roce = replace(DGX_A100, nics=replace(DGX_A100.nics, link_layer="Ethernet"))
    results = judged("healthy_roce", roce)
    assert [(r.check, r.verdict.name) for r in results] == [
        ("hca.count", "PASS"),
        ("hca.rate", "PASS"),
        ("hca.subnet", "SKIPPED"),
    ]


def test_a_tool_that_was_refused_is_denied() -> None:
    assert hcas.read(answer("hcas", "sick_denied")).state is ReadingState.DENIED


def test_firmware_is_compared_within_one_kind_of_card() -> None:
    text = answer("hcas", "healthy_sysfs").stdout
    storage = "mlx5_9 0 fw_ver 16.35.2000\nmlx5_9 0 board_id MT_0000000012\nmlx5_9 1 state 4: ACTIVE\n"
    mixed = text.replace("mlx5_3 0 fw_ver 20.41.1000", "mlx5_3 0 fw_ver 20.39.3004")
    told = read_node("n", {"hcas": said(f"{mixed}\n{storage}mlx5_9 1 link_layer Ethernet")})
    assert hcas.settings(told) == (("hca_firmware[MT_0000000223]", "20.39.3004+20.41.1000"),)
    roce = read_node("n", {"hcas": answer("hcas", "sick_roce_small_mtu")})
    assert dict(hcas.settings(roce))["hca_mtu"] == "1500+9000"
    assert hcas.settings(read_node("n", {})) == ()
