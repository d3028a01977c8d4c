"""Other machines than the A100: what their nodes and NCCL on them say, as real ones do."""

from __future__ import annotations

import pytest

from healthcheck.edge.shipped import load_platform
from healthcheck.evaluation.transport import judge_transport
from healthcheck.model.collective import Collective
from healthcheck.model.command import CollectiveJob
from healthcheck.model.finding import CheckResult
from healthcheck.model.nccl import NcclRankLog
from healthcheck.model.verdict import Verdict
from healthcheck.parsing.nccl_log import read_nccl_log
from healthcheck.simulator.cluster import Ran, SimCluster
from healthcheck.simulator.faults import parse_fault
from healthcheck.simulator.gpu_names import gpu_model
from healthcheck.simulator.nccl_log import rank_log
from healthcheck.simulator.nics import address, device_names
from healthcheck.simulator.nodes import PARTS

H100, GB200, P4D, P5EN = (
    "h100-sxm5-8gpu-8x400",
    "gb200-4gpu-4x400",
    "a100-sxm4-8gpu-4x100-efa",
    "h200-sxm5-8gpu-16x200-efa",
)
SIZES = (1 << 30,)
RING = (("NCCL_ALGO", "Ring"),)


def cluster(name: str, *faults: str, seed: int = 0) -> SimCluster:
    return SimCluster(3, load_platform(name)[0], seed, [parse_fault(fault) for fault in faults])


def logs(
    sim: SimCluster, *hosts: str, gpus: int | None = None, env: tuple[tuple[str, str], ...] = ()
) -> list[NcclRankLog]:
    """Of all ranks of a job on these hosts."""
    each = sim.platform.gpu.count if gpus is None else gpus
    ran = Ran(hosts, (each,) * len(hosts), SIZES, env)
    return [
        read_nccl_log(rank_log(sim, ran, host, local).splitlines(keepends=True))
        for host in hosts
        for local in range(each)
    ]


def judged(sim: SimCluster, *hosts: str) -> list[CheckResult]:
    count = sim.platform.gpu.count
    job = CollectiveJob(
        id="j",
        stage="multi_node",
        collective=Collective.ALL_REDUCE,
        hosts=hosts,
        ranks_per_host=(count,) * len(hosts),
        launch_host=hosts[0],
        min_bytes=SIZES[0],
        max_bytes=SIZES[0],
        factor=2,
        iterations=20,
        warmup=5,
        check=True,
        timeout_s=60.0,
    )
    return list(judge_transport(job, logs(sim, *hosts), sim.platform, hosts))


@pytest.mark.parametrize(
    ("platform", "name"),
    [
        ("v100-sxm2-8gpu-4x100", "Tesla V100-SXM2-"),
        (H100, "NVIDIA H100 80GB HBM3"),
        ("h100-pcie-8gpu", "NVIDIA H100 PCIe"),
        ("l40s-8gpu", "NVIDIA L40S"),
        ("b200-sxm6-8gpu-8x400", "NVIDIA B200"),
        (GB200, "NVIDIA GB200"),
    ],
)
def test_gpus_are_called_what_nvidia_smi_calls_them(platform: str, name: str) -> None:
    assert gpu_model(load_platform(platform)[0]).startswith(name)


@pytest.mark.parametrize(
    ("platform", "row"),
    [
        (H100, "GPU0 X NV18 NV18 NV18 NV18 NV18 NV18 NV18 PIX PIX NODE NODE SYS"),
        ("a100-sxm4-4gpu-4x200", "GPU0 X NV4 NV4 NV4 PXB PXB"),
        ("v100-sxm2-8gpu-4x100", "GPU0 X NV1 NV1 NV2 NV2 SYS SYS SYS PXB"),
        ("a100-pcie-4gpu-bridged", "GPU0 X NV12 SYS SYS 0-63"),
        ("l40s-8gpu", "GPU0 X PIX NODE NODE SYS SYS SYS SYS 0-63"),
        (GB200, "GPU0 X NV18 NV18 NV18 NODE"),
    ],
)
def test_the_matrix_is_that_of_the_machine(platform: str, row: str) -> None:
    sim = cluster(platform)
    printed = PARTS["topology"](sim, sim.nodes["node01"], "").splitlines()[1]
    assert " ".join(printed.split()).startswith(row)


def test_adapters_of_amazon_have_their_names_and_no_two_one_place() -> None:
    p4d, p5en = (load_platform(name)[0].nics for name in (P4D, P5EN))
    assert device_names(p4d) == ("rdmap16s27", "rdmap32s27", "rdmap144s27", "rdmap160s27")
    assert address(p4d, 0) == "0000:10:1b.0"
    for nics in (p4d, p5en, load_platform("h100-sxm5-8gpu-32x100-efa")[0].nics):
        assert len(set(device_names(nics))) == len({address(nics, at) for at in range(nics.count)}) == nics.count


@pytest.mark.parametrize("seed", range(3))
def test_hopper_lets_its_switches_add_up_and_says_when_it_cannot(seed: int) -> None:
    sim = cluster(H100, "node02:nvls=off", seed=seed)
    well, off, beside = (logs(sim, *hosts)[0] for hosts in (["node01"], ["node02"], ["node01", "node02"]))
    assert (well.nvls, off.nvls, beside.nvls) == (True, False, True)
    assert [log.algorithms[0].algorithm for log in (well, off, beside)] == ["NVLS", "RING", "RING"]
    together = ("node01", "node03")
    assert logs(sim, *together)[0].algorithms[0].algorithm == "NVLS_TREE"
    assert logs(sim, *together, env=RING)[0].algorithms[0].algorithm == "RING"
    assert logs(sim, "node01", gpus=4)[0].algorithms[0].algorithm == "RING"


def test_over_efa_the_plugin_carries_the_data_and_no_card_of_infiniband_is_named() -> None:
    seen = logs(cluster(P4D), "node01", "node02")[0]
    assert (seen.network, seen.network_plugin, seen.nics) == ("AWS Libfabric", "OFI efa", ())
    assert seen.links_of("NET/AWS Libfabric/GDRDMA") == seen.links_of("NET") > 0
    lost = logs(cluster(P4D, "node01:socket"), "node01", "node02")[0]
    assert (lost.network, lost.no_nics) == ("Socket", True)


def test_cards_on_pcie_reach_their_neighbour_and_the_others_through_host_memory() -> None:
    inside = logs(cluster("l40s-8gpu"), "node01")
    assert {log.max_bw_gbyte_s for log in inside} == {24.0}
    assert all(log.links_of("P2P") > 0 and log.links_of("SHM") == 0 for log in inside[::2])
    assert all(log.links_of("SHM") > 0 and log.links_of("P2P") == 0 for log in inside[1::2])
    assert all(log.links_of("SHM") == 0 for log in logs(cluster("a100-pcie-2gpu-bridged"), "node01"))


def test_the_ring_of_the_cube_goes_from_neighbour_to_neighbour() -> None:
    assert all(
        log.links_of("SHM") == 0 < log.links_of("P2P") for log in logs(cluster("v100-sxm2-8gpu-4x100"), "node01")
    )


def test_trays_of_a_rack_are_joined_by_nvlink() -> None:
    seen = logs(cluster(GB200), "node01", "node02")
    assert sum(log.links_of("P2P/MNNVL") for log in seen) > 0
    assert all(log.links_of("NET") == 0 and log.nvls for log in seen)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "name", [H100, GB200, P4D, P5EN, "l40s-8gpu", "a100-pcie-2gpu-bridged", "v100-sxm2-8gpu-1x100"]
)
def test_healthy_logs_speak_for_every_way(name: str, seed: int) -> None:
    sim = cluster(name, seed=seed)
    for hosts in (("node01",), ("node01", "node02")):
        assert [result for result in judged(sim, *hosts) if result.verdict is not Verdict.PASS] == []
