"""Whole logs, and what launchers, terminals and crashes make of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from healthcheck.model.nccl import MOST_WARNINGS, NcclRankLog
from healthcheck.parsing.nccl_log import read_nccl_log, read_nccl_logs
from tests.unit.parsing.captures import FIXTURES, nccl_capture

LOGS = FIXTURES / "nccl_log"
INFO = "gpu-01:4011:4058 [0] NCCL INFO "
WARN = "gpu-01:4011:4058 [0] transport/net_ib.cc:1295 NCCL WARN "


def whole(name: str) -> NcclRankLog:
    """One log of the fixtures."""
    return read_nccl_log((LOGS / f"{name}.log").read_text().splitlines(keepends=True))


def test_a_healthy_rank_of_2_8() -> None:
    log = whole("v2.8.4-two-nodes")
    assert (log.host, log.pid, log.rank, log.n_ranks, log.version) == ("gpu-01", 4011, 0, 16, "2.8.4")
    assert (log.network, len(log.nics), log.rings) == ("IB", 8, 16)
    assert log.links == (("NET/IB/GDRDMA", 4), ("P2P/IPC", 4))
    assert {one.hca for one in log.gdr_distances if not one.near} == {4, 5}
    assert log.nvls is None and log.gdr_flag is None  # 2.8 knows nothing of either


def test_a_rank_of_2_18_without_gpudirect() -> None:
    log = whole("v2.18.3-gdr-off")
    assert log.links == (("NET/IB", 4), ("P2P/IPC", 2))
    assert not any(hca.enabled for hca in log.gdr_hcas) and len(log.gdr_hcas) == 8
    assert log.quote("gdr_off") == "gpu-02:7120:7188 [3] NCCL INFO NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0'"
    assert log.quote("nothing said") is None


def test_a_rank_of_2_21_that_fell_back_to_tcp() -> None:
    log = whole("v2.21.5-socket")
    assert (log.network, log.no_nics, log.nics, log.n_nodes) == ("Socket", True, (), 1)
    assert (log.links_of("P2P"), log.links_of("NET"), log.rank) == (24, 0, 5)


def test_a_rank_of_2_27_on_hopper() -> None:
    log = whole("v2.27.5-h100-two-nodes")
    assert (log.nvls, log.gdr_flag, log.dmabuf, log.n_nodes) == (True, True, True, 2)
    assert log.links_of("NET/IB") == 16 and log.net_pairs == ((1, 8), (8, 0))
    assert log.loopback_net == 0


def test_a_rank_of_2_30_over_its_own_nics_until_a_port_broke() -> None:
    log = whole("v2.30.1-loopback-and-broken")
    assert log.loopback_net == 4
    assert [nic.speed_mbit_s for nic in log.nics][1:4] == [200000, 100000, 200000]
    first, *rest = log.warnings
    assert (first.at, first.rank, first.host, first.secondary) == ("2026-02-03 04:05:06.789", 0, "gpu-05", False)
    assert first.source_file == "transport/net_ib/p2p.cc:412" and "IBV_WC_RETRY_EXC_ERR(12)" in first.text
    assert all(warning.secondary for warning in rest) and len(rest) == 3


def test_the_capture_of_a_benchmark_with_its_log_on_stdout() -> None:
    logs = read_nccl_logs(nccl_capture("v2.17.10-mpi-nccl-debug-info").stdout.splitlines(keepends=True))
    assert [(log.host, log.pid, log.rank) for log in logs] == [
        ("nodeA", 24623, 0),
        ("nodeB", 24622, 2),
        ("nodeA", 24624, 1),
        ("nodeB", 24625, 3),
    ]
    assert all(log.n_ranks == 4 and log.init_complete for log in logs)
    # `NCCL version` stands there without a process: it is the one rank 0 loaded.
    assert [log.version for log in logs] == ["2.32.3", None, None, None]


@pytest.mark.parametrize(
    "tag",
    ["", "[1,3]<stdout>:", "[1,3]<stderr>: ", "3: ", "gpu-01: ", "[3] ", "2026-01-02T03:04:05.678Z ", "\x1b[33m", "> "],
)
def test_tags_of_launchers_and_terminals_change_nothing(tag: str) -> None:
    plain = (LOGS / "v2.18.3-gdr-off.log").read_text()
    log = read_nccl_log([f"{tag}{line}\n" for line in plain.splitlines()])
    bare = whole("v2.18.3-gdr-off")
    assert (log.host, log.pid, log.rank, log.links) == (bare.host, bare.pid, bare.rank, bare.links)
    assert log.version == "2.18.3"


def test_a_time_in_front_of_a_tag_belongs_to_the_warning() -> None:
    log = read_nccl_log([f"[1,3]<stdout>:[2024-05-01 10:00:00] {WARN}Call to ibv_reg_mr failed\n", f"{WARN}later\n"])
    assert [warning.at for warning in log.warnings] == ["2024-05-01 10:00:00", None]


def test_other_names_of_the_same_line_end() -> None:
    text = (LOGS / "v2.8.4-two-nodes.log").read_text()
    bare = whole("v2.8.4-two-nodes")
    assert read_nccl_log(text.replace("\n", "\r\n").splitlines(keepends=True)).links == bare.links
    assert read_nccl_log(text.splitlines()) == bare  # lines that lost their ends, all of them
    utf_16 = text.encode("utf-16-le").decode("latin-1").splitlines(keepends=True)
    assert read_nccl_log(utf_16).links == bare.links


def test_a_last_line_without_its_end_was_cut_and_says_nothing() -> None:
    log = read_nccl_log([f"{INFO}Using network IB\n", f"{INFO}NCCL_IB_DISABLE set by environment to 1"])
    assert log.network == "IB" and not log.settings
    assert read_nccl_log([f"{INFO}comm 0x1 rank 1 nranks 1"]).rank is None


def test_a_line_two_processes_wrote_into_belongs_to_nobody() -> None:
    log = read_nccl_log([f"{INFO}Channel 00/0 : 0[0] -> 1[0] via {INFO}SHM/direct/direct\n"])
    assert log.links == ()


@pytest.mark.parametrize(
    "text", ["", "\n", " NCCL INFO \n", "x NCCL INFO Using network IB\n", ":1:2 [0] NCCL INFO x\n"]
)
def test_nothing_of_ncl_is_an_empty_log(text: str) -> None:
    assert read_nccl_log(text.splitlines(keepends=True), host="gpu-09") == NcclRankLog("gpu-09")
    assert read_nccl_logs(text.splitlines(keepends=True)) == ()


@pytest.mark.parametrize(
    ("said", "network"),
    [
        (("Initialized NET plugin IB", "Initialized NET plugin Socket"), "Socket"),
        (("Using network IB", "Using network Socket"), "Socket"),
        (("Using network Socket", "Initialized NET plugin IB"), "Socket"),
        (("Initialized NET plugin Socket", "Using network IB"), "IB"),
        (("Assigned NET plugin Socket to comm", "Using network IB"), "Socket"),
        (("Using network IB", "Assigned NET plugin Socket to comm"), "Socket"),
        (("Assigned NET plugin IB to comm", "Assigned NET plugin Socket to comm"), "Socket"),
    ],
)
def test_the_network_is_the_last_word_of_the_most_telling_line(said: tuple[str, ...], network: str) -> None:
    log = read_nccl_log([f"{INFO}{message}\n" for message in said])
    assert log.network == network and network in (log.quote("network") or "")


def test_one_gpu_of_a_process_without_multicast_is_enough() -> None:
    lines = [f"{INFO}NVLS multicast support is {no}available on dev {dev}\n" for dev, no in enumerate(("", "not ", ""))]
    log = read_nccl_log(lines)
    assert log.nvls is False and "not available on dev 1" in (log.quote("nvls") or "")


@pytest.mark.parametrize(
    "text",
    [
        "socketProgress: Connection closed by remote peer gpu-02<41234>",
        "NET/IB : Got completion from peer 10.0.0.2<1> with error 5, opcode 0, len 0, vendor err 249",
        "NET/IB : Got completion from peer 10.0.0.2<1> with status=5 opcode=0 len=0 vendor err 249",
        "NET/IB: Got completion from peer 10.0.0.2<1> with status=IBV_WC_WR_FLUSH_ERR(5) opcode=0 vendor_err=249",
        "unhandled system error (run with NCCL_DEBUG=INFO for details)",
        "Failed to execute operation Connect from rank 3, retcode 2",
        "HINT: ACS may be enabled",
    ],
)
def test_what_follows_from_another_fault_is_marked(text: str) -> None:
    assert [warning.secondary for warning in read_nccl_log([f"{WARN}{text}\n"]).warnings] == [True]


@pytest.mark.parametrize(
    "text",
    [
        "NET/IB : Got completion from peer 10.0.0.2<1> with error 12, opcode 0, len 0, vendor err 129",
        "NET/IB : Got completion from peer 10.0.0.2<1> with status=12 opcode=0 len=0 vendor err 129",
        "NET/IB: Got completion from peer 10.0.0.2<1> with status=IBV_WC_RETRY_EXC_ERR(12) opcode=0 vendor_err=129",
        "Call to ibv_modify_qp failed with error Connection timed out",
        "Cuda failure 802 'system not yet initialized'",
    ],
)
def test_what_broke_is_not(text: str) -> None:
    (warning,) = read_nccl_log([f"{WARN}{text}\n"]).warnings
    assert not warning.secondary and warning.text == text


def test_a_failed_transfer_counts_where_it_is_only_info() -> None:
    (warning,) = read_nccl_log(
        [f"{INFO}NET/IB : Got completion from peer 10.0.0.2<1> with status=12 opcode=0\n"]
    ).warnings
    assert not warning.secondary


def test_the_first_warnings_are_kept_each_once() -> None:
    lines = [f"{WARN}port {n // 2} broke\n" for n in range(4 * MOST_WARNINGS)]
    log = read_nccl_log(lines)
    assert [warning.text for warning in log.warnings] == [f"port {n} broke" for n in range(MOST_WARNINGS)]


def test_a_trace_does_not_crowd_out_the_warning_behind_it() -> None:
    trace = [f"{INFO}proxy.cc:{n} -> 2\n" for n in range(1000)]
    log = read_nccl_log([*trace, f"{WARN}the root\n"])
    assert log.warnings[-1].text == "the root" and len(log.warnings) < 50


def hostile() -> Iterator[str]:
    """Much of everything that could be kept."""
    for n in range(60_000):
        yield f"h{n}:{n}:1 [0] NCCL INFO Using network IB\n"
        yield f"{INFO}Channel 0/0 : {n}[0] -> {n + 1}[0] via NET/x{n}/0\n"
        yield f"{INFO}NCCL_X{n} set by environment to {n}\n"
        yield f"{INFO}AllReduce: {n} Bytes -> Algo 1 proto 1 time 1\n"
        yield f"{INFO}GPU Direct RDMA Enabled for GPU {n} / HCA 1 (distance 4 <= 4), read 1\n"
        yield f"{WARN}{n}\n"


def test_what_is_kept_of_endless_variety_is_bounded() -> None:
    logs = read_nccl_logs(hostile())
    assert len(logs) <= 1 << 14
    for log in logs:
        kept = (log.links, log.net_pairs, log.settings, log.algorithms, log.gdr_distances, log.warnings, log.quotes)
        assert max(map(len, kept)) <= 512


def test_garbage_of_any_kind_is_read_to_its_end(tmp_path: Path) -> None:
    noise = bytes(range(256)) * 40
    text = (noise + b"\n" + f"{INFO}Using network IB\n".encode() + noise).decode("utf-8", "replace")
    assert read_nccl_log(text.splitlines(keepends=True)).network == "IB"
    assert read_nccl_log(["[" * 200_000 + " NCCL INFO x\n", ":" * 200_000 + " NCCL WARN x\n"]).warnings == ()
