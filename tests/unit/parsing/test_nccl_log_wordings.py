"""Every wording of every version, one line at a time: what NCCL means by it."""

from __future__ import annotations

import pytest

from healthcheck.model.nccl import NcclRankLog
from healthcheck.parsing.nccl_log import read_nccl_log


def said(*messages: str) -> NcclRankLog:
    """The log of one rank that says these things."""
    return read_nccl_log([f"gpu-01:4011:4058 [0] NCCL INFO {message}\n" for message in messages])


@pytest.mark.parametrize(
    ("message", "field", "value"),
    [
        ("NCCL version 2.8.4+cuda11.2", "version", "2.8.4"),
        ("NCCL version 2.30.1+cuda13.0", "version", "2.30.1"),
        ("cudaDriverVersion 12040", "cuda_driver", 12040),
        ("Bootstrap : Using [0]eth0:10.0.0.1<0>", "bootstrap", "eth0"),  # 2.7
        ("Bootstrap : Using bond0.42:10.0.0.1<0>", "bootstrap", "bond0.42"),  # to 2.23
        ("Bootstrap: Using eth0:10.0.0.1<0>", "bootstrap", "eth0"),  # from 2.24
        ("Using network IB", "network", "IB"),
        ("Using network Socket", "network", "Socket"),
        ("Using network AWS Libfabric", "network", "AWS Libfabric"),
        ("Using network FasTrak", "network", "FasTrak"),
        ("Using network IBext_v8", "network", "IBext_v8"),
        ("Initialized NET plugin IB", "network", "IB"),  # from 2.27
        ("Assigned NET plugin AWS Libfabric to comm", "network", "AWS Libfabric"),
        ("Using non-device net plugin version 0", "network", None),
        ("NET/Plugin: Loaded net plugin AWS Libfabric (v8)", "network_plugin", "AWS Libfabric"),
        ("NET/Plugin: Plugin name set by env to libnccl-net-gib.so", "network_plugin", "libnccl-net-gib.so"),
        ("NET/OFI Selected Provider is efa", "network_plugin", "OFI efa"),
        ("NET/OFI Initializing; Selected provider is tcp;ofi_rxm", "network_plugin", "OFI tcp;ofi_rxm"),
        ("NET/Plugin: Could not find: libnccl-net.so", "network_plugin", None),
        ("NET/IB : No device found.", "no_nics", True),
        ("DMA-BUF is available on GPU device 3", "dmabuf", True),  # from 2.14
        ("Connected all rings", "gdr_flag", None),
        ("Connected all rings, use ring PXN 0 GDR 1", "gdr_flag", True),  # from 2.24
        ("Connected all rings, use ring PXN 1 GDR 0", "gdr_flag", False),
        ("NVLS multicast support is available on dev 0", "nvls", True),  # from 2.17
        ("NVLS multicast support is available on dev 0 (NVLS_NCHANNELS 16)", "nvls", True),  # from 2.27
        ("NVLS multicast support is not available on dev 0 (NVLS_NCHANNELS 0)", "nvls", False),
        ("Channel 00/24 :    0   1   2   3   4   5   6   7", "rings", 24),
        ("=== System : maxWidth 240.0 totalWidth 240.0 ===", "max_bw_gbyte_s", 240.0),  # to 2.9
        ("=== System : maxBw 370.8 totalBw 370.8 ===", "max_bw_gbyte_s", 370.8),
        ("comm 0x7f rank 3 nranks 16 cudaDev 3 busId 4e000 - Init COMPLETE", "rank", 3),
        ("ncclCommInitRankConfig comm 0x7f rank 3 nranks 16 cudaDev 3 nvmlDev 3 busId 4e - Init START", "n_ranks", 16),
        ("ncclCommInitRank comm 0x7f rank 3 nranks 16 cudaDev 3 - Init COMPLETE", "init_complete", True),
        ("ncclCommInitRank comm 0x7f rank 3 nranks 16 cudaDev 3 - Init START", "init_complete", False),
        ("comm 0x7f rank 3 nRanks 16 nNodes 2 localRanks 8 localRank 3 MNNVL 0", "n_nodes", 2),
        ("Init timings - ncclCommInitRank: rank 3 nranks 16 total 1.02 (kernels 0.1)", "rank", 3),
    ],
)
def test_one_line_says_one_thing(message: str, field: str, value: object) -> None:
    assert getattr(said(message), field) == value


@pytest.mark.parametrize(
    ("via", "link"),
    [
        ("P2P/IPC", "P2P/IPC"),
        ("P2P/IPC/read", "P2P/IPC"),
        ("P2P/CUMEM/read", "P2P/CUMEM"),  # from 2.18
        ("P2P/CUMEM/CE", "P2P/CUMEM"),
        ("P2P/direct pointer", "P2P/direct"),
        ("P2P/direct pointer/read", "P2P/direct"),
        ("P2P/indirect/3[b000]", "P2P/indirect"),
        ("P2P/MNNVL", "P2P/MNNVL"),
        ("direct shared memory", "SHM"),  # to 2.12
        ("SHM/direct/direct", "SHM"),  # 2.14 to 2.29
        ("SHM/CE/direct", "SHM"),
        ("SHM/direct", "SHM"),  # 2.30
        ("NET/IB/0", "NET/IB"),
        ("NET/IB/0/GDRDMA", "NET/IB/GDRDMA"),
        ("NET/IB/3(5)/GDRDMA", "NET/IB/GDRDMA"),  # over the GPU of rank 5 (PXN)
        ("NET/IB/3(5)/Shared", "NET/IB"),
        ("NET/IB/0/GDRDMA(PCI)", "NET/IB/GDRDMA"),
        ("NET/IB/0/GDRDMA(PCI)/Shared", "NET/IB/GDRDMA"),
        ("NET/Socket/0", "NET/Socket"),
        ("NET/AWS Libfabric/1/GDRDMA/Shared", "NET/AWS Libfabric/GDRDMA"),
        ("NET/IBext_v8/0/GDRDMA", "NET/IBext_v8/GDRDMA"),
        ("COLLNET/SHARP/0", "COLLNET"),
        ("something new", None),
    ],
)
@pytest.mark.parametrize(
    "channel",
    ["Channel 00 : 0[7000] -> 8[b000]", "Channel 00/0 : 0[0] -> 8[0] [send]", "Channel 01/1 : 0[7] -> 8[0]"],
)
def test_a_connection_is_counted_under_its_transport(channel: str, via: str, link: str | None) -> None:
    log = said(f"{channel} via {via}", f"{channel} via {via}")
    assert log.links == (() if link is None else ((link, 2),))
    assert log.net_pairs == (((0, 8),) if link is not None and link.startswith("NET") else ())


@pytest.mark.parametrize(
    ("listed", "ports"),
    [
        ("[0]mlx5_0:1/IB [1]mlx5_1:1/IB ; OOB ib0:10.0.0.1<0>", [("mlx5_0", 1, "IB"), ("mlx5_1", 1, "IB")]),
        ("[0]mlx5_0:1/IB/SHARP [1]mlx5_0:2/IB [RO]; OOB ib0:10.0.0.1<0>", [("mlx5_0", 1, "IB"), ("mlx5_0", 2, "IB")]),
        ("[0]mlx5_bond_0:1/RoCE [RO]; OOB eth0:10.0.0.1<0>", [("mlx5_bond_0", 1, "RoCE")]),
        ("[0]rocep1s0f1:1/RoCE [1]bnxt_re0:1/RoCE ; OOB e:1<0>", [("rocep1s0f1", 1, "RoCE"), ("bnxt_re0", 1, "RoCE")]),
        ("[0]={[0] mlx5_0:1/RoCE, [1] mlx5_1:1/RoCE} [RO]; OOB e:1<0>", [("mlx5_0", 1, "RoCE"), ("mlx5_1", 1, "RoCE")]),
        ("[RO]; OOB eth0:10.0.0.1<0>", []),
        ("[0]mlx5_0:1/IB [1]mlx5_1:1/I", []),  # cut: how many there are is not known
    ],
)
def test_nics_count_only_from_a_whole_list(listed: str, ports: list[tuple[str, int, str]]) -> None:
    log = said(f"NET/IB : Using {listed}")
    assert [(nic.device, nic.port, nic.layer) for nic in log.nics] == ports
    assert said(f"NET/IBext_v8 : Using {listed}").nics == log.nics


def test_a_port_keeps_the_speed_nccl_read() -> None:
    log = said(
        "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]; OOB ib0:10.0.0.1<0>",
        "NET/IB: [1] mlx5_1:uverbs1:1/IB provider=Mlx5 speed=100000 context=0x5 pciPath=/sys/devices/pci ar=0",
    )
    assert [nic.speed_mbit_s for nic in log.nics] == [None, 100000]


@pytest.mark.parametrize(
    ("message", "gpu", "near"),
    [
        ("GPU Direct RDMA Enabled for GPU 7000 / HCA 3 (distance 4 <= 4), read 1", "7000", True),
        ("GPU Direct RDMA Disabled for GPU 7000 / HCA 3 (distance 7 > 4)", "7000", False),
        ("NET/IB : GPU Direct RDMA Disabled for GPU 0/4e000 / HCA 3 (distance 5 > 4)", "0/4e000", False),
        (
            "NET/IB: GPU Direct RDMA Enabled for GPU 0/7000 / HCA 3 (distance 4 <= 5), read 1 mode Default",
            "0/7000",
            True,
        ),
    ],
)
def test_how_far_a_gpu_is_from_a_nic(message: str, gpu: str, near: bool) -> None:
    (one,) = said(message).gdr_distances
    assert (one.gpu, one.hca, one.near) == (gpu, 3, near)


@pytest.mark.parametrize(
    ("message", "enabled"),
    [
        ("NET/IB : GPU Direct RDMA Enabled for HCA 2 'mlx5_2'", True),
        ("NET/IB : GPU Direct RDMA Disabled for HCA 2 'mlx5_2' (no module)", False),  # to 2.12
        ("NET/IB : GPU Direct RDMA Disabled for HCA 2 'mlx5_2'", False),
        ("NET/IB : GPU Direct RDMA (DMA-BUF) Enabled for HCA 2 'mlx5_2'", True),
        ("NET/AWS Libfabric : GPU Direct RDMA Enabled for HCA 2 'mlx5_2'", True),
    ],
)
def test_whether_a_nic_reaches_gpu_memory(message: str, enabled: bool) -> None:
    (hca,) = said(message).gdr_hcas
    assert (hca.index, hca.device, hca.enabled) == (2, "mlx5_2", enabled)


@pytest.mark.parametrize(
    ("message", "name", "value", "source"),
    [
        ("NCCL_IB_GID_INDEX set by environment to 3.", "NCCL_IB_GID_INDEX", "3", "environment"),
        ("NCCL_IB_HCA set to =mlx5_0,mlx5_1", "NCCL_IB_HCA", "=mlx5_0,mlx5_1", "environment"),
        (
            "NCCL_TOPO_FILE set by environment to /a b/topo.xml",
            "NCCL_TOPO_FILE",
            "/a b/topo.xml",
            "environment",
        ),
        ("NCCL_NVLS_ENABLE set by env plugin to 0.", "NCCL_NVLS_ENABLE", "0", "env plugin"),
    ],
)
def test_a_variable_keeps_its_value_and_its_line(message: str, name: str, value: str, source: str) -> None:
    (setting,) = said(message).settings
    assert (setting.name, setting.value, setting.source) == (name, value, source)
    assert setting.text == f"gpu-01:4011:4058 [0] NCCL INFO {message}"


@pytest.mark.parametrize(
    ("message", "chosen"),
    [
        ("1048576 Bytes -> Algo 1 proto 2 time 37.5", ("", 1048576, "RING", "SIMPLE")),
        ("AllReduce: 512 Bytes -> Algo 4 proto 2 time 37.5", ("AllReduce", 512, "NVLS", "SIMPLE")),
        ("AllReduce: 512 Bytes -> Algo Tree proto LL128 channel{Lo..Hi}={0..1}", ("AllReduce", 512, "TREE", "LL128")),
        ("Broadcast:    32768 Bytes -> Algo RING proto LL time 1", ("Broadcast", 32768, "RING", "LL")),
        ("AllReduce: 512 Bytes -> Algo 99 proto 2 time 1", ("AllReduce", 512, "99", "SIMPLE")),
    ],
)
def test_algorithms_have_names_in_every_version(message: str, chosen: tuple[str, int, str, str]) -> None:
    (one,) = said(message, message).algorithms
    assert (one.collective, one.size_bytes, one.algorithm, one.protocol) == chosen
