"""Links, leaves, spread, dips and nodes that are sick now and then: what jobs between nodes read of them."""

from __future__ import annotations

import pytest

from healthcheck.model.collective import Collective
from healthcheck.simulator.between import edges
from healthcheck.simulator.chance import draw, healthy_nvlink, healthy_pace
from healthcheck.simulator.cluster import SimCluster
from healthcheck.simulator.faults import NoiseFault
from tests.unit.simulator.sim import A100, busbw, cluster, reading, run_all, run_single

QUIET = "noise=0"
LEVEL = pytest.approx(192, rel=0.012)


def test_a_slow_link_is_in_the_way_of_its_two_nodes_and_of_no_other_pair() -> None:
    sim = cluster(QUIET, "link:node01-node06=0.5")
    assert reading(sim, "node01", "node06") == pytest.approx(96, rel=0.01)
    assert reading(sim, "node06", "node01") == pytest.approx(96, rel=0.01)
    assert reading(sim, "node01", "node02") == LEVEL
    assert reading(sim, "node05", "node06") == LEVEL
    assert busbw(run_single(sim, "node01"))[-1] == pytest.approx(231.6, rel=0.01)


def test_a_job_meets_a_link_only_where_its_ring_crosses_it() -> None:
    sim = cluster(QUIET, "link:node01-node03=0.5")
    assert reading(sim, "node01", "node02", "node03", "node04") == LEVEL
    assert reading(sim, "node01", "node03", "node02", "node04") == pytest.approx(96, rel=0.01)
    assert reading(sim, "node01", "node02", "node04", "node03") == pytest.approx(96, rel=0.01), "the ring closes"


def test_a_slow_path_is_in_the_way_of_every_pair_across_these_two_leaves_only() -> None:
    sim = cluster(QUIET, "leaf:l1-l2=0.5", nodes=9, leaf_size=3)
    across = [reading(sim, f"node0{one}", f"node0{other}") for one in (1, 2, 3) for other in (4, 5, 6)]
    assert across == pytest.approx([0.99 * 96] * 9, rel=0.01)
    assert reading(sim, "node01", "node02") == LEVEL
    assert reading(sim, "node01", "node07") == pytest.approx(0.99 * 192, rel=0.01)
    assert busbw(run_all(sim))[-1] == pytest.approx(0.99 * 96, rel=0.015)


def test_healthy_nodes_differ_a_little_and_always_by_the_same() -> None:
    paces = [healthy_pace(1, f"node{number:03d}") for number in range(1000)]
    mean = sum(paces) / 1000
    assert mean == pytest.approx(1.0, abs=0.0005)
    assert (sum((pace - mean) ** 2 for pace in paces) / 1000) ** 0.5 == pytest.approx(0.003, abs=0.0003)
    assert paces[7] == healthy_pace(1, "node007") != healthy_pace(2, "node007")
    readings = [reading(cluster(QUIET, seed=3), "node01", f"node0{other}") for other in range(2, 9)]
    assert readings == [reading(cluster(QUIET, seed=3), "node01", f"node0{other}") for other in range(2, 9)]
    assert 0 < max(readings) / min(readings) - 1 < 0.02


def test_healthy_nodes_differ_inside_by_something_of_its_own() -> None:
    hosts = [f"node0{number}" for number in range(1, 9)]
    alone = [busbw(run_single(cluster(QUIET, seed=3), host))[-1] for host in hosts]
    assert alone == [pytest.approx(231.6 * healthy_nvlink(3, host), abs=0.01) for host in hosts]
    assert 0 < max(alone) / min(alone) - 1 < 0.02
    assert healthy_nvlink(3, "node01") != healthy_pace(3, "node01")


def of_run(run_seed: int, noise: float) -> SimCluster:
    """The same fleet in one of its runs."""
    return SimCluster(8, A100, 3, [NoiseFault(noise)], run_seed=run_seed)


def test_a_fleet_stays_the_same_from_run_to_run_but_for_its_noise() -> None:
    quiet = [[reading(of_run(run, 0.0), host) for host in ("node01", "node05")] for run in range(4)]
    assert quiet == [quiet[0]] * 4 and quiet[0][0] != quiet[0][1]
    noisy = [reading(of_run(run, 0.003), "node01") for run in range(4)]
    assert len(set(noisy)) == 4 and noisy == pytest.approx([quiet[0][0]] * 4, rel=0.013)
    assert of_run(1, 0.0).generation is of_run(2, 0.0).generation
    assert SimCluster(1, A100, 3).run_seed == 3


def test_without_noise_the_same_pair_always_reads_the_same() -> None:
    sim = cluster(QUIET)
    assert reading(sim, "node01", "node02") == reading(sim, "node01", "node02")


def test_pairs_across_leaves_are_a_percent_slower() -> None:
    sim = cluster(QUIET, nodes=60, leaf_size=30)
    names = list(sim.nodes)
    same = [reading(sim, names[at], names[at + 1]) for at in range(0, 28, 2)]
    across = [reading(sim, names[at], names[at + 30]) for at in range(14)]
    assert sum(across) / sum(same) == pytest.approx(0.99, abs=0.002)


def test_the_level_falls_slightly_with_the_size_of_the_job_and_stays_near_what_is_known_good() -> None:
    levels = [busbw(run_all(cluster(QUIET, nodes=nodes, leaf_size=nodes)))[-1] for nodes in (2, 16, 128, 512)]
    assert levels == sorted(levels, reverse=True)
    assert levels[-1] > 0.95 * 192


def test_the_worst_part_decides_and_two_bad_parts_are_no_worse_than_one() -> None:
    sim = cluster(QUIET, "link:node01-node02=0.5", "node01:hca=mlx5_0,slow=0.6", "node02:hca=mlx5_3,slow=0.4")
    assert reading(sim, "node01", "node02") == pytest.approx(0.4 * 192, rel=0.01)
    assert reading(sim, "node01", "node03") == pytest.approx(0.6 * 192, rel=0.01)


def test_in_alltoall_a_link_carries_a_small_part_of_the_traffic() -> None:
    sim = cluster("link:node01-node02=0.2", "leaf:l1-l2=0.2", nodes=16, leaf_size=8)
    names = list(sim.nodes)
    shares = [edges(sim, names[:many], Collective.ALLTOALL)[0].carries for many in (2, 8, 16)]
    assert shares == pytest.approx([0.2, 0.2 * 7, 0.2 * 15 / 8])
    assert edges(sim, names[:1], Collective.ALLTOALL) == ()


def test_an_intermittent_node_is_sick_in_its_share_of_the_jobs_and_alone_never() -> None:
    sim = cluster(QUIET, "node03:intermittent=0.25", seed=5)
    readings = [reading(sim, "node03", "node04") for _ in range(200)]
    sick = [one for one in readings if one < 150]
    assert 30 <= len(sick) <= 70
    assert sick == pytest.approx([96] * len(sick), rel=0.01)
    again = cluster(QUIET, "node03:intermittent=0.25", seed=5)
    assert [reading(again, "node03", "node04") for _ in range(200)] == readings
    assert reading(sim, "node01", "node02") == LEVEL
    always = cluster(QUIET, "node03:intermittent=1")
    assert reading(always, "node03", "node04") == pytest.approx(96, rel=0.01)
    assert busbw(run_single(always, "node03"))[-1] == pytest.approx(231.6, rel=0.01)


def test_a_dip_costs_one_job_ten_to_twenty_percent_and_is_gone_in_the_next() -> None:
    sim = cluster(QUIET, "dip=0.1", seed=2)
    level = reading(cluster(QUIET, seed=2), "node01", "node02")
    losses = [1 - reading(sim, "node01", "node02") / level for _ in range(300)]
    dips = [loss for loss in losses if loss > 0.01]
    assert 15 <= len(dips) <= 50
    assert 0.1 <= min(dips) < 0.12 < 0.18 < max(dips) <= 0.2001
    assert busbw(run_single(cluster(QUIET, "dip=1"), "node01"))[-1] == pytest.approx(231.6, rel=0.01)


def test_draws_are_spread_evenly_and_depend_on_every_word() -> None:
    draws = [draw(0, "a", str(number)) for number in range(2000)]
    assert sum(draws) / 2000 == pytest.approx(0.5, abs=0.02)
    assert 0 < min(draws) < 0.01 < 0.99 < max(draws) < 1
    assert len({draw(0, "a", "b"), draw(1, "a", "b"), draw(0, "b", "a"), draw(0, "ab", "")}) == 4
