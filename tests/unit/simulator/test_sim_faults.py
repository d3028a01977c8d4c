"""Planted faults: what is understood, and the one sentence for what is not."""

from __future__ import annotations

import pytest

from healthcheck.edge.shipped import load_platform
from healthcheck.errors import InputError
from healthcheck.simulator.faults import (
    AVAILABLE,
    BusyFault,
    CorruptFault,
    DipFault,
    DriverFault,
    Fault,
    GdrFault,
    GpusFault,
    HangFault,
    HcaFault,
    IntermittentFault,
    LeafFault,
    LinkFault,
    NoiseFault,
    NvlinkFault,
    NvlsFault,
    SlowHcaFault,
    SocketFault,
    UnreachableFault,
    parse_fault,
)
from tests.unit.simulator.sim import cluster

H100, _ = load_platform("h100-sxm5-8gpu-8x400")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("node05:hca=mlx5_2,rate=0.5", HcaFault("node05", "mlx5_2", 0.5)),
        ("node05:hca=mlx5_2,down", HcaFault("node05", "mlx5_2", 0.0)),
        (" node03:nvlink=0.6 ", NvlinkFault("node03", 0.6)),
        ("node03:nvls=off", NvlsFault("node03")),
        ("node02:corrupt", CorruptFault("node02")),
        ("node07:hang", HangFault("node07")),
        ("node04:unreachable", UnreachableFault("node04")),
        ("node01:gpus=7", GpusFault("node01", 7)),
        ("node08:busy", BusyFault("node08")),
        ("node06:gdr=off", GdrFault("node06")),
        ("node06:socket", SocketFault("node06")),
        ("node09:driver=535.54.03", DriverFault("node09", "535.54.03")),
        ("node05:hca=mlx5_2,slow=0.5", SlowHcaFault("node05", "mlx5_2", 0.5)),
        ("node03:intermittent=0.5", IntermittentFault("node03", 0.5)),
        ("link:node01-node06=0.5", LinkFault("node01", "node06", 0.5)),
        ("link:node06-node01=0.5", LinkFault("node01", "node06", 0.5)),
        ("link:gpu-b-02-gpu-a-01=1", LinkFault("gpu-a-01", "gpu-b-02", 1.0)),
        ("leaf:l1-l2=0.5", LeafFault("l1", "l2", 0.5)),
        ("dip=0.01", DipFault(0.01)),
        ("noise=0.03", NoiseFault(0.03)),
    ],
)
def test_every_fault_of_the_contract_is_understood(text: str, fault: Fault) -> None:
    assert parse_fault(text) == fault


@pytest.mark.parametrize(
    "text",
    [
        "",
        "node05",
        "node05:",
        "node05:flux=1",
        "node05:hca",
        "node05:hca=mlx5_2",
        "node05:hca=mlx5_2,rate=2",
        "node05:hca=mlx5_2,rate=0",
        "node05:hca=mlx5_2,rate=half",
        "node05:hca=mlx5_2,up",
        "node05:hca=../x,down",
        "node05:nvls",
        "node05:nvls=on",
        "node05:nvlink=nan",
        "node05:nvlink=-1",
        "node05:nvlink",
        "node05:corrupt=1",
        "node05:corrupt,hang",
        "node05:gpus=-1",
        "node05:gpus=seven",
        "a b:hang",
        ":hang",
        "noise",
        "noise=0.9",
        "noise=much",
        "dip",
        "dip=2",
        "node03:intermittent",
        "node03:intermittent=0",
        "node05:hca=mlx5_2,slow",
        "node05:hca=mlx5_2,slow=0",
        "link:node01=0.5",
        "link:node01-node01=0.5",
        "link:node01-node02",
        "link:node01-node02=0",
        "link:a-b-c=0.5",
        "link:-node01=0.5",
        "leaf:l1-l2=2",
        "leaf:l1-l1=0.5",
    ],
)
def test_a_malformed_fault_is_one_sentence_that_shows_what_would_be_right(text: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_fault(text)
    assert caught.value.where == "--fault"
    assert "\n" not in caught.value.problem
    assert any(example in caught.value.problem for example in ("0.5", "node05:", "dip=0.01"))


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        ("node09:hang", "no node 'node09'; the nodes are node01 to node08"),
        ("node5:busy", "no node 'node5'"),
        ("node05:hca=mlx5_9,down", "node05 has no HCA 'mlx5_9'; a100-test has mlx5_0 to mlx5_7"),
        ("node05:hca=mlx5_9,slow=0.5", "node05 has no HCA 'mlx5_9'"),
        ("node09:intermittent=0.5", "no node 'node09'"),
        ("link:node01-node09=0.5", "no node 'node09'; the nodes are node01 to node08"),
        ("leaf:l1-l2=0.5", "no leaf 'l2'; there is only l1"),
        ("node05:gpus=9", "node05 cannot show 9 GPUs; a100-test has 8"),
        ("node05:nvls=off", "node05 never uses NVLS: a100-test has no switches that can add up"),
    ],
)
def test_a_fault_must_name_what_the_cluster_has(fault: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        cluster(fault)


@pytest.mark.parametrize(
    ("platform", "fault", "sentence"),
    [
        ("l40s-8gpu", "node01:nvlink=0.5", "node01 has no NVLinks: l40s-8gpu has cards on PCIe"),
        ("l40s-8gpu", "node01:hca=mlx5_0,down", "l40s-8gpu has none that anybody has counted"),
        ("a100-sxm4-8gpu-4x100-efa", "node01:hca=mlx5_0,down", "has rdmap16s27 to rdmap160s27"),
        ("l40s-8gpu", "node01:socket", "node01 takes TCP anyway"),
        ("a100-sxm4-8gpu-4x100-efa", "node01:gdr=off", "node01 cannot lose GPUDirect"),
        ("gb200-4gpu-4x400", "node01:gpus=5", "gb200-4gpu-4x400 has 4"),
    ],
)
def test_a_fault_must_fit_the_machine(platform: str, fault: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        cluster(fault, platform=load_platform(platform)[0])


def test_nodes_have_two_digits_at_least_and_eight_share_a_leaf() -> None:
    hosts = cluster(nodes=9).hosts()
    assert (hosts[0].name, hosts[8].name) == ("node01", "node09")
    assert [host.label("leaf") for host in hosts] == ["l1"] * 8 + ["l2"]
    assert {host.slots for host in hosts} == {8}
    assert [host.name for host in cluster(nodes=120).hosts()][::119] == ["node001", "node120"]


def test_faults_add_up_on_one_node() -> None:
    node = cluster("node05:hca=mlx5_2,rate=0.5", "node05:nvlink=0.6", "node05:busy").nodes["node05"]
    assert node.capability.rails[2] == 0.5
    assert node.capability.nvlink == 0.6
    assert node.busy


def test_every_fault_that_is_told_of_can_be_planted() -> None:
    examples = AVAILABLE.replace("NN", "01").replace("MM", "02").split("; ")
    assert len(examples) > 15
    assert len(cluster(*examples, nodes=16, platform=H100).faults) == len(examples)


def test_the_way_of_the_data_and_the_driver_are_those_of_the_one_node() -> None:
    sim = cluster("node02:gdr=off", "node03:socket", "node04:driver=535.54.03")
    assert [node.name for node in sim.nodes.values() if not node.capability.gdr] == ["node02"]
    assert [node.name for node in sim.nodes.values() if node.capability.socket] == ["node03"]
    assert [node.name for node in sim.nodes.values() if node.driver != sim.generation.driver] == ["node04"]
    assert sim.nodes["node04"].capability == sim.nodes["node01"].capability
