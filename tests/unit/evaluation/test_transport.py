"""What the log of a node proves about the ways NCCL took, and what it does not."""

from __future__ import annotations

import msgspec
import pytest

from healthcheck.evaluation.rank_hosts import ranks_by_host
from healthcheck.evaluation.transport import judge_transport, nccl_version_by_host
from healthcheck.model.command import CollectiveJob
from healthcheck.model.platform import Platform
from healthcheck.model.verdict import Verdict
from healthcheck.parsing.nccl_log import read_nccl_log
from tests.unit.evaluation.builders import job
from tests.unit.evaluation.nccl_nodes import (
    A100,
    DONE,
    FEW_NICS,
    H100,
    HEALTHY,
    MULTI,
    NICS,
    P2P,
    PCIE,
    SINGLE,
    judged,
    log,
    without,
)
from tests.unit.parsing.captures import FIXTURES


def test_a_healthy_node_passes_everything_without_a_word_of_evidence() -> None:
    found = judged(*HEALTHY)
    assert set(found) == {"nccl.transport", "nccl.gdr", "nccl.nics", "nccl.p2p", "nccl.settings"}
    assert all(result.verdict is Verdict.PASS and not result.evidence for result in found.values())


def test_a_log_that_says_nothing_proves_nothing() -> None:
    assert judged("Trees [0] 1/-1/-1->0->-1") == {}


@pytest.mark.parametrize("of", [SINGLE, MULTI])
def test_tcp_where_infiniband_is_fails_whatever_the_number_says(of: CollectiveJob) -> None:
    found = judged("NET/IB : No device found.", "Using network Socket", P2P, DONE, of=of)
    result = found["nccl.transport"]
    assert (result.verdict, result.rule) == (Verdict.FAIL, "transport.socket")
    assert [line.text.partition("INFO ")[2] for line in result.evidence] == [
        "NET/IB : No device found.",
        "Using network Socket",
    ]
    assert "nccl.gdr" not in found and "nccl.nics" not in found  # they would say the same thing again


FELL_BACK = (
    "Initialized NET plugin IB",
    "Initialized NET plugin Socket",
    "Assigned NET plugin Socket to comm",
    "Using network Socket",
)


@pytest.mark.parametrize("of", [SINGLE, MULTI])
def test_the_network_that_is_used_counts_and_not_the_one_tried_first(of: CollectiveJob) -> None:
    result = judged(NICS, *FELL_BACK, P2P, DONE, of=of)["nccl.transport"]
    assert (result.verdict, result.rule) == (Verdict.FAIL, "transport.socket")
    assert [line.text.partition("INFO ")[2] for line in result.evidence] == ["Initialized NET plugin Socket"]


@pytest.mark.parametrize("network", ["Using network IB", "Assigned NET plugin IB to comm", "Trees [0] -1->0->1"])
def test_connections_over_sockets_are_tcp_whatever_was_announced(network: str) -> None:
    over_tcp = "Channel 00/0 : 0[0] -> 8[0] [send] via NET/Socket/0"
    result = judged(NICS, network, over_tcp, P2P, DONE)["nccl.transport"]
    assert (result.verdict, result.rule) == (Verdict.FAIL, "transport.socket")
    assert [line.text.partition("INFO ")[2] for line in result.evidence] == [over_tcp]
    assert "Socket" in str(result.message)


def test_a_fallback_that_was_initialised_and_not_taken_is_no_fallback() -> None:
    taken = ("Initialized NET plugin Socket", "Initialized NET plugin IB", "Assigned NET plugin IB to comm")
    for lines in (taken, (*taken[:2], "Using network IB"), (*taken, "Initialized NET plugin Socket")):
        assert judged(NICS, *lines, P2P, DONE)["nccl.transport"].verdict is Verdict.PASS


@pytest.mark.parametrize("network", ["AWS Libfabric", "FasTrak", "IBext_v8", "gIB", "IB"])
def test_networks_of_clouds_count_as_rdma(network: str) -> None:
    assert judged(f"Using network {network}")["nccl.transport"].verdict is Verdict.PASS


def test_libfabric_over_tcp_is_tcp() -> None:
    found = judged("NET/OFI Selected Provider is tcp;ofi_rxm", "Using network AWS Libfabric")
    assert found["nccl.transport"].rule == "transport.socket"
    loaded = "NET/Plugin: Loaded net plugin AWS Libfabric (v8)"
    found = judged(loaded, "NET/OFI Selected Provider is tcp", "Using network AWS Libfabric")
    assert found["nccl.transport"].rule == "transport.socket"
    for network in ("AWS Libfabric", "IB"):
        provider = "efa" if network == "AWS Libfabric" else "tcp"
        found = judged(f"NET/OFI Selected Provider is {provider}", f"Using network {network}")
        assert found["nccl.transport"].rule == "transport.rdma"


def test_tcp_is_no_fault_where_nobody_promised_more() -> None:
    plain = msgspec.structs.replace(A100, nics=msgspec.structs.replace(A100.nics, count=0))
    assert "nccl.transport" not in judged("Using network Socket", platform=plain)
    assert "nccl.transport" not in judged("Using network Socket", platform=None)


def test_data_between_gpus_of_one_node_over_the_nics_fails() -> None:
    inside = "Channel 00/0 : 3[3] -> 4[4] [send] via NET/IB/0/GDRDMA"
    result = judged(*HEALTHY, inside)["nccl.transport"]
    assert (result.verdict, result.rule) == (Verdict.FAIL, "transport.loopback")
    assert [line.text.partition("INFO ")[2] for line in result.evidence] == [inside]
    # Between GPUs behind different PCIe switches NCCL takes that way by choice.
    assert judged(*HEALTHY, inside, platform=PCIE)["nccl.transport"].verdict is Verdict.PASS


def test_ranks_of_two_nodes_are_not_taken_for_one() -> None:
    assert judged(*HEALTHY, "Channel 00/0 : 7[7] -> 8[0] [send] via NET/IB/0/GDRDMA")["nccl.transport"].rule == (
        "transport.rdma"
    )


def test_ranks_placed_in_another_order_are_not_held_against_the_planned_one() -> None:
    logs = {"node01": [log(DONE.replace("rank 0", "rank 1"))], "node02": [log(DONE, host="node02")]}
    assert ranks_by_host(MULTI, logs) == {0: "node02", 1: "node01"}
    two_groups = {"node01": [log(DONE)], "node02": [log(DONE, host="node02")]}
    assert ranks_by_host(MULTI, two_groups) == {}


def test_no_gpudirect_on_any_card() -> None:
    refused = [f"NET/IB : GPU Direct RDMA Disabled for HCA {n} 'mlx5_{n}'" for n in range(8)]
    for of in (SINGLE, MULTI):
        result = judged(*without("GPU Direct", "NET/IB/0"), *refused, of=of)["nccl.gdr"]
        assert (result.verdict, result.rule) == (Verdict.DEGRADED, "gdr.off")
        assert "Disabled for HCA 0 'mlx5_0'" in result.evidence[0].text


def test_connections_without_gpudirect() -> None:
    plain = [f"Channel 0{n}/0 : 0[0] -> 8[0] [send] via NET/IB/0" for n in range(2)]
    result = judged(*without("NET/IB/0"), *plain)["nccl.gdr"]
    assert (result.verdict, result.rule) == (Verdict.DEGRADED, "gdr.off")
    assert result.evidence[0].text.endswith("via NET/IB/0")
    far = "GPU Direct RDMA Disabled for GPU 7000 / HCA 0 (distance 7 > 4)"
    assert judged(*without("GPU Direct", "NET/IB/0"), far, *plain)["nccl.gdr"].rule == "gdr.far"


def test_one_torn_line_is_no_missing_gpudirect() -> None:
    assert judged(*HEALTHY, "Channel 01/0 : 0[0] -> 8[0] [send] via NET/IB/0")["nccl.gdr"].verdict is Verdict.PASS


def test_gpus_that_share_a_nic_may_be_far_from_it() -> None:
    far = [f"GPU Direct RDMA Disabled for GPU {n}000 / HCA 0 (distance 7 > 4)" for n in range(7)]
    near = "GPU Direct RDMA Enabled for GPU 7000 / HCA 0 (distance 4 <= 4), read 1"
    plain = [f"Channel 0{n}/0 : 0[0] -> 8[0] [send] via NET/IB/0" for n in range(4)]
    one = ["NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB eth0:10.0.0.1<0>", "Using network IB"]
    assert judged(*one, *far, near, of=SINGLE, platform=FEW_NICS)["nccl.gdr"].verdict is Verdict.PASS
    assert judged(*one, *far, of=SINGLE, platform=FEW_NICS)["nccl.gdr"].rule == "gdr.far"
    assert judged(*one, *far, near, of=SINGLE)["nccl.gdr"].rule == "gdr.far"
    with_gdr = "Channel 00/0 : 7[7] -> 8[0] [send] via NET/IB/0/GDRDMA"
    assert judged(*one, *plain, with_gdr, platform=FEW_NICS)["nccl.gdr"].verdict is Verdict.PASS
    assert judged(*one, *plain, platform=FEW_NICS)["nccl.gdr"].rule == "gdr.off"


def test_every_gpu_is_far_from_some_nics() -> None:
    lines = [f"GPU Direct RDMA Disabled for GPU 7000 / HCA {n} (distance 7 > 4)" for n in range(1, 8)]
    near = "GPU Direct RDMA Enabled for GPU 7000 / HCA 0 (distance 4 <= 4), read 1"
    assert judged(*without("GPU Direct"), *lines, near)["nccl.gdr"].verdict is Verdict.PASS


def test_storage_ports_without_gpudirect_are_no_finding() -> None:
    more = "NET/IB : GPU Direct RDMA Disabled for HCA 8 'mlx5_8'"
    assert judged(*HEALTHY, more, of=SINGLE)["nccl.gdr"].verdict is Verdict.PASS


def test_the_flag_behind_the_rings_counts_only_between_nodes() -> None:
    lines = (*without("GPU Direct", "NET/IB/0"), "Connected all rings, use ring PXN 0 GDR 0")
    assert judged(*lines)["nccl.gdr"].rule == "gdr.off"
    assert "nccl.gdr" not in judged(*lines, of=SINGLE)


def test_fewer_nics_than_promised_and_more() -> None:
    fewer = NICS.replace("[7]mlx5_7:1/IB ", "")
    result = judged(*without("Using"), fewer, "Using network IB")["nccl.nics"]
    assert (result.verdict, result.rule) == (Verdict.DEGRADED, "nics.fewer")
    assert "7 of 8" in str(result.message)
    more = NICS.replace(" [RO]", " [8]mlx5_8:1/IB [9]mlx5_9:1/RoCE [RO]")
    assert judged(*without("Using"), more, "Using network IB")["nccl.nics"].verdict is Verdict.PASS
    other = fewer.replace(" [RO]", " [7]mlx5_9:1/RoCE [RO]")  # a storage port of the other kind fills no gap
    assert judged(*without("Using"), other, "Using network IB")["nccl.nics"].rule == "nics.fewer"
    assert "nccl.nics" not in judged(*without("Using"), fewer.partition("; OOB")[0], "Using network IB")


@pytest.mark.parametrize("via", ["direct shared memory", "SHM/direct/direct", "SHM/direct"])
def test_host_memory_between_gpus_with_nvlink_fails(via: str) -> None:
    line = f"Channel 00/0 : 0[0] -> 1[1] via {via}"
    result = judged(*HEALTHY, line)["nccl.p2p"]
    assert (result.verdict, result.rule) == (Verdict.FAIL, "p2p.shm")
    assert result.evidence[0].text.endswith(via)
    assert "nccl.p2p" not in judged(*HEALTHY, line, platform=PCIE)
    assert "nccl.p2p" not in judged(*HEALTHY, line, platform=None)


def test_gpus_that_reach_each_other_only_over_pcie_fail() -> None:
    slow = (*without("maxBw"), "=== System : maxBw 24.0 totalBw 24.0 ===")
    assert judged(*slow)["nccl.p2p"].rule == "p2p.pcie"
    # With one GPU a node the best path there is leads to the NIC.
    assert "nccl.p2p" not in judged(*slow, of=job(2, ranks=1))


def test_nvls_is_asked_for_only_where_it_exists() -> None:
    assert "nccl.nvls" not in judged(*HEALTHY)
    result = judged(*HEALTHY, platform=H100)["nccl.nvls"]
    assert (result.verdict, result.rule) == (Verdict.DEGRADED, "nvls.off")
    on = (*without("NVLS"), "NVLS multicast support is available on dev 0 (NVLS_NCHANNELS 16)")
    assert judged(*on, platform=H100)["nccl.nvls"].verdict is Verdict.PASS
    assert "nccl.nvls" not in judged(*without("NVLS"), platform=H100)
    for name in ("NVIDIA H100 PCIe", "NVIDIA H100 NVL"):
        cards = msgspec.structs.replace(H100, gpu=msgspec.structs.replace(H100.gpu, names=(name,)))
        assert "nccl.nvls" not in judged(*HEALTHY, platform=cards)
    small = msgspec.structs.replace(H100, gpu=msgspec.structs.replace(H100.gpu, count=4))
    assert "nccl.nvls" not in judged(*HEALTHY, platform=small)  # a board without switches


def test_what_the_run_asked_for_is_not_held_against_the_node() -> None:
    found = judged("Using network Socket", of=SINGLE, sets="NCCL_IB_DISABLE")["nccl.transport"]
    assert (found.verdict, found.rule) == (Verdict.SKIPPED, "transport.as_asked")
    assert "NCCL_IB_DISABLE" in str(found.message)
    assert judged(*HEALTHY, sets="NCCL_IB_DISABLE")["nccl.transport"].verdict is Verdict.PASS


def test_logs_of_hosts_that_are_not_of_the_job_count_for_nobody() -> None:
    assert judge_transport(MULTI, [log(*HEALTHY, host="elsewhere")], A100) == ()


def test_a_node_without_a_log_is_named_only_where_one_was_expected() -> None:
    assert {str(one.component) for one in judge_transport(MULTI, [log(*HEALTHY)], A100)} == {"node01"}
    (missing,) = (
        one
        for one in judge_transport(MULTI, [log(*HEALTHY)], A100, expected_hosts=MULTI.hosts)
        if str(one.component) == "node02"
    )
    assert (missing.verdict, missing.rule) == (Verdict.SKIPPED, "unseen.no_log")
    assert missing.message.args["hides"]


def test_all_ranks_of_a_node_make_one_result() -> None:
    good, bad = log(*HEALTHY), log(*HEALTHY, "Channel 00/0 : 3[3] -> 2[2] via SHM/direct/direct")
    found = judge_transport(MULTI, [good, bad, good], A100)
    assert [one.rule for one in found if one.check == "nccl.p2p"] == ["p2p.shm"]


def test_versions_by_host_for_the_comparison_over_the_fleet() -> None:
    logs = [log(*HEALTHY), log(*HEALTHY), log("NCCL version 2.18.3+cuda12.2", host="n2"), log("x", host="n3")]
    assert nccl_version_by_host(logs) == (("n2", "2.18.3"), ("node01", "2.21.5"))


@pytest.mark.parametrize(
    ("name", "of", "platform", "rules"),
    [
        ("v2.8.4-two-nodes", MULTI, A100, set()),
        ("v2.18.3-gdr-off", MULTI, A100, {"gdr.off"}),
        ("v2.21.5-socket", SINGLE, A100, {"transport.socket"}),
        ("v2.27.5-h100-two-nodes", MULTI, H100, set()),
        ("v2.30.1-loopback-and-broken", SINGLE, A100, {"transport.loopback", "settings.p2p_disable"}),
    ],
)
def test_whole_logs_of_five_versions(name: str, of: CollectiveJob, platform: Platform, rules: set[str]) -> None:
    with (FIXTURES / "nccl_log" / f"{name}.log").open() as lines:
        found = judge_transport(of, [msgspec.structs.replace(read_nccl_log(lines), host="node01")], platform)
    assert {one.rule for one in found if one.verdict > Verdict.PASS} == rules
