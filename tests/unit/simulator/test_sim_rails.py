"""Jobs on parts of nodes: a communicator a rail, one HCA, some GPUs. Each shows what it uses, and only that."""

from __future__ import annotations

import pytest

from healthcheck.simulator.answers import answer
from healthcheck.simulator.cluster import Ran
from healthcheck.simulator.communicators import Placed, groups
from healthcheck.simulator.nccl_log import rank_log
from healthcheck.simulator.nccl_topology import bus
from healthcheck.simulator.rank_settings import allowed_hcas, group_of_rank, visible_gpus
from tests.unit.simulator.sim import busbw, cluster, parsed, reading, run_some

QUIET = "noise=0"
RAILS = "-x 'NCCL_TESTS_SPLIT=MOD 8' -x NCCL_ALGO=Ring"
PAIR = ("node01", "node05")
RAIL = pytest.approx(24, rel=0.01)
HALF = pytest.approx(12, rel=0.01)
NODE = pytest.approx(192, rel=0.01)


@pytest.mark.parametrize("split", ["NCCL_TESTS_SPLIT='MOD 8'", "NCCL_TESTS_SPLIT=%8", "NCCL_TESTS_SPLIT_MASK=0x7"])
def test_a_rail_has_the_bandwidth_of_one_nic_and_two_ranks_of_a_pair(split: str) -> None:
    reply = run_some(cluster(QUIET), *PAIR, env=f"-x {split}", options="-a 3")
    table = parsed(reply).tables[0]
    assert table.n_ranks == 2
    assert [rank.group for rank in table.ranks] == list(range(8)) * 2
    assert [rank.rank for rank in table.ranks] == list(range(16))
    half = table.rows[-1].out_of_place
    assert half is not None
    assert half.busbw_gbyte_s == RAIL
    assert half.busbw_gbyte_s == half.algbw_gbyte_s


def test_the_slowest_rail_is_what_minus_a_3_shows_and_the_average_dilutes_it() -> None:
    sim = cluster(QUIET, "node05:hca=mlx5_2,slow=0.5")
    assert reading(sim, *PAIR, env=RAILS, options="-a 3") == HALF
    assert reading(sim, *PAIR, env=RAILS) == pytest.approx(24 * 8 / 9, rel=0.01)
    assert reading(sim, *PAIR, env=RAILS, options="-a 2") == RAIL
    assert reading(sim, *PAIR, env=RAILS, options="-a 0") == RAIL
    assert reading(sim, "node01", "node02", env=RAILS, options="-a 3") == RAIL


def test_a_rail_that_is_down_is_carried_by_its_neighbour_and_both_are_at_half() -> None:
    sim = cluster(QUIET, "node05:hca=mlx5_2,down")
    assert reading(sim, *PAIR, env=RAILS, options="-a 3") == HALF
    assert reading(sim, *PAIR, env=RAILS) == pytest.approx(24 * 8 / 10, rel=0.01)


def test_links_and_sick_nodes_are_the_same_for_every_rail() -> None:
    sim = cluster(QUIET, "link:node01-node05=0.5", "node02:gdr=off", "node03:nvlink=0.05")
    assert reading(sim, *PAIR, env=RAILS) == HALF
    assert reading(sim, "node01", "node02", env=RAILS) == HALF
    assert reading(sim, "node03", "node04", env=RAILS, options="-a 3") == RAIL, "a rail uses no NVLink"


def test_an_old_nccl_tests_that_knows_no_split_runs_the_whole_job() -> None:
    assert reading(cluster(QUIET, version="2.10.1"), *PAIR, env=RAILS) == NODE
    assert reading(cluster(QUIET, version="2.13.10"), *PAIR, env=RAILS) == NODE
    masked = "-x NCCL_TESTS_SPLIT_MASK=7"
    assert reading(cluster(QUIET, version="2.13.10"), *PAIR, env=masked) == RAIL


def test_half_of_the_noise_of_a_rail_is_common_to_its_job() -> None:
    sim = cluster("noise=0.03", seed=8)
    env = "-x 'NCCL_TESTS_SPLIT=MOD 8'"
    first = [reading(sim, *PAIR, env=env, options="-a 0") / 24 - 1 for _ in range(300)]
    assert (sum(one * one for one in first) / 300) ** 0.5 == pytest.approx(0.03, rel=0.15)
    mean = [reading(sim, *PAIR, env=env, options="-a 1") / 24 - 1 for _ in range(300)]
    assert (sum(one * one for one in mean) / 300) ** 0.5 == pytest.approx(0.03 * (0.5 + 0.5 / 8) ** 0.5, rel=0.15)


@pytest.mark.parametrize("hca", range(8))
def test_one_hca_carries_the_job_alone_when_nccl_is_told_so(hca: int) -> None:
    sim = cluster(QUIET, "node05:hca=mlx5_2,slow=0.5")
    assert reading(sim, *PAIR, env=f"-x NCCL_IB_HCA==mlx5_{hca}") == (HALF if hca == 2 else RAIL)


def test_a_job_without_the_sick_hca_is_fast_and_without_any_it_takes_tcp() -> None:
    sim = cluster(QUIET, "node05:hca=mlx5_2,slow=0.5")
    assert reading(sim, *PAIR, env="-x NCCL_IB_HCA=^mlx5_2") == pytest.approx(7 * 24, rel=0.01)
    assert reading(sim, *PAIR, env="-x NCCL_IB_HCA=mlx4") < 5


@pytest.mark.parametrize("gpu", range(8))
def test_one_gpu_a_node_uses_its_own_hca(gpu: int) -> None:
    sim = cluster(QUIET, "node05:hca=mlx5_2,slow=0.5", "node01:nvlink=0.1")
    env = f"-x CUDA_VISIBLE_DEVICES={gpu} -x NCCL_IB_HCA==mlx5_{gpu}"
    assert reading(sim, *PAIR, ranks=1, env=env) == (HALF if gpu == 2 else RAIL)


def test_a_sick_nvlink_is_seen_by_jobs_with_gpu_0_only_as_the_probes_tell_it() -> None:
    sim = cluster(QUIET, "node03:nvlink=0.5")
    pairs = {
        (one, other): reading(sim, "node03", ranks=2, env=f"-x CUDA_VISIBLE_DEVICES={one},{other}")
        for one in range(8)
        for other in range(one + 1, 8)
    }
    slow = {pair for pair, busbw in pairs.items() if busbw < 150}
    assert slow == {(0, other) for other in range(1, 8)}
    assert reading(sim, "node03", ranks=4, env="-x CUDA_VISIBLE_DEVICES=4,5,6,7") == pytest.approx(231.6, rel=0.01)
    assert reading(sim, "node03", ranks=4, env="-x CUDA_VISIBLE_DEVICES=0,1,2,3") == pytest.approx(115.8, rel=0.01)


def test_hidden_gpus_are_numbered_anew_and_keep_their_address() -> None:
    devices = parsed(run_some(cluster(), "node03", ranks=2, env="-x CUDA_VISIBLE_DEVICES=6,7")).tables[0].ranks
    everything = parsed(run_some(cluster(), "node03")).tables[0].ranks
    assert [rank.device for rank in devices] == [0, 1]
    assert [rank.bus_id for rank in devices] == [rank.bus_id for rank in everything[6:]]


def test_a_rank_without_a_visible_gpu_fails_the_job() -> None:
    reply = run_some(cluster(), "node03", ranks=2, env="-x CUDA_VISIBLE_DEVICES=7")
    assert reply.exit_code == 5
    assert "2 requested but only 1 were found" in reply.stderr


def test_no_probe_sees_a_slow_hca() -> None:
    sick, well = cluster("node05:hca=mlx5_2,slow=0.5"), cluster()
    assert sick.nodes["node05"].capability == well.nodes["node05"].capability
    assert reading(sick, *PAIR) == pytest.approx(96, rel=0.02)


def test_jobs_on_other_parts_of_the_same_hosts_do_not_change_each_others_noise() -> None:
    sim, other = cluster(), cluster()
    one, two = "-x CUDA_VISIBLE_DEVICES=1", "-x CUDA_VISIBLE_DEVICES=2"
    forward = {env: reading(sim, *PAIR, ranks=1, env=env) for env in (one, two)}
    backward = {env: reading(other, *PAIR, ranks=1, env=env) for env in (two, one)}
    assert forward == backward


def test_per_iteration_columns_are_printed_where_the_version_has_them() -> None:
    new = run_some(cluster(version="2.19.6"), *PAIR, env=RAILS, options="-a 3 -I 1").stdout
    old = run_some(cluster(version="2.17.10"), *PAIR, env=RAILS, options="-a 3 -I 1").stdout
    assert "i_p99" in new
    assert "i_p99" not in old


def test_hydra_hands_the_variables_on_as_well() -> None:
    sim = cluster(QUIET, "node02:hca=mlx5_1,slow=0.5", nodes=2)
    words = "mpirun -n 16 -hosts node01:8,node02:8 -genv NCCL_IB_HCA {} /opt/all_reduce_perf -b 8G -e 8G"
    replies = [answer(sim, sim.hosts()[0], words.format(hca).split(), {}) for hca in ("=mlx5_0", "=mlx5_1")]
    assert [busbw(reply)[-1] for reply in replies] == [RAIL, HALF]


def test_split_groups_share_the_hcas_they_both_need() -> None:
    sim = cluster(QUIET)
    both = "-x NCCL_TESTS_SPLIT='MOD 8' -x NCCL_IB_HCA==mlx5_3"
    assert reading(sim, *PAIR, env=both) == pytest.approx(3, rel=0.01)
    made = groups(sim, Placed(PAIR, (8, 8), 1, {"NCCL_TESTS_SPLIT": "DIV 8"}))
    assert [(one.number, one.hosts, len(one.gpus[0])) for one in made] == [(0, ("node01",), 8), (1, ("node05",), 8)]


@pytest.mark.parametrize(
    ("value", "positions"),
    [
        ("", (0, 1, 2, 10)),
        ("=mlx5_1", (1,)),
        ("mlx5_1", (1, 10)),
        ("^mlx5_1", (0, 2)),
        ("^=mlx5_1", (0, 2, 10)),
        ("=mlx5_0:1,mlx5_2", (0, 2)),
        ("=nosuch", ()),
    ],
)
def test_hcas_are_chosen_as_nccl_chooses(value: str, positions: tuple[int, ...]) -> None:
    devices = {index: f"mlx5_{index}" for index in (0, 1, 2, 10)}
    chosen = allowed_hcas({"NCCL_IB_HCA": value}, tuple(devices.values()))
    assert tuple(list(devices)[at] for at in chosen) == positions


@pytest.mark.parametrize(
    ("value", "numbers"),
    [
        ("AND 3", [0, 1, 2, 3, 0, 1]),
        ("or 0x4", [4, 5, 6, 7, 4, 5]),
        ("MOD0b10", [0, 1, 0, 1, 0, 1]),
        ("/ 2", [0, 0, 1, 1, 2, 2]),
    ],
)
def test_every_way_to_split_is_understood(value: str, numbers: list[int]) -> None:
    number_of = group_of_rank({"NCCL_TESTS_SPLIT": value}, "2.17.10")
    assert number_of is not None
    assert [number_of(rank) for rank in range(6)] == numbers


@pytest.mark.parametrize("value", ["", "MOD", "MOD 0", "XOR 3", "8"])
def test_what_is_no_split_leaves_all_ranks_together(value: str) -> None:
    assert group_of_rank({"NCCL_TESTS_SPLIT": value}, "2.17.10") is None


@pytest.mark.parametrize(("value", "seen"), [("0,1", (0, 1)), ("3", (3,)), ("2,9,1", (2,)), ("", ()), ("1,1", (1,))])
def test_cuda_sees_the_gpus_named_up_to_the_first_it_does_not_know(value: str, seen: tuple[int, ...]) -> None:
    assert visible_gpus({"CUDA_VISIBLE_DEVICES": value}, 8) == seen


def test_the_log_of_nccl_names_the_hcas_it_may_use_and_no_variable_of_nccl_tests() -> None:
    env = (("NCCL_IB_HCA", "=mlx5_2"), ("NCCL_TESTS_SPLIT", "MOD 8"), ("NCCL_ALGO", "Ring"))
    text = rank_log(cluster(), Ran(PAIR, (1, 1), (1 << 30,), env), "node01", 0)
    assert "Using [0]mlx5_2:1/IB [RO]" in text
    assert "NCCL_IB_HCA set to =mlx5_2" in text
    assert "NCCL_ALGO set by environment to Ring" in text
    assert "NCCL_TESTS" not in text


def test_under_a_split_each_rank_tells_of_its_own_communicator_and_gpu() -> None:
    ran = Ran(PAIR, (8, 8), (1 << 30,), (("NCCL_TESTS_SPLIT", "MOD 8"),))
    text = rank_log(cluster(), ran, "node05", 5)
    assert "rank 1 nranks 2 cudaDev 5" in text
    assert f"busId {bus(5)}" in text
    assert "node05:" in text
    assert "[5] NCCL INFO" in text
