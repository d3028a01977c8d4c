"""The peak as a function: the factors, and that no published reading of a healthy machine is above its ceiling."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from healthcheck.edge.shipped import shipped_platforms
from healthcheck.evaluation.known_good import lowest_reference, reference
from healthcheck.evaluation.peaks import ABOVE_CEILING, Peak, ceiling_gbyte_s, peak
from healthcheck.model.algorithm import Algorithm
from healthcheck.model.collective import Collective
from healthcheck.model.platform import Platform, Sourced

PLATFORMS = shipped_platforms()
A100 = PLATFORMS["a100-sxm4-8gpu-8x200"]
P4DE = PLATFORMS["a100-sxm4-8gpu-4x100-efa"]
MESH = PLATFORMS["a100-sxm4-4gpu-4x200"]
DGX1 = PLATFORMS["v100-sxm2-8gpu-4x100"]
H100 = PLATFORMS["h100-sxm5-8gpu-8x400"]
P5 = PLATFORMS["h100-sxm5-8gpu-32x100-efa"]
B200 = PLATFORMS["b200-sxm6-8gpu-8x400"]
GB200 = PLATFORMS["gb200-4gpu-4x400"]
PAIR = PLATFORMS["a100-pcie-2gpu-bridged"]
# Machines of the published tables that are like a shipped one but for their NICs.
H800 = PLATFORMS["h800-sxm5-8gpu"]
H800_8X100 = replace(H800, nics=replace(H800.nics, count=8, rate_gbit_s=100))
A3_MEGA = replace(H100, nics=replace(H100.nics, rate_gbit_s=200, link_layer="Ethernet"))
V100_HALF = replace(DGX1, gpu=replace(DGX1.gpu, count=4), nics=replace(DGX1.nics, count=2))
GB200_WITHOUT_RACK = replace(GB200, nvlink_nodes=1)
A800 = PLATFORMS["a800-sxm4-8gpu-1x200"]

# A network so slow that nothing inside a node hides the factor.
SLOW = replace(A100, nics=replace(A100.nics, rate_gbit_s=8))


def _peak(
    platform: Platform,
    nodes: int,
    collective: Collective = Collective.ALL_REDUCE,
    *,
    gpus: int | None = None,
    nics: int | None = None,
    algorithm: Algorithm = Algorithm.RING,
) -> float:
    found = peak(platform, nodes, collective, gpus=gpus, nics=nics, algorithm=algorithm)
    assert found is not None
    return found.busbw_gbyte_s


@pytest.mark.parametrize(("nodes", "factor"), [(2, 1.875), (3, 1.4375), (4, 31 / 24), (8, 1.125), (16, 127 / 120)])
def test_a_tree_between_few_nodes_exceeds_the_sum_of_the_nics(nodes: int, factor: float) -> None:
    assert _peak(SLOW, nodes, algorithm=Algorithm.TREE) == pytest.approx(8 * factor)
    assert _peak(SLOW, nodes, Collective.ALL_GATHER, algorithm=Algorithm.TREE) == pytest.approx(8 * factor)
    assert _peak(SLOW, nodes) == 8


def test_a_ring_is_as_fast_as_the_nvlinks_or_all_nics_of_a_node_together() -> None:
    assert _peak(A100, 2) == 200
    assert _peak(H100, 300) == 400
    assert _peak(B200, 2, algorithm=Algorithm.TREE) == 750
    assert _peak(A100, 2, algorithm=Algorithm.TREE) == 300  # not 375: NVLink is the lower bound


def test_switches_that_add_up_halve_what_a_gpu_has_to_send() -> None:
    assert _peak(H100, 1, algorithm=Algorithm.NVLS) == pytest.approx(450 * 14 / 9)  # x 1.556
    assert _peak(H100, 1, gpus=4, algorithm=Algorithm.NVLS) == pytest.approx(450 * 6 / 5)
    assert _peak(H100, 1, Collective.ALL_GATHER, algorithm=Algorithm.NVLS) == 450
    # Between nodes, a tree over what the switches have added up.
    assert _peak(H100, 2, algorithm=Algorithm.NVLS) == pytest.approx(700)
    assert _peak(H100, 8, algorithm=Algorithm.NVLS) == pytest.approx(400 * 63 / 56)


def test_a_network_that_adds_up_tends_to_twice_the_nics() -> None:
    assert _peak(SLOW, 64, algorithm=Algorithm.SHARP) == pytest.approx(8 * 2 * 511 / 512)
    assert _peak(A100, 64, algorithm=Algorithm.SHARP) == 300
    assert _peak(H100, 8, algorithm=Algorithm.SHARP) == pytest.approx(700)
    assert _peak(SLOW, 64, Collective.BROADCAST, algorithm=Algorithm.SHARP) == 8


@pytest.mark.parametrize(("platform", "bound"), [(A3_MEGA, 46.875), (P5, 93.75), (H100, 93.75), (P4DE, 11.71875)])
def test_an_exchange_of_all_with_all_has_the_share_of_one_gpu(platform: Platform, bound: float) -> None:
    assert _peak(platform, 2, Collective.ALLTOALL) == pytest.approx(bound)
    assert _peak(platform, 1000, Collective.ALLTOALL) == pytest.approx(bound * 8 / 15, rel=0.001)
    assert _peak(platform, 2, Collective.GATHER) == pytest.approx(bound)


def test_a_neighbour_is_reached_over_the_nics_of_one_gpu() -> None:
    assert _peak(A100, 2, Collective.SENDRECV) == 25
    assert _peak(P5, 2, Collective.SENDRECV) == 50  # four adapters of 100 Gb/s
    assert _peak(P4DE, 2, Collective.SENDRECV) == 12.5  # two GPUs share one


def test_a_gpu_drives_the_nics_near_it_and_no_others() -> None:
    assert _peak(H100, 2, gpus=1) == 50  # nccl#1357: 50, not 200
    assert _peak(H100, 2, gpus=1, nics=4) == 50
    assert _peak(H100, 2, gpus=1, algorithm=Algorithm.TREE) == 50
    assert _peak(P4DE, 2, gpus=1) == 12.5
    assert _peak(A100, 2, gpus=4) == 100
    assert _peak(A100, 2, nics=6) == 150
    assert _peak(PLATFORMS["a100-sxm4-8gpu-16x100-roce"], 2, gpus=1) == 25


def test_a_nic_is_as_fast_as_its_slot() -> None:
    slow_slot = replace(H100, nics=replace(H100.nics, slot_gbyte_s=Sourced(24, "PCIe Gen4 x16")))
    assert _peak(slow_slot, 4) == 192
    found = peak(slow_slot, 4)
    assert found is not None
    assert "8 NICs x 24 GB/s of their PCIe slots = 192" in str(found.derivation)
    assert "PCIe Gen4 x16" in str(found.source)


def test_on_a_board_without_switches_fewer_gpus_have_fewer_links() -> None:
    assert _peak(MESH, 1) == 300
    assert _peak(MESH, 1, gpus=3) == 200
    assert _peak(MESH, 1, gpus=2) == 100
    # Of the cube mesh it depends on which GPUs they are, and nobody says.
    assert peak(DGX1, 1, gpus=4) is None
    assert peak(DGX1, 2, gpus=4) is None
    assert ceiling_gbyte_s(DGX1, 1, Collective.ALL_REDUCE, gpus=4) is None
    assert _peak(DGX1, 2, gpus=1) == 12.5
    # With switches every GPU has all its links, whoever else takes part.
    assert _peak(A100, 1, gpus=2) == 300


def test_trays_that_nvlink_joins_are_one_node() -> None:
    assert _peak(GB200, 18) == 900
    assert _peak(GB200, 4, Collective.ALLTOALL) == 900
    assert _peak(GB200, 4, algorithm=Algorithm.NVLS) == pytest.approx(900 * 30 / 17)
    assert peak(GB200, 19) is None
    assert _peak(GB200_WITHOUT_RACK, 4) == 200


def test_without_a_published_number_of_nics_there_is_no_peak_between_nodes() -> None:
    assert peak(PAIR, 2) is None
    assert ceiling_gbyte_s(PAIR, 2, Collective.ALL_REDUCE) is None
    assert peak(H100, 2, Collective.HYPERCUBE) is None


def test_the_derivation_can_be_followed_line_by_line() -> None:
    found = peak(H100, 2, algorithm=Algorithm.NVLS)
    assert found is not None
    assert tuple(map(str, found.steps)) == (
        "inside a node: 450 GB/s a GPU and direction",
        "added up in the switches: 450 x 2 x 7/9 = 700",
        "between nodes: 8 NICs x 400 Gb/s / 8 = 400",
        "first inside, then between nodes: x 15/(8 x 1) = 750",
        "the lower of both: min(700, 750) = 700",
    )
    assert isinstance(found, Peak)
    assert str(found.source).count("https://") == 2


# What healthy machines of the published tables read. (platform, nodes, collective, GPUs a node, GB/s)
_ALL_REDUCE, _ALL_GATHER, _ALLTOALL = Collective.ALL_REDUCE, Collective.ALL_GATHER, Collective.ALLTOALL
PUBLISHED = [
    (A100, 1, _ALL_REDUCE, 8, 234.9),
    (A100, 2, _ALL_REDUCE, 8, 192),
    (PLATFORMS["a100-sxm4-8gpu-16x100-roce"], 2, _ALL_REDUCE, 8, 185.6),
    (PLATFORMS["a100-sxm4-8gpu-4x200"], 3, _ALL_REDUCE, 8, 96),
    (P4DE, 2, _ALL_REDUCE, 8, 78.3),
    (P4DE, 3, _ALL_REDUCE, 8, 32),
    (MESH, 1, _ALL_REDUCE, 2, 72),
    (MESH, 2, _ALL_REDUCE, 4, 78),
    (PAIR, 1, _ALL_REDUCE, 2, 208),
    (PLATFORMS["a100-pcie-4gpu-bridged"], 1, _ALL_REDUCE, 4, 25),
    (PLATFORMS["a100-pcie-8gpu"], 1, _ALL_REDUCE, 8, 21),
    (A800, 1, _ALL_REDUCE, 8, 160),
    (A800, 12, _ALL_REDUCE, 8, 24),
    (DGX1, 1, _ALL_REDUCE, 8, 135),
    (V100_HALF, 2, _ALL_REDUCE, 4, 41.6),
    (H100, 1, _ALL_REDUCE, 8, 483),
    (H100, 2, _ALL_REDUCE, 8, 471),
    (H100, 8, _ALL_REDUCE, 8, 386.6),
    (P5, 2, _ALL_REDUCE, 8, 487.9),
    (P5, 2, _ALL_GATHER, 8, 338.6),
    (P5, 2, _ALLTOALL, 8, 79.1),
    (A3_MEGA, 2, _ALL_REDUCE, 8, 337.1),
    (A3_MEGA, 2, _ALL_GATHER, 8, 189.3),
    (A3_MEGA, 2, _ALLTOALL, 8, 40.2),
    (PLATFORMS["h200-sxm5-8gpu-8x400"], 1, _ALL_REDUCE, 8, 482),
    (PLATFORMS["h200-sxm5-8gpu-8x400"], 1, _ALL_REDUCE, 5, 414),
    (PLATFORMS["h200-sxm5-8gpu-16x200-efa"], 4, _ALL_REDUCE, 8, 364.9),
    (H800, 1, _ALL_REDUCE, 8, 215),
    (H800_8X100, 2, _ALL_REDUCE, 8, 161),
    (PLATFORMS["h100-pcie-2gpu-bridged"], 1, _ALL_REDUCE, 2, 230),
    (PLATFORMS["h100-pcie-8gpu"], 1, _ALL_REDUCE, 8, 45),
    (B200, 1, _ALL_REDUCE, 8, 845.7),
    (B200, 4, _ALL_REDUCE, 8, 514.7),
    (PLATFORMS["b200-sxm6-8gpu-8x400-efa"], 4, _ALL_REDUCE, 8, 381.8),
    (GB200, 2, _ALL_REDUCE, 4, 838),
    (GB200, 4, _ALL_REDUCE, 4, 882.5),
    (GB200, 2, _ALLTOALL, 4, 684),
    (GB200, 18, _ALL_REDUCE, 4, 847),
    (GB200_WITHOUT_RACK, 4, _ALL_REDUCE, 4, 191.4),
    (GB200_WITHOUT_RACK, 4, _ALL_GATHER, 4, 191.3),
    (GB200_WITHOUT_RACK, 4, _ALLTOALL, 4, 58.2),
]


@pytest.mark.parametrize(
    ("platform", "nodes", "collective", "gpus", "read"),
    PUBLISHED,
    ids=[f"{platform.name}-{nodes}-{read:g}" for platform, nodes, _, _, read in PUBLISHED],
)
def test_no_published_reading_is_called_impossible(
    platform: Platform, nodes: int, collective: Collective, gpus: int, read: float
) -> None:
    ceiling = ceiling_gbyte_s(platform, nodes, collective, gpus=gpus)
    assert ceiling is not None
    assert read <= ceiling / ABOVE_CEILING


@pytest.mark.parametrize(
    ("platform", "nodes", "collective", "read"),
    [
        (A100, 1, _ALL_REDUCE, 340),
        (A100, 2, _ALL_REDUCE, 400),
        (A100, 1, _ALL_REDUCE, 492),  # a table that took the wrong factor
        (P4DE, 2, _ALL_REDUCE, 300),  # an example script that asks for more than the hardware can
        (P4DE, 64, _ALL_REDUCE, 78.3),
        (P5, 64, _ALL_REDUCE, 800),  # the same script; no SHARP over EFA
        (P5, 2, _ALLTOALL, 150),
        (PLATFORMS["l40s-8gpu"], 1, _ALL_REDUCE, 40),  # a vendor's blog, of 31.5 that PCIe carries
        (H100, 1, _ALL_REDUCE, 845),
    ],
)
def test_what_no_such_machine_can_do_is_above_its_ceiling(
    platform: Platform, nodes: int, collective: Collective, read: float
) -> None:
    ceiling = ceiling_gbyte_s(platform, nodes, collective)
    assert ceiling is not None
    assert read > ceiling


def test_the_ceiling_of_an_effective_peak_is_the_line_rate() -> None:
    assert _peak(PAIR, 1) == 240
    assert ceiling_gbyte_s(PAIR, 1, Collective.ALL_REDUCE) == pytest.approx(300 * ABOVE_CEILING)
    cards = PLATFORMS["h100-pcie-8gpu"]
    assert ceiling_gbyte_s(cards, 1, Collective.ALL_REDUCE, gpus=4) == pytest.approx(63 * ABOVE_CEILING)


def test_one_algorithm_alone_has_a_lower_ceiling() -> None:
    ring = ceiling_gbyte_s(P4DE, 2, Collective.ALL_REDUCE, algorithm=Algorithm.RING)
    assert ring == pytest.approx(50 * ABOVE_CEILING)


def test_the_reference_is_of_just_such_a_job() -> None:
    def value(platform: Platform, nodes: int, *, gpus: int = 8, algorithm: Algorithm | None = None) -> float | None:
        found = reference(platform, nodes, gpus=gpus, algorithm=algorithm)
        return None if found is None else found.value

    assert value(H100, 1) == 478
    assert value(H100, 1, algorithm=Algorithm.RING) == 367
    assert value(H100, 1, gpus=4) == 363
    assert value(H100, 2, algorithm=Algorithm.RING) == 330
    assert value(H100, 40) == 320
    assert value(H100, 1, gpus=2) is None
    assert value(P4DE, 2) == 78.3
    assert value(P4DE, 2, algorithm=Algorithm.RING) is None


def test_where_nobody_knows_whether_the_ring_was_forced_the_lower_number_holds() -> None:
    def value(platform: Platform, nodes: int) -> float | None:
        found = lowest_reference(platform, nodes, _ALL_REDUCE, gpus=8, ring_peak_gbyte_s=_peak(platform, nodes))
        return None if found is None else found.value

    assert value(H100, 1) == 478  # 367 is NVLS lost
    assert value(H100, 2) == 330
    assert value(H100, 4) == 320
    assert value(B200, 3) == 332
    assert value(P4DE, 2) is None  # 78.3 is of a tree, and a ring cannot read more than 50
