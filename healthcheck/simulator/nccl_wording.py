"""How NCCL words its log, version by version. Another version is another row.

Wordings: the INFO calls of the NCCL sources of 2.16, 2.21 and 2.27 and logs published in its issues.
"""

from __future__ import annotations

from msgspec import Struct


class Wording(Struct, frozen=True):
    """The spelling of one range of versions, from `since` on. Templates are filled by `nccl_log`.

    `peers_by_bus`: a rank is `8[7000]` by the bus of its GPU, later `8[0]` by its number. `distance` is NCCL's number
    of the path type PXB. `lazy`: connections are made by the first collective, behind Init COMPLETE. `remark`: a WARN
    line of good runs, which every rank but the first of a node writes.
    """

    since: tuple[int, int]
    bootstrap: str
    plugin: tuple[str, ...]
    version_line: str
    network: tuple[str, ...]
    start: str
    complete: str
    affinity: str
    nvls: str
    comm: str
    p2p: str
    rings_connected: str
    channels: str
    tuning: str
    peers_by_bus: bool
    distance: int
    gdr: str
    bandwidth: str = "{:.1f}"
    ring_number: str = " {:3d}"
    lazy: bool = False
    tuner: tuple[str, ...] = ()
    timings: str = ""
    remark: str = ""
    plugin_api: int = 8


EFA_PLUGIN = (
    "NET/Plugin: Loaded net plugin {network} (v{api})",
    "NET/OFI Initializing aws-ofi-nccl 1.13.2-aws",
    "NET/OFI Using Libfabric version 1.22",
    "NET/OFI Selected provider is efa, fabric is efa (found {nics} nics)",
)
"""The plugin of Amazon (https://github.com/aws/aws-ofi-nccl); `api` is the version of what NCCL asks of plugins."""
_NO_PLUGIN_FILE = "libnccl-net.so: cannot open shared object file: No such file or directory"

WORDINGS = (
    Wording(
        since=(2, 16),
        bootstrap="Bootstrap : Using {interface}:{address}<0>",
        plugin=("NET/Plugin : No plugin found (libnccl-net.so), using internal implementation",),
        version_line="NCCL version {version}+cuda{cuda}",
        network=("Using network {network}",),
        start="",
        complete="comm {comm} rank {rank} nranks {n_ranks} cudaDev {dev} busId {bus} commId {job} - Init COMPLETE",
        affinity="Setting affinity for GPU {dev} to {mask}",
        nvls="",
        comm="",
        p2p="P2P/IPC/read",
        rings_connected="Connected all rings",
        channels="{coll} coll channels, {p2p} p2p channels, {per_peer} p2p channels per peer",
        tuning="{size} Bytes -> Algo {algo_number} proto {proto_number} time {time:f}",
        peers_by_bus=True,
        distance=4,
        gdr="GPU Direct RDMA Enabled for GPU {bus} / HCA {hca} (distance {distance} <= {distance}), read 0",
        bandwidth="{:.6f}",
        plugin_api=6,
    ),
    Wording(
        since=(2, 21),
        bootstrap="Bootstrap : Using {interface}:{address}<0>",
        plugin=(
            "NET/Plugin: No plugin found (libnccl-net.so)",
            f"NET/Plugin: Plugin load returned 2 : {_NO_PLUGIN_FILE} : when loading libnccl-net.so",
            "NET/Plugin: Using internal network plugin.",
        ),
        version_line="NCCL version {version}+cuda{cuda}",
        network=("Using non-device net plugin version 0", "Using network {network}"),
        start="ncclCommInitRank comm {comm} rank {rank} nranks {n_ranks} cudaDev {dev} nvmlDev {dev} busId {bus} "
        "commId {job} - Init START",
        complete="ncclCommInitRank comm {comm} rank {rank} nranks {n_ranks} cudaDev {dev} nvmlDev {dev} busId {bus} "
        "commId {job} - Init COMPLETE",
        affinity="Setting affinity for GPU {dev} to {mask}",
        nvls="NVLS multicast support is {is_not}available on dev {dev}",
        comm="comm {comm} rank {rank} nRanks {n_ranks} nNodes {n_nodes} localRanks {local_ranks} localRank {dev} "
        "MNNVL {mnnvl}",
        p2p="P2P/CUMEM/read",
        rings_connected="Connected all rings",
        channels="{coll} coll channels, {coll} collnet channels, {nvls} nvls channels, {p2p} p2p channels, "
        "{per_peer} p2p channels per peer",
        tuning="AllReduce: {size} Bytes -> Algo {algo_number} proto {proto_number} time {time:f}",
        peers_by_bus=False,
        distance=4,
        gdr="GPU Direct RDMA Enabled for GPU {dev} / HCA {hca} (distance {distance} <= {distance}), read 0",
        ring_number=" {:2d}",
        tuner=("TUNER/Plugin: Using internal tuner plugin.",),
    ),
    Wording(
        since=(2, 27),
        bootstrap="Bootstrap: Using {interface}:{address}<0>",
        plugin=("NET/Plugin: Could not find: libnccl-net.so.",),
        version_line="{init}NCCL version {version}+cuda{cuda}",
        network=(
            "Initialized NET plugin {network}",
            "Assigned NET plugin {network} to comm",
            "Using network {network}",
        ),
        start="ncclCommInitRankConfig comm {comm} rank {rank} nranks {n_ranks} cudaDev {dev} nvmlDev {dev} busId {bus} "
        "commId {job} - Init START",
        complete="ncclCommInitRankConfig comm {comm} rank {rank} nranks {n_ranks} cudaDev {dev} nvmlDev {dev} busId "
        "{bus} commId {job} - Init COMPLETE",
        affinity="Setting affinity for GPU {dev} to {cores}",
        nvls="NVLS multicast support is {is_not}available on dev {dev} (NVLS_NCHANNELS {nvls})",
        comm="comm {comm} rank {rank} nRanks {n_ranks} nNodes {n_nodes} localRanks {local_ranks} localRank {dev} "
        "MNNVL {mnnvl}",
        p2p="P2P/CUMEM/read",
        rings_connected="Connected all rings, use ring PXN 0 GDR {gdr}",
        channels="{coll} coll channels, {coll} collnet channels, {nvls} nvls channels, {p2p} p2p channels, "
        "{per_peer} p2p channels per peer",
        tuning="AllReduce: {size} Bytes -> Algo {algo} proto {proto} channel{{Lo..Hi}}={{0..{last}}}",
        peers_by_bus=False,
        distance=5,
        gdr="GPU Direct RDMA Enabled for GPU {dev} / HCA {hca} (distance {distance} <= {distance}), read 0 mode "
        "Default",
        ring_number=" {:d}",
        lazy=True,
        tuner=("TUNER/Plugin: Could not find: libnccl-tuner.so. Using internal tuner plugin.",),
        remark="ras/client_support.cc:159 NCCL WARN Call to bind failed: Address already in use",
        timings="Init timings - ncclCommInitRankConfig: rank {rank} nranks {n_ranks} total 1.21 (kernels 0.21, alloc "
        "0.34, bootstrap 0.09, allgathers 0.05, topo 0.31, graphs 0.02, connections 0.17, rest 0.02)",
    ),
)
"""Oldest first."""


def wording_of(version: tuple[int, int]) -> Wording:
    """The spelling of a version: the newest row that is not newer; the oldest for what is older than all."""
    return next((one for one in reversed(WORDINGS) if one.since <= version), WORDINGS[0])
