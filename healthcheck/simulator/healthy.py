"""What do healthy machines read? The bounds of a job by NVLink and by NICs, at what is published of such machines.

A model of its own tells what part of a line rate NCCL reaches. Where the platform says what healthy machines of its
kind measure, that is what a simulated one reads, a little above it.
"""

from __future__ import annotations

import math
from functools import lru_cache

from msgspec import Struct

from healthcheck.evaluation.known_good import reference
from healthcheck.evaluation.peaks import ABOVE_CEILING, ceiling_gbyte_s, peak
from healthcheck.model.algorithm import Algorithm
from healthcheck.model.collective import Collective
from healthcheck.model.platform import KnownGood, Platform

RING_SHARE_RAW = 231.6 / 300
"""What 8 A100 reach of the NVLink line rate (Azure ND A100 v4, 8 GiB); NVSwitch and packet overhead take the rest."""
RING_SHARE_EFFECTIVE = 0.965
NVLS_OVER_RING = 1.30
"""H100 and H200: 480 with the help of the switches, 367 without."""
NIC_SHARE = 0.96
"""What a NIC delivers of its line rate under NCCL (192 of 200, nccl#812)."""
ALLTOALL_SHARE = 0.88
"""Of the per-GPU NIC bound; NVIDIA certifications of 2 nodes read 0.84 to 0.93."""
FEWEST_FOR_NVLS = 5
"""GPUs from which NCCL lets the switches add up (H200); below, a ring is as fast."""
SPREADS_TO_ALL = frozenset({Collective.ALLTOALL, Collective.ALLTOALLV, Collective.GATHER, Collective.SCATTER})
"""Collectives in which every rank exchanges data with every other."""

_PER_GPU_LINK = frozenset({Collective.SENDRECV, Collective.HYPERCUBE})
_ABOVE_KNOWN, _MUCH_ABOVE = 1.01, 1.12
_BELOW_CEILING = 0.975
"""Noise, and what healthy nodes differ by, must not lift a reading above what is possible."""
_BOUND_BY_NVLINK = 0.97
"""Of what NVLink lets a node read: a job between nodes that reads as much is not bound by its NICs."""


class Same:
    """A platform by its identity, to be the key of a cache: what it says of itself has no hash, and stays."""

    __slots__ = ("platform",)

    def __init__(self, platform: Platform) -> None:
        self.platform = platform

    def __hash__(self) -> int:
        return id(self.platform)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and other.platform is self.platform


class Healthy(Struct, frozen=True):
    """What healthy nodes read in GB/s as far as NVLink (`inside`) and as far as NICs (`between`) let them.

    The lower one is what they read. `between` is infinite where no NIC takes part.
    """

    inside: float
    between: float


@lru_cache(maxsize=4096)
def healthy(
    same: Same,
    nodes: int,
    collective: Collective,
    *,
    gpus: int,
    nics: int,
    algorithm: Algorithm | None = None,
    nvls: bool = True,
    total: tuple[int, int] | None = None,
) -> Healthy:
    """Of a job of `nodes` nodes that uses `gpus` GPUs and `nics` NICs of each.

    `algorithm` is what it forces, `nvls`: NCCL finds multicast on all nodes. `total`: (all GPUs, most GPUs of a node)
    where nodes differ in how many they use.
    """
    platform = same.platform
    nvls = _uses_nvls(platform, nodes, collective, gpus, algorithm, nvls)
    top = _top(platform, nodes, collective, gpus)
    if nodes <= platform.nvlink_nodes:
        return Healthy(min(_inside(platform, nodes, collective, gpus, algorithm, nvls), top), math.inf)
    inside = _inside(platform, 1, collective, gpus, algorithm, nvls)
    between = _between(platform, collective, gpus, nics, total or (gpus * nodes, gpus))
    if gpus == 1 or nics == 0:
        return Healthy(inside, between)
    known = _known(platform, nodes, collective, gpus, algorithm, nvls)
    wanted = min(_at(min(inside, between), known), top)
    if wanted <= _BOUND_BY_NVLINK * inside:
        return Healthy(inside, wanted)
    tree = peak(platform, nodes, collective, gpus=gpus, nics=nics, algorithm=Algorithm.NVLS) if nvls else None
    return Healthy(wanted, max(wanted, between if tree is None else NIC_SHARE * tree.busbw_gbyte_s))


def _uses_nvls(
    platform: Platform, nodes: int, collective: Collective, gpus: int, algorithm: Algorithm | None, nvls: bool
) -> bool:
    joined = gpus * min(nodes, platform.nvlink_nodes)
    asked = algorithm in (None, Algorithm.NVLS) and collective is Collective.ALL_REDUCE
    return nvls and asked and platform.has_nvls and joined >= FEWEST_FOR_NVLS


def _inside(
    platform: Platform, nodes: int, collective: Collective, gpus: int, algorithm: Algorithm | None, nvls: bool
) -> float:
    """What NVLink, or PCIe, lets GPUs read. A ring reaches the same part of it with all of them and with fewer."""
    whole, bound = peak(platform, 1), peak(platform, 1, gpus=gpus)
    assert whole is not None  # there is one for every node
    # Nobody says what a part of a cube can do; every GPU of it has fewer neighbours.
    part = (gpus - 1) / (platform.gpu.count - 1) if bound is None else bound.busbw_gbyte_s / whole.busbw_gbyte_s
    share = RING_SHARE_EFFECTIVE if platform.peak_basis == "effective" else RING_SHARE_RAW
    ring = reference(platform, 1, algorithm=Algorithm.RING if platform.has_nvls else None)
    model = _at(whole.busbw_gbyte_s * share, ring) * part
    return _at(model * (NVLS_OVER_RING if nvls else 1.0), _known(platform, nodes, collective, gpus, algorithm, nvls))


def _known(
    platform: Platform, nodes: int, collective: Collective, gpus: int, algorithm: Algorithm | None, nvls: bool
) -> KnownGood | None:
    """What is published of such a job. What was measured with NVLS says nothing of a job without it."""
    if algorithm is not None or nvls or not platform.has_nvls or collective is not Collective.ALL_REDUCE:
        return reference(platform, nodes, collective, gpus=gpus, algorithm=algorithm)
    few = gpus < FEWEST_FOR_NVLS and nodes <= platform.nvlink_nodes
    without = reference(platform, nodes, collective, gpus=gpus, algorithm=Algorithm.RING)
    return reference(platform, nodes, collective, gpus=gpus) if few or (without is None and nodes > 2) else without


def _at(model: float, known: KnownGood | None) -> float:
    """What the model says where that fits what is known, else a little above what is known."""
    if known is None or known.value <= model <= _MUCH_ABOVE * known.value:
        return model
    return _ABOVE_KNOWN * known.value


def _top(platform: Platform, nodes: int, collective: Collective, gpus: int) -> float:
    ceiling = ceiling_gbyte_s(platform, nodes, collective, gpus=gpus)
    return math.inf if ceiling is None else _BELOW_CEILING / ABOVE_CEILING * ceiling


def _between(platform: Platform, collective: Collective, gpus: int, nics: int, total: tuple[int, int]) -> float:
    """What all NICs a node uses carry."""
    each = platform.nics.each_gbyte_s * NIC_SHARE
    together = each * nics
    if nics == 0:
        return 0.0
    if collective in _PER_GPU_LINK:
        return min(together / gpus * max(1, gpus // nics), each)
    if collective in SPREADS_TO_ALL:
        all_gpus, most = total
        return together / gpus * ALLTOALL_SHARE / NIC_SHARE * (all_gpus - 1) / (all_gpus - most)
    return together
