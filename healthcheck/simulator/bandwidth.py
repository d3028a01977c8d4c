"""How fast would this job be? Size curve, NVLinks, NICs and rails, with noise that a seed decides.

A job is as fast as its worst part: every ring crosses every node, and rail r of one node talks to rail r of the
others, so a HCA at half rate on one of 8 rails makes all of them wait (8 x 12.5 = 100 GB/s instead of 200). What lies
between two neighbours of the ring can be the worst part, too.
Calibrated on published A100 results: Azure ND A100 v4 (one node) and DGX A100 with 8 x HDR, 192 of 200 (nccl#812).
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Sequence

from msgspec import Struct

from healthcheck.model.algorithm import Algorithm
from healthcheck.model.collective import Collective
from healthcheck.model.platform import Platform
from healthcheck.simulator.healthy import Same, healthy

DEFAULT_NOISE = 0.003
"""Relative standard deviation of one measurement of a healthy machine."""

SOCKET_GBYTE_S = 4.0
"""All traffic of a node over TCP, when no InfiniBand port is left."""
GDR_OFF_SHARE = 0.5
"""What is left of a node's network when its NICs cannot reach GPU memory and all data goes through the host's: about
half on a fast host, less on others (nccl#1676)."""
SICK_PACE = 0.5
"""What is left of the network of an intermittent node in a job in which it is sick."""
LEVEL_FALL = 0.001
"""What a job between nodes loses each time its number of nodes doubles, from two on."""

_START_UP_US = 12.0
_KNEE_BYTES = 1 << 20
_SINGLE_NODE_CURVE = (
    (1 << 20, 36 / 231.6),
    (8 << 20, 90 / 231.6),
    (16 << 20, 109 / 231.6),
    (128 << 20, 174 / 231.6),
    (256 << 20, 214 / 231.6),
    (512 << 20, 222 / 231.6),
    (1 << 30, 228 / 231.6),
    (8 << 30, 1.0),
)
_MULTI_NODE_CURVE = (
    (1 << 20, 0.03),
    (8 << 20, 0.13),
    (64 << 20, 0.40),
    (128 << 20, 0.58),
    (256 << 20, 0.74),
    (512 << 20, 0.86),
    (1 << 30, 0.95),
    (2 << 30, 1.0),
)
_CURVE_NODES = 4
_LATER_BY_NODES = 0.12
"""The curve of many nodes rises a little later; 2000 of them read more than 92 % of the plateau at 2 GiB."""


class NodeCapability(Struct, frozen=True):
    """What one node can move, as fractions of what its platform promises.

    `rails` has one entry a compute HCA: 1.0 at full rate, 0.5 at half rate, 0.0 when the port is down. Without `gdr`
    its traffic takes the way through host memory; with `socket` NCCL takes TCP for it. `pace` is what its network does
    beside that of the average node. Without `nvls` its switches do not add up.
    """

    nvlink: float
    rails: tuple[float, ...]
    gdr: bool = True
    socket: bool = False
    pace: float = 1.0
    nvls: bool = True


class Speed(Struct, frozen=True):
    """One measured half of a row: time in microseconds, bandwidths in GB/s."""

    time_us: float
    algbw_gbyte_s: float
    busbw_gbyte_s: float


UNHINDERED = math.inf
"""An edge that carries whatever its two nodes can move."""


class Edge(Struct, frozen=True):
    """What lies between two neighbours: the share of a node's rate that gets through at most, and the share that any
    two nodes have there of what they had side by side."""

    carries: float = UNHINDERED
    share: float = 1.0


class Job(Struct, frozen=True):
    """What the model has to know of a job. `nodes` and `gpus_per_node` (GPUs that move data) stand in the same order.

    `n_ranks` only turns algbw into busbw; it is the sum of `gpus_per_node` unless few ranks stand for many GPUs.
    `edges` lie between neighbours in rank order, the last one between the last node and the first; none given: nothing
    is in the way. `algorithm` is what its ranks force.
    """

    platform: Platform
    collective: Collective
    nodes: tuple[NodeCapability, ...]
    gpus_per_node: tuple[int, ...]
    n_ranks: int
    edges: tuple[Edge, ...] = ()
    algorithm: Algorithm | None = None


def plateau_gbyte_s(job: Job) -> float:
    """busbw of very large messages of two nodes without noise: the slowest of NVLink, NICs, rails and ring edges."""
    gpus = max(min(job.gpus_per_node), 1)
    used = min(_nics_used(job.platform, gpus), max(1, *(len(node.rails) for node in job.nodes)))
    well = healthy(
        Same(job.platform),
        len(job.nodes),
        job.collective,
        gpus=gpus,
        nics=used,
        algorithm=job.algorithm,
        nvls=all(node.nvls for node in job.nodes),
        total=(sum(job.gpus_per_node), max(job.gpus_per_node)),
    )
    inside = well.inside * min(node.nvlink for node in job.nodes)
    if math.isinf(well.between):
        return inside
    between = _between_gbyte_s(job, used, well.between)
    # One GPU a node moves nothing over NVLink.
    return between if max(job.gpus_per_node) == 1 else min(inside, between)


def speed(job: Job, size_bytes: int, factor: float) -> Speed:
    """Time and bandwidths of one message size; `factor` is the noise (1.0: none). Size 0 takes the start-up time."""
    bus_factor = job.collective.factor(job.n_ranks)
    if size_bytes <= 0:
        return Speed(_START_UP_US, 0.0, 0.0)
    nodes = len(job.nodes)
    plateau = plateau_gbyte_s(job) * (1.0 - LEVEL_FALL * math.log2(max(2, nodes) / 2))

    def time_us(size: int) -> float:
        busbw = plateau * curve_share(size, nodes)
        algbw = busbw / bus_factor if bus_factor else busbw
        return size / (algbw * 1e3)

    start_up = _START_UP_US * (1 if nodes == 1 else 1.8)
    if size_bytes >= _KNEE_BYTES:
        taken = time_us(size_bytes)
    else:
        taken = start_up + (time_us(_KNEE_BYTES) - start_up) * size_bytes / _KNEE_BYTES
    return of_time(job, size_bytes, taken / factor)


def of_time(job: Job, size_bytes: int, time_us: float) -> Speed:
    """The bandwidths that belong to a time."""
    if size_bytes <= 0:
        return Speed(time_us, 0.0, 0.0)
    algbw = size_bytes / (time_us * 1e3)
    return Speed(time_us, algbw, algbw * job.collective.factor(job.n_ranks))


def curve_share(size_bytes: int, nodes: int) -> float:
    """Share of the plateau reached at a size, 0 to 1; for one node as measured, for more the larger the later."""
    if nodes == 1:
        return _interpolate(_SINGLE_NODE_CURVE, size_bytes)
    return _interpolate(_MULTI_NODE_CURVE, size_bytes * (_CURVE_NODES / nodes) ** _LATER_BY_NODES)


class Noise:
    """Noise factors around 1.0, the same for the same seed and job key. Never outside four sigma."""

    def __init__(self, seed: int, key: str, sigma: float) -> None:
        self._random = random.Random(f"{seed}|{key}")  # noqa: S311 - reproducible, not secret
        self._sigma = sigma

    def next(self) -> float:
        """The factor of the next measurement."""
        deviation = self._random.gauss(0.0, 1.0)
        return max(0.05, 1.0 + self._sigma * max(-4.0, min(4.0, deviation)))


def _between_gbyte_s(job: Job, used: int, well: float) -> float:
    """What NICs carry that carry `well` on healthy nodes: all that a node uses, at the pace of the slowest rail."""
    paces = [_pace(node, used) for node in job.nodes]
    return SOCKET_GBYTE_S if min(paces) <= 0.0 else well * _worst_edge(paces, job.edges)


def _worst_edge(paces: Sequence[float], edges: Sequence[Edge]) -> float:
    """Two neighbours move data at the pace of the slower one, or of what lies between them."""
    if not edges:
        return min(paces)
    following = (*paces[1:], paces[0])
    return min(
        min(one, other, edge.carries) * edge.share for one, other, edge in zip(paces, following, edges, strict=True)
    )


def _nics_used(platform: Platform, gpus: int) -> int:
    """Only NICs near a GPU that takes part carry traffic: one GPU of eight drives one NIC of eight."""
    return math.ceil(platform.nics.count * min(gpus, platform.gpu.count) / platform.gpu.count)


def _pace(node: NodeCapability, used: int) -> float:
    """The share of its NICs' rate that a node keeps up with; 0.0 when none of them is used."""
    if node.socket or not node.rails:
        return 0.0
    return _slowest_rail(node.rails, used) * (1.0 if node.gdr else GDR_OFF_SHARE) * node.pace


def _slowest_rail(rails: Sequence[float], used: int) -> float:
    """The pace of a node. A rail that is down is carried by a neighbour, which then moves twice as much."""
    paces = list(rails[:used])
    alive = [pace for pace in paces if pace > 0.0]
    if not alive:
        return 0.0
    lost = len(paces) - len(alive)
    return min(alive) / (1 + math.ceil(lost / len(alive)))


def _interpolate(curve: Sequence[tuple[int, float]], size: float) -> float:
    """Linear in the logarithm of the size; below the first point proportional to the size."""
    first_size, first_share = curve[0]
    if size <= first_size:
        return first_share * size / first_size
    for (low, low_share), (high, high_share) in itertools.pairwise(curve):
        if size <= high:
            part = math.log(size / low) / math.log(high / low)
            return low_share + (high_share - low_share) * part
    return curve[-1][1]
