"""The NCCL log of a simulated rank: what our own reader makes of it, version by version and fault by fault."""

from __future__ import annotations

import pytest

from healthcheck.edge.shipped import load_platform
from healthcheck.launchers.rank_log import (
    ALL,
    LOWEST_PID,
    NONE,
    Taken,
    folders_of_job,
    rank_words,
    read_taken,
    take_argv,
)
from healthcheck.model.nccl import NcclRankLog
from healthcheck.parsing.nccl_log import read_nccl_log
from healthcheck.simulator.answers import answer
from healthcheck.simulator.cluster import Ran, SimCluster
from healthcheck.simulator.faults import parse_fault
from healthcheck.simulator.generations import of_nccl
from healthcheck.simulator.nccl_log import main, rank_log
from healthcheck.simulator.nccl_wording import WORDINGS, wording_of
from tests.unit.simulator.sim import A100, mpirun

VERSIONS = ("2.16.5", "2.21.5", "2.27.5")
HOSTS = ("node01", "node02", "node03")
SIZES = (1 << 30, 2 << 30)


def log(
    version: str,
    host: str = "node02",
    local_rank: int = 0,
    *faults: str,
    hosts: tuple[str, ...] = HOSTS,
    platform: str = "a100-sxm4-8gpu-8x200",
    env: tuple[tuple[str, str], ...] = (),
) -> str:
    planted = [parse_fault(text) for text in faults]
    model, _ = load_platform(platform)
    cluster = SimCluster(3, model, faults=planted, generation=of_nccl(version))
    return rank_log(cluster, Ran(hosts, (8,) * len(hosts), SIZES, env), host, local_rank)


def read(text: str) -> NcclRankLog:
    return read_nccl_log(text.splitlines(keepends=True))


@pytest.mark.parametrize("version", VERSIONS)
def test_a_healthy_rank_between_nodes_takes_infiniband_with_gpudirect(version: str) -> None:
    text = log(version, "node01")
    seen = read(text)
    assert 80 <= text.count("\n") <= 200
    assert (seen.host, seen.rank, seen.n_ranks, seen.version) == ("node01", 0, 24, version)
    assert (seen.network, seen.bootstrap, seen.no_nics) == ("IB", "eth0", False)
    assert [nic.device for nic in seen.nics] == [f"mlx5_{index}" for index in range(8)]
    assert len(seen.gdr_hcas) == 8 and all(hca.enabled for hca in seen.gdr_hcas)
    assert seen.gdr_distances and all(distance.near for distance in seen.gdr_distances)
    assert seen.links_of("NET/IB/GDRDMA") == seen.links_of("NET/IB") == seen.links_of("NET") > 0
    assert seen.links_of("P2P") > 0 and seen.links_of("SHM") == 0
    assert (seen.rings, seen.max_bw_gbyte_s) == (16, 240.0)
    assert [(one.size_bytes, one.algorithm) for one in seen.algorithms] == [(size, "RING") for size in SIZES]
    assert seen.init_complete and seen.warnings == ()
    assert seen.nvls is (None if version < "2.17" else False)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("platform", "nics"), [("a100-sxm4-8gpu-8x200", 8), ("a100-sxm4-8gpu-4x200", 4), ("a100-sxm4-8gpu-1x200", 1)]
)
def test_every_ring_enters_and_leaves_a_node_once_and_both_ends_say_the_same(
    version: str, platform: str, nics: int
) -> None:
    logs = {(host, local): read(log(version, host, local, platform=platform)) for host in HOSTS for local in range(8)}
    for host in HOSTS:
        assert sum(logs[host, local].links_of("NET/IB/GDRDMA") for local in range(8)) == 2 * 2 * nics
        assert sum(logs[host, local].links_of("P2P") for local in range(8)) == 2 * nics * 7
    sent = sorted(pair for seen in logs.values() for pair in seen.net_pairs if pair[0] == seen.rank)
    received = sorted(pair for seen in logs.values() for pair in seen.net_pairs if pair[1] == seen.rank)
    assert sent == received and all(a // 8 != b // 8 for a, b in sent)


@pytest.mark.parametrize("version", VERSIONS)
def test_alone_a_node_uses_nvlink_only(version: str) -> None:
    seen = read(log(version, "node02", 3, hosts=("node02",)))
    assert seen.links_of("NET") == 0 and seen.links_of("P2P") == 24
    assert (seen.rank, seen.n_ranks) == (3, 8)
    assert seen.init_complete and seen.version is None
    assert read(log(version, "node02", 0, hosts=("node02",))).rings == 24


@pytest.mark.parametrize("version", VERSIONS)
def test_over_tcp_the_node_says_so_and_its_neighbours_have_their_cards(version: str) -> None:
    sick = [read(log(version, "node02", local, "node02:socket")) for local in range(8)]
    assert all(seen.no_nics and seen.network == "Socket" and not seen.nics for seen in sick)
    assert sum(seen.links_of("NET/Socket") for seen in sick) == 4
    assert not any(seen.links_of("NET/IB") for seen in sick)
    well = read(log(version, "node03", 0, "node02:socket"))
    assert well.network == "IB" and len(well.nics) == 8 and well.links_of("NET/Socket") == 0


@pytest.mark.parametrize("version", VERSIONS)
def test_without_gpudirect_every_card_of_the_node_says_so(version: str) -> None:
    seen = read(log(version, "node02", 0, "node02:gdr=off"))
    assert len(seen.gdr_hcas) == 8 and not any(hca.enabled for hca in seen.gdr_hcas)
    assert seen.links_of("NET/IB") > 0 and seen.links_of("NET/IB/GDRDMA") == 0
    assert not seen.dmabuf and not seen.gdr_distances
    well = read(log(version, "node01", 0, "node02:gdr=off"))
    assert all(hca.enabled for hca in well.gdr_hcas) and well.links_of("NET/IB/GDRDMA") == well.links_of("NET/IB")


def test_a_port_that_is_down_is_missing_and_the_others_move_up() -> None:
    seen = read(log("2.21.5", "node02", 0, "node02:hca=mlx5_2,down"))
    assert [nic.device for nic in seen.nics] == [f"mlx5_{index}" for index in (0, 1, 3, 4, 5, 6, 7)]
    assert read(log("2.21.5", "node01", 0, "node02:hca=mlx5_2,down")).rings == 14


@pytest.mark.parametrize("version", VERSIONS)
def test_the_log_of_a_hanging_node_ends_before_it_is_ready(version: str) -> None:
    hung, waiting = (read(log(version, host, 0, "node02:hang")) for host in ("node02", "node01"))
    assert not hung.init_complete and hung.links == () and len(hung.nics) == 8
    assert hung.rank == (None if version < "2.17" else 8)  # older ones tell their rank when they are ready
    assert waiting.init_complete


@pytest.mark.parametrize("fault", ["node02:corrupt", "node02:nvlink=0.5", "node02:driver=535.54.03"])
def test_what_nccl_cannot_see_leaves_no_trace(fault: str) -> None:
    assert log("2.21.5", "node02", 0, fault) == log("2.21.5", "node02", 0)


def test_variables_of_the_job_are_told_and_those_about_the_log_are_not() -> None:
    env = (
        ("NCCL_IB_TIMEOUT", "22"),
        ("NCCL_SOCKET_IFNAME", "eth0"),
        ("NCCL_DEBUG", "INFO"),
        ("HEALTHCHECK_TOKEN", "t"),
    )
    seen = read(log("2.27.5", env=env))
    assert [(one.name, one.value) for one in seen.settings] == [
        ("NCCL_IB_TIMEOUT", "22"),
        ("NCCL_SOCKET_IFNAME", "eth0"),
    ]
    quiet = log("2.21.5", "node01", 0, env=(("NCCL_DEBUG", "WARN"),))
    assert quiet == "NCCL version 2.21.5+cuda12.4\n"


def test_a_version_is_worded_as_the_newest_one_known_that_is_not_newer() -> None:
    assert [wording_of(version).since for version in ((2, 8), (2, 16), (2, 20), (2, 22), (2, 30))] == [
        (2, 16),
        (2, 16),
        (2, 16),
        (2, 21),
        (2, 27),
    ]
    assert [one.since for one in WORDINGS] == sorted(one.since for one in WORDINGS)


def test_the_command_for_the_stand_in_prints_one_log(capsys: pytest.CaptureFixture[str]) -> None:
    words = "--version 2.18.3 --hosts n001,n002 --host n002 --rank 3 --ranks-per-host 2 --pid 4711 --fault n002:socket"
    assert main([*words.split(), "--", "-b", "1G", "-e", "2G", "-f", "2"]) == 0
    seen = read(capsys.readouterr().out)
    assert (seen.host, seen.pid, seen.rank, seen.n_ranks, seen.network) == ("n002", 4711, 3, 4, "Socket")
    assert main(["--version", "new", "--hosts", "a", "--host", "a", "--rank", "0"]) == 2
    assert main(["--hosts", "a", "--host", "b", "--rank", "0"]) == 2


def taken(cluster: SimCluster, host: str, job: str, which: str, limit: int = 1 << 20) -> Taken:
    named = next(one for one in cluster.hosts() if one.name == host)
    return read_taken(answer(cluster, named, take_argv("t0", job, "n", limit, which), {}).stdout, "n")


def test_a_node_gives_the_logs_of_its_last_job_once() -> None:
    cluster = SimCluster(3, A100)
    host = cluster.hosts()[1]
    line = mpirun("--host localhost:8", 8)
    at = line.index("/opt/nccl-tests/build/all_reduce_perf")
    job = (*line[:at], *rank_words("t0", "single/node02"), *line[at:])
    for which, count in ((ALL, 8), (LOWEST_PID, 1), (NONE, 0)):
        answer(cluster, host, job, {})
        given = taken(cluster, "node02", "single/node02", which)
        assert (len(given.files), given.left) == (count, 0)
        assert all(read(file.text).init_complete and file.name.startswith("nccl.node02.") for file in given.files)
        assert taken(cluster, "node02", "single/node02", ALL) == Taken((), 0)
    answer(cluster, host, job, {})
    assert taken(cluster, "node02", "another", ALL).files == ()
    answer(cluster, host, line, {})
    assert taken(cluster, "node02", "single/node02", ALL).files == ()
    assert folders_of_job("t0", "single/node02") != folders_of_job("t0", "another")


def test_a_job_whose_process_finds_no_gpu_leaves_no_log() -> None:
    cluster = SimCluster(3, A100, faults=[parse_fault("node02:gpus=7")])
    line = mpirun("--host localhost:8", 8)
    at = line.index("/opt/nccl-tests/build/all_reduce_perf")
    answer(cluster, cluster.hosts()[1], (*line[:at], *rank_words("t0", "j"), *line[at:]), {})
    assert taken(cluster, "node02", "j", ALL).files == ()
