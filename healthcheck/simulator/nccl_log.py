"""What NCCL of a simulated rank writes with NCCL_DEBUG=INFO and its subsystems INIT, ENV, NET, GRAPH and TUNING.

Between nodes NCCL makes one ring a NIC, twice: ring c enters every node through NIC c at the GPU near to it, visits all
GPUs over NVLink and leaves through the same NIC. All ranks use as many rings as the poorest has. What stands in front
of the lines differs from node to node; the rest is made once for all that are alike. `python -m
healthcheck.simulator.nccl_log --help` prints one, for the stand-in that a real mpirun starts.
"""

from __future__ import annotations

import argparse
import sys
import zlib
from collections.abc import Iterator, Sequence
from functools import lru_cache

from healthcheck.errors import InputError
from healthcheck.simulator.benchmark import parse_options, pid_of
from healthcheck.simulator.cluster import Ran, SimCluster
from healthcheck.simulator.generations import Generation, of_nccl
from healthcheck.simulator.nccl_seats import seat_of
from healthcheck.simulator.nccl_topology import Seat, topology
from healthcheck.simulator.nccl_wording import EFA_PLUGIN, Wording, wording_of
from healthcheck.simulator.standin_cluster import add_cluster_options, cluster_of, environment_of, hosts_of

CHANNELS_ALONE = 24
NVLS_CHANNELS = 16
INTERFACE = "eth0"

# Filled in for each rank: what stands in front of a line of the main thread and of the one that initialises.
_MAIN, _INIT, _ADDRESS, _COMM, _JOB, _WARN = "\1", "\2", "\3", "\4", "\5", "\6"
_QUIET = frozenset({"WARN", "VERSION", "NONE"})
_NOT_TOLD = frozenset(
    {"NCCL_DEBUG", "NCCL_DEBUG_FILE", "NCCL_DEBUG_SUBSYS", "NCCL_TESTS_SPLIT", "NCCL_TESTS_SPLIT_MASK"}
)
_LONGEST_RING = 1000
_SMALL_BYTES = 1 << 20
_US_PER_MIB = 8.2
_MASK = "ffff,ffffffff"
_STARTED = "2026-01-01 00:00:00"


def rank_log(cluster: SimCluster, ran: Ran, host: str, local_rank: int, pid: int | None = None) -> str:
    """The log of one rank, whole lines. Of a node that hangs it ends before the rank is ready.

    `pid` where the rank is a real process; ValueError for a host that is not in the job.
    """
    pid = pid_of(host, local_rank) if pid is None else pid
    short = host.partition(".")[0]
    text = _text(seat_of(cluster, ran, host, local_rank), cluster.generation, ran.sizes, ran.env)
    number = zlib.crc32(short.encode())
    for mark, words in (
        (_MAIN, f"{short}:{pid}:{pid} [{local_rank}] NCCL INFO "),
        (_INIT, f"{short}:{pid}:{pid + 40} [{local_rank}] NCCL INFO "),
        (_WARN, f"[{_STARTED}] {short}:{pid}:{pid + 60} [{local_rank}] "),
        (_ADDRESS, f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"),
        (_COMM, f"0x55{number:08x}{local_rank:x}0"),
        (_JOB, f"0x{zlib.crc32(' '.join(ran.hosts).encode()):x}"),
    ):
        text = text.replace(mark, words)
    return text


# Nodes that are measured alone share a few texts; the ranks of a joint job have one each, which nobody asks for twice.
@lru_cache(maxsize=128)
def _text(seat: Seat, generation: Generation, sizes: tuple[int, ...], env: tuple[tuple[str, str], ...]) -> str:
    wording = wording_of(generation.nccl_version)
    version = wording.version_line.format(init=_INIT, version=generation.nccl, cuda=generation.cuda)
    if dict(env).get("NCCL_DEBUG", "INFO").upper() in _QUIET:
        return f"{version.replace(_INIT, '')}\n" if seat.rank == 0 else ""
    lines = [_MAIN + text for text in _before(wording, generation, env)]
    lines += [version] if seat.rank == 0 else []
    lines += [_WARN + wording.remark] if wording.remark and seat.local_rank else []
    lines += [_INIT + text for text in _initialised(seat, wording, generation)]
    if not seat.hangs:
        lines += [_INIT + text for text in _ready(seat, wording)]
        lines += [_INIT + text for text in _chosen(seat, wording, sizes)] if seat.rank == 0 else []
    return "".join(f"{line}\n" for line in lines)


def _before(wording: Wording, generation: Generation, env: tuple[tuple[str, str], ...]) -> Iterator[str]:
    """The process itself: variables, driver, and the way the ranks find each other."""
    for name, value in env:
        if name == "NCCL_IB_HCA":
            yield f"{name} set to {value}"
        elif name.startswith("NCCL_") and name not in _NOT_TOLD:
            yield f"{name} set by environment to {value}{'.' if value.lstrip('-').isdigit() else ''}"
    major, minor = generation.cuda.split(".")
    yield wording.bootstrap.format(interface=INTERFACE, address=_ADDRESS)
    yield f"cudaDriverVersion {int(major) * 1000 + int(minor) * 10}"


def _initialised(seat: Seat, wording: Wording, generation: Generation) -> Iterator[str]:
    """What the rank finds on its node, and its place in the job."""
    if seat.nics and seat.is_efa:
        told = {"network": seat.network, "api": wording.plugin_api, "nics": len(seat.nics)}
        yield from (line.format(**told) for line in EFA_PLUGIN)
    else:
        yield from wording.plugin
    if seat.nics and not seat.is_efa:
        nics = " ".join(f"[{index}]{name}:1/{seat.link_layer}" for index, (name, _) in enumerate(seat.nics))
        yield f"NET/IB : Using {nics} [RO]; OOB {INTERFACE}:{_ADDRESS}<0>"
    elif not seat.nics:
        yield "NET/IB : No device found."
        yield f"NET/Socket : Using [0]{INTERFACE}:{_ADDRESS}<0>"
    yield from (line.format(network=seat.network) for line in wording.network)
    if seat.gdr and generation.open_modules:
        yield f"DMA-BUF is available on GPU device {seat.cuda_device}"
    names = _names(seat)
    if wording.start:
        yield wording.start.format(**names)
    for index, (name, _) in enumerate(seat.nics if not seat.is_efa else ()):
        yield f"NET/IB : GPU Direct RDMA {'Enabled' if seat.gdr else 'Disabled'} for HCA {index} '{name}'"
    yield from topology(seat, wording)
    yield wording.affinity.format(**names)
    yield from (line.format(**names) for line in (wording.nvls, wording.comm) if line)
    if seat.rank == 0:
        yield from _rings(seat, wording)
    yield "Trees " + " ".join(f"[{channel}] {_tree(seat)}" for channel in range(channels(seat)))


def _ready(seat: Seat, wording: Wording) -> Iterator[str]:
    """The connections to its neighbours; the newest versions make them when the first collective begins."""
    count = channels(seat)
    per_peer = 8 if seat.n_hosts == 1 else 2
    settled = (
        "threadThresholds 8/8/64 | " + f"{seat.n_ranks * 8}/8/64 | 512 | 512",
        wording.channels.format(
            coll=count, p2p=32 if seat.n_hosts == 1 else count, per_peer=per_peer, nvls=_nvls_channels(seat)
        ),
        *wording.tuner,
    )
    complete = [line.format(**_names(seat)) for line in (wording.complete, wording.timings) if line]
    yield "P2P Chunksize set to 131072" if seat.n_hosts > 1 else "P2P Chunksize set to 524288"
    if wording.lazy:
        yield from (*settled, *complete)
    yield from _connections(seat, wording)
    yield wording.rings_connected.format(gdr=int(seat.all_gdr or seat.n_hosts == 1))
    yield "Connected all trees"
    if seat.adds_up and seat.n_hosts > 1:
        yield "Connected NVLS tree"
    if not wording.lazy:
        yield from (*settled, *complete)


def _chosen(seat: Seat, wording: Wording, sizes: tuple[int, ...]) -> Iterator[str]:
    """The algorithm of each size; rank 0 tells it."""
    large, number = ("RING", 1) if not seat.adds_up else ("NVLS", 4) if seat.n_hosts == 1 else ("NVLS_TREE", 5)
    for size in sizes:
        small = size < _SMALL_BYTES
        yield wording.tuning.format(
            size=size,
            algo="TREE" if small else large,
            algo_number=0 if small else number,
            proto="LL" if small else "SIMPLE",
            proto_number=0 if small else 2,
            time=20 + size / (1 << 20) * _US_PER_MIB,
            last=channels(seat) - 1,
        )


def channels(seat: Seat) -> int:
    """Channels of a collective."""
    return CHANNELS_ALONE if seat.n_hosts == 1 or seat.one_rack else 2 * seat.rings


def _nvls_channels(seat: Seat) -> int:
    return NVLS_CHANNELS if seat.nvls else 0


def _names(seat: Seat) -> dict[str, str | int]:
    return {
        "comm": _COMM,
        "job": _JOB,
        "rank": seat.rank,
        "n_ranks": seat.n_ranks,
        "n_nodes": seat.n_hosts,
        "local_ranks": seat.gpus,
        "dev": seat.cuda_device,
        "bus": seat.bus(seat.local_rank),
        "mask": _MASK,
        "is_not": "" if seat.nvls else "not ",
        "nvls": _nvls_channels(seat),
        "mnnvl": int(seat.one_rack),
        "cores": "0-47" if seat.local_rank < seat.gpus / 2 else "48-95",
    }


def _rings(seat: Seat, wording: Wording) -> Iterator[str]:
    """The order of the ranks in each ring, cut into lines as NCCL cuts them."""
    count = channels(seat)
    for channel in range(count):
        head = f"Channel {channel:02d}/{count:02d} :"
        order = seat.order(channel % seat.rings)
        # Every node has as many ranks as the first: the playbook asks for whole nodes.
        ranks = [node * seat.gpus + gpu for node in range(seat.n_ranks // seat.gpus) for gpu in order]
        line = head
        for rank in ranks:
            line += wording.ring_number.format(rank)
            if len(line) > _LONGEST_RING:
                yield line
                line = head
        if line != head:
            yield line


def _tree(seat: Seat) -> str:
    """Two children and a parent: the next GPU, and from node to node as in a heap."""
    last, head = seat.local_rank == seat.gpus - 1, seat.local_rank == 0
    down = [-1 if last else seat.rank + 1]
    below = [2 * seat.position + 1, 2 * seat.position + 2]
    down += [node * seat.gpus if head and node < seat.n_hosts else -1 for node in below]
    above = (seat.position - 1) // 2 * seat.gpus if seat.position else -1
    return f"{'/'.join(map(str, down))}->{seat.rank}->{above if head else seat.rank - 1}"


def _connections(seat: Seat, wording: Wording) -> Iterator[str]:
    for channel in range(channels(seat)):
        ring = channel % seat.rings
        order = seat.order(ring)
        mine = order.index(seat.local_rank)
        me = _peer(wording, seat, seat.rank, seat.local_rank)
        head = f"Channel {channel:02d}/0 : "
        if mine == 0 and seat.n_hosts > 1 and not seat.one_rack:
            if seat.gdr and seat.nics and not seat.is_efa:
                yield wording.gdr.format(**_names(seat), hca=ring, distance=wording.distance)
            before = _peer(wording, seat, seat.previous_rank + order[-1], order[-1])
            yield f"{head}{before} -> {me} [receive] {_via(seat, ring)}"
        if mine < len(order) - 1:
            after = order[mine + 1]
            way = _inside(wording, seat, seat.local_rank, after)
            yield f"{head}{me} -> {_peer(wording, seat, seat.first_rank + after, after)} via {way}"
        elif seat.one_rack:
            yield f"{head}{me} -> {_peer(wording, seat, seat.next_rank + order[0], order[0])} via P2P/MNNVL"
        elif seat.n_hosts > 1:
            yield f"{head}{me} -> {_peer(wording, seat, seat.next_rank + order[0], order[0])} [send] {_via(seat, ring)}"
        elif seat.gpus > 1:
            way = _inside(wording, seat, seat.local_rank, order[0])
            yield f"{head}{me} -> {_peer(wording, seat, seat.first_rank + order[0], order[0])} via {way}"


def _inside(wording: Wording, seat: Seat, one: int, other: int) -> str:
    """From GPU to GPU of a node. Across the processors NCCL goes through host memory."""
    way = seat.way(one, other)
    if way == "NVL" and seat.reads_peers:
        return wording.p2p
    return "SHM/direct/direct" if way == "SYS" else wording.p2p.removesuffix("/read")


def _via(seat: Seat, ring: int) -> str:
    """Each side names its own network and whether it reaches GPU memory."""
    return f"via NET/{seat.network}/{ring}{'/GDRDMA' if seat.gdr and seat.nics else ''}"


def _peer(wording: Wording, seat: Seat, rank: int, gpu: int) -> str:
    """All nodes of a job are taken to use the same GPUs."""
    return f"{rank}[{seat.bus(gpu) if wording.peers_by_bus else seat.devices[gpu]}]"


def main(arguments: Sequence[str]) -> int:
    """Print the log of one rank; 2 for a mistake in the arguments."""
    options = _arguments(arguments)
    try:
        cluster = cluster_of(options, generation=of_nccl(options.version))
        hosts = hosts_of(options)
        ranks = (options.ranks_per_host,) * len(hosts)
        ran = Ran(hosts, ranks, parse_options(options.words).sizes, environment_of(options))
        sys.stdout.write(rank_log(cluster, ran, options.host, options.rank % options.ranks_per_host, options.pid))
    except (InputError, ValueError) as error:
        sys.stderr.write(f"stand-in: {error}\n")
        return 2
    return 0


def _arguments(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="healthcheck.simulator.nccl_log", description="The NCCL log of one rank.")
    parser.add_argument("--version", default="2.21.5", help="NCCL version whose wording is printed")
    parser.add_argument("--host", required=True, help="the one of the rank")
    parser.add_argument("--rank", type=int, required=True, help="its number in the job")
    parser.add_argument("--ranks-per-host", type=int, default=8)
    parser.add_argument("--pid", type=int, help="of the process that stands for the rank")
    add_cluster_options(parser)
    parser.add_argument("words", nargs="*", metavar="-- OPTIONS", help="options of nccl-tests")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
