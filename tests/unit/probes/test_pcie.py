"""PCIe slots: a card that trained badly is named, one in a smaller slot only where its network needs more."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from healthcheck.model.fabric_facts import Iommu, PciLink
from healthcheck.model.finding import CheckResult
from healthcheck.model.platform import Platform
from healthcheck.model.reading import Reading, ReadingState
from healthcheck.model.verdict import Verdict
from healthcheck.probes import hcas, pcie
from healthcheck.probes.batch import PartOutput
from tests.unit.probes.fixtures import DGX_A100, answer, said

METAL = Reading(ReadingState.OBSERVED, Iommu(0))
GUEST = Reading(ReadingState.OBSERVED, Iommu(0, machine="kvm"))
SLOWER = replace(DGX_A100, nics=replace(DGX_A100.nics, rate_gbit_s=100.0))


def judged(
    output: PartOutput, platform: Platform | None = DGX_A100, machine: Reading[Iommu] = METAL
) -> tuple[CheckResult, ...]:
    return pcie.judge("node05", pcie.read(output), hcas.read(answer("hcas", "healthy")), machine, platform)


def brief(results: tuple[CheckResult, ...]) -> list[tuple[str, str, str]]:
    return [(str(result.component), result.verdict.name, result.rule) for result in results]


@pytest.mark.parametrize(
    ("fixture", "expected"),
    [
        ("healthy", ("node05", "PASS", "pcie.full")),
        ("healthy_newer_card", ("node05", "PASS", "pcie.full")),
        ("healthy_virtual_functions", ("node05", "SKIPPED", "pcie.does_not_apply")),
        ("healthy_none", ("node05", "SKIPPED", "pcie.does_not_apply")),
        ("sick_half_width", ("node05/hca:mlx5_2", "FAIL", "pcie.narrow")),
        ("sick_lower_speed", ("node05/hca:mlx5_5", "FAIL", "pcie.slow")),
        ("sick_slot_too_small", ("node05/hca:mlx5_0", "DEGRADED", "pcie.slot_too_small")),
        ("sick_cut", ("node05", "INCONCLUSIVE", "unseen.unparsable")),
        ("tool_missing", ("node05", "SKIPPED", "unseen.tool_missing")),
    ],
)
def test_recorded_nodes(fixture: str, expected: tuple[str, str, str]) -> None:
    assert brief(judged(answer("pcie", fixture))) == [expected]


def test_the_narrow_card_reads_as_the_operator_expects() -> None:
    (narrow,) = judged(answer("pcie", "sick_half_width"))
    assert (str(narrow.message), narrow.observed, narrow.expected, narrow.unit) == (
        "mlx5_2 runs on 8 of 16 PCIe lanes",
        8.0,
        16.0,
        "lanes",
    )
    assert [(entry.source, entry.text) for entry in narrow.evidence][1] == (
        "/sys/bus/pci/devices/0000:4b:00.0/current_link_width",
        "8",
    )


def test_a_slot_is_too_small_only_for_what_the_network_needs() -> None:
    assert brief(judged(answer("pcie", "sick_slot_too_small"), SLOWER)) == [("node05", "PASS", "pcie.full")]
    assert brief(judged(answer("pcie", "sick_slot_too_small"), None)) == [("node05", "PASS", "pcie.full")]


def test_a_virtual_machine_makes_its_slots_up() -> None:
    made_up = answer("pcie", "healthy").stdout.replace("16.0 GT/s PCIe|16|", "2.5 GT/s PCIe|1|")
    assert brief(judged(said(made_up)))[0][2] == "pcie.slot_too_small"
    assert brief(judged(said(made_up), DGX_A100, GUEST)) == [("node05", "SKIPPED", "pcie.does_not_apply")]
    assert brief(judged(answer("pcie", "sick_cut"), DGX_A100, GUEST)) == [("node05", "SKIPPED", "pcie.does_not_apply")]


def test_without_the_ports_the_cards_of_the_compute_network_are_not_known() -> None:
    ports = hcas.read(answer("hcas", "tool_missing"))
    results = pcie.judge("n", pcie.read(answer("pcie", "healthy")), ports, METAL, DGX_A100)
    assert brief(results) == [("n", "SKIPPED", "unseen.tool_missing")]


@pytest.mark.parametrize(
    ("speed", "lanes", "fits", "does_not_fit"),
    [(8.0, 16, 100, 200), (16.0, 16, 200, 400), (32.0, 16, 400, 800), (64.0, 16, 800, 1600), (5.0, 8, 25, 40)],
)
def test_each_generation_carries_the_rate_it_is_sold_for(
    speed: float, lanes: int, fits: float, does_not_fit: float
) -> None:
    carries = PciLink(speed, lanes).rate_gbit_s
    assert carries is not None
    assert fits < carries < does_not_fit


def test_gpus_and_the_way_to_the_processor_are_read_too() -> None:
    devices = pcie.read(answer("pcie", "healthy")).value
    assert devices is not None
    first = devices[0]
    assert (first.bus_id, first.hca, first.link) == ("0000:07:00.0", None, PciLink(16.0, 16))
    assert first.above == ("0000:00:01.1", "0000:01:00.0", "0000:02:04.0")
    assert [device.hca for device in devices if device.hca][-1] == "mlx5_8"


@pytest.mark.parametrize("text", ["", "#end\nx", "gpu|-|0000:07:00.0|#end", "hca|a b|0000:07:00.0|||||||/sys\n#end"])
def test_what_is_no_list_of_devices_is_not_read_as_one(text: str) -> None:
    assert pcie.read(said(text)).state is ReadingState.UNPARSABLE
    assert {result.verdict for result in judged(said(text))} == {Verdict.INCONCLUSIVE}
