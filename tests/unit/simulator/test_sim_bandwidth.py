"""The numbers of the model against published ones."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from healthcheck.model.collective import Collective
from healthcheck.model.platform import NicSpec, Platform
from healthcheck.simulator.bandwidth import Job, NodeCapability, Noise, plateau_gbyte_s, speed
from tests.unit.simulator.sim import A100

MIB, GIB = 1 << 20, 1 << 30
HEALTHY = NodeCapability(1.0, (1.0,) * 8)
RING_LIKE = (
    Collective.ALL_REDUCE,
    Collective.ALL_GATHER,
    Collective.REDUCE_SCATTER,
    Collective.BROADCAST,
    Collective.REDUCE,
)


def job(
    *nodes: NodeCapability, collective: Collective = Collective.ALL_REDUCE, platform: Platform = A100, gpus: int = 8
) -> Job:
    return Job(platform, collective, nodes, (gpus,) * len(nodes), gpus * len(nodes))


@pytest.mark.parametrize(
    ("size", "published"),
    [
        (MIB, 36),
        (8 * MIB, 90),
        (16 * MIB, 109),
        (128 * MIB, 174),
        (256 * MIB, 214),
        (512 * MIB, 222),
        (GIB, 228),
        (8 * GIB, 231.6),
    ],
)
def test_one_a100_node_reads_what_azure_published(size: int, published: float) -> None:
    assert speed(job(HEALTHY), size, 1.0).busbw_gbyte_s == pytest.approx(published, rel=0.01)


def test_small_messages_cost_a_start_up_time_that_does_not_depend_on_their_size() -> None:
    times = [speed(job(HEALTHY), size, 1.0).time_us for size in (8, 1024, 16 * 1024)]
    assert times[0] == pytest.approx(12.0, rel=0.01)
    assert times == sorted(times)
    assert times[-1] < 14.0


def test_time_algbw_and_busbw_belong_together() -> None:
    measured = speed(job(HEALTHY, HEALTHY), GIB, 0.97)
    assert measured.algbw_gbyte_s == pytest.approx(GIB / (measured.time_us * 1e3))
    assert measured.busbw_gbyte_s == pytest.approx(measured.algbw_gbyte_s * 2 * 15 / 16)


@pytest.mark.parametrize("nodes", [2, 4, 8, 64])
def test_many_nodes_reach_96_percent_of_the_nics(nodes: int) -> None:
    assert speed(job(*[HEALTHY] * nodes), 8 * GIB, 1.0).busbw_gbyte_s == pytest.approx(192, rel=0.01)


def test_a_large_cluster_is_near_its_plateau_at_the_sizes_that_are_judged() -> None:
    """Else the healthy would be called slow for their number."""
    readings = [speed(job(*[HEALTHY] * nodes), 2 * GIB, 1.0).busbw_gbyte_s for nodes in (4, 64, 2000)]
    assert readings == sorted(readings, reverse=True)
    assert readings[-1] > 0.92 * 192


def test_four_nodes_are_on_the_plateau_from_2_gib_on_and_below_it_before() -> None:
    at = {size: speed(job(*[HEALTHY] * 4), size, 1.0).busbw_gbyte_s for size in (64 * MIB, 512 * MIB, 2 * GIB, 8 * GIB)}
    assert at[2 * GIB] == pytest.approx(at[8 * GIB])
    assert at[512 * MIB] / at[8 * GIB] == pytest.approx(0.86, abs=0.01)
    assert at[64 * MIB] / at[8 * GIB] == pytest.approx(0.40, abs=0.01)


@pytest.mark.parametrize(("nics", "expected"), [(4, 96), (1, 24)])
def test_fewer_nics_are_fewer_nics(nics: int, expected: float) -> None:
    platform = replace(A100, nics=NicSpec(nics, 200.0, "InfiniBand", "test"))
    node = NodeCapability(1.0, (1.0,) * nics)
    assert plateau_gbyte_s(job(node, node, platform=platform)) == pytest.approx(expected)


@pytest.mark.parametrize("collective", RING_LIKE)
def test_one_hca_at_half_rate_holds_up_every_rail(collective: Collective) -> None:
    sick = NodeCapability(1.0, (1.0, 1.0, 0.5, 1.0, 1.0, 1.0, 1.0, 1.0))
    assert plateau_gbyte_s(job(HEALTHY, sick, HEALTHY, collective=collective)) == pytest.approx(0.96 * 8 * 12.5)
    assert plateau_gbyte_s(job(sick, collective=collective)) == plateau_gbyte_s(job(HEALTHY, collective=collective))


def test_a_port_that_is_down_leaves_its_neighbour_twice_the_work() -> None:
    down = NodeCapability(1.0, (0.0, *(1.0,) * 7))
    assert plateau_gbyte_s(job(HEALTHY, down)) == pytest.approx(96)


def test_without_any_port_traffic_falls_back_to_tcp() -> None:
    cut_off = NodeCapability(1.0, (0.0,) * 8)
    assert plateau_gbyte_s(job(HEALTHY, cut_off)) < 5


def test_without_gpudirect_a_node_halves_the_network_and_nothing_inside_itself() -> None:
    staged = NodeCapability(1.0, (1.0,) * 8, gdr=False)
    assert plateau_gbyte_s(job(HEALTHY, staged)) == pytest.approx(96)
    assert plateau_gbyte_s(job(staged)) == plateau_gbyte_s(job(HEALTHY))
    half_rate = NodeCapability(1.0, (0.5, *(1.0,) * 7), gdr=False)
    assert plateau_gbyte_s(job(HEALTHY, half_rate)) == pytest.approx(48)


@pytest.mark.parametrize("nodes", [2, 3, 16])
def test_one_node_on_tcp_makes_the_whole_job_slow_and_stays_fast_alone(nodes: int) -> None:
    tcp = NodeCapability(1.0, (1.0,) * 8, socket=True)
    assert 2 <= plateau_gbyte_s(job(tcp, *[HEALTHY] * (nodes - 1))) <= 6
    assert plateau_gbyte_s(job(tcp)) == plateau_gbyte_s(job(HEALTHY))


def test_slow_nvlinks_show_inside_the_node_and_as_soon_as_they_are_the_bottleneck_also_outside() -> None:
    slow = NodeCapability(0.6, (1.0,) * 8)
    assert plateau_gbyte_s(job(slow)) == pytest.approx(0.6 * 231.6)
    assert plateau_gbyte_s(job(slow, HEALTHY)) == pytest.approx(0.6 * 231.6)
    slightly = NodeCapability(0.9, (1.0,) * 8)
    assert plateau_gbyte_s(job(slightly, HEALTHY)) == pytest.approx(192)


def test_alltoall_between_nodes_is_bound_by_the_nic_of_each_gpu() -> None:
    two, many = (plateau_gbyte_s(job(*[HEALTHY] * nodes, collective=Collective.ALLTOALL)) for nodes in (2, 32))
    assert 0.84 * 46.9 <= two <= 0.93 * 46.9
    assert 20 < many < 25


def test_sendrecv_between_nodes_is_bound_by_one_nic_and_inside_by_nvlink() -> None:
    assert plateau_gbyte_s(job(HEALTHY, HEALTHY, collective=Collective.SENDRECV)) == pytest.approx(24)
    assert plateau_gbyte_s(job(HEALTHY, collective=Collective.SENDRECV)) == pytest.approx(231.6)


def test_one_gpu_a_node_drives_one_nic() -> None:
    assert plateau_gbyte_s(job(HEALTHY, HEALTHY, gpus=1)) == pytest.approx(24)


@pytest.mark.parametrize("collective", list(Collective))
@pytest.mark.parametrize("nodes", [1, 2, 16])
def test_no_collective_exceeds_what_the_hardware_could_do(collective: Collective, nodes: int) -> None:
    reading = speed(job(*[HEALTHY] * nodes, collective=collective), 8 * GIB, 1.0).busbw_gbyte_s
    assert 0 < reading <= (300 if nodes == 1 else 200)


def test_noise_is_decided_by_seed_and_job_and_stays_small() -> None:
    def first_thousand(seed: int, key: str) -> list[float]:
        noise = Noise(seed, key, 0.003)
        return [noise.next() for _ in range(1000)]

    assert first_thousand(1, "a") == first_thousand(1, "a")
    assert first_thousand(1, "a") != first_thousand(2, "a")
    assert first_thousand(1, "a") != first_thousand(1, "b")
    factors = first_thousand(1, "a")
    assert sum(factors) / 1000 == pytest.approx(1.0, abs=0.001)
    assert max(abs(factor - 1) for factor in factors) <= 4 * 0.003
