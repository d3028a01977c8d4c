"""The peak as a function, not a constant: how fast could this job be at most, and by which arithmetic?"""

from __future__ import annotations

import math

from msgspec import Struct
from msgspec.structs import replace

from healthcheck.model.algorithm import Algorithm
from healthcheck.model.collective import Collective
from healthcheck.model.platform import Platform, Sourced

ABOVE_CEILING = 1.05
"""What is this much above the highest bound was not measured on the machine that the platform describes; timing alone
moves a reading by a few per cent."""


class Peak(Struct, frozen=True):
    """An upper bound in GB/s (bus bandwidth, one direction) with the line that derives it."""

    busbw_gbyte_s: float
    derivation: str
    source: str


# Collectives whose data flows around a ring, so that all NICs of a node add up.
_RING = frozenset(
    {
        Collective.ALL_REDUCE,
        Collective.ALL_GATHER,
        Collective.REDUCE_SCATTER,
        Collective.BROADCAST,
        Collective.REDUCE,
    }
)
# Those that can first be done inside a node, so that less has to leave it.
_HIERARCHICAL = frozenset({Collective.ALL_REDUCE, Collective.ALL_GATHER, Collective.REDUCE_SCATTER})


def peak(
    platform: Platform,
    nodes: int,
    collective: Collective = Collective.ALL_REDUCE,
    *,
    gpus: int | None = None,
    nics: int | None = None,
    algorithm: Algorithm = Algorithm.RING,
) -> Peak | None:
    """The peak bus bandwidth of a job over `nodes` nodes; None where no bound is published.

    `gpus` and `nics` are how many of a node the job uses (None: all, or the NICs near those GPUs). Inside a node the
    rate of one GPU's NVLinks bounds every collective. Between nodes a ring crosses each node boundary once, so the sum
    of the NICs used bounds it too; an exchange of everybody with everybody is bound by the NIC share of one GPU, a
    neighbour exchange by one NIC. Tree, NVLS and SHARP as in docs/bandwidth.md.
    """
    if collective is Collective.HYPERCUBE:
        return None
    used = platform.gpu.count if gpus is None else gpus
    inside = _inside(platform, used)
    if nodes <= platform.nvlink_nodes:
        return _alone(platform, used * max(nodes, 1), collective, inside, algorithm)
    near = _near_nics(platform, used) if nics is None else nics
    if near == 0 or platform.nvlink_nodes > 1:
        return None
    return _between(platform, nodes, collective, used, near, inside, algorithm)


def ceiling_gbyte_s(
    platform: Platform, nodes: int, collective: Collective, *, gpus: int | None = None, nics: int | None = None
) -> float | None:
    """Above this no algorithm can be, in GB/s; None where no bound is published. Where the peak is what a topology
    delivers, its line rate counts."""
    raw = platform.line_rate_gbyte_s
    full = platform.gpu.count if gpus is None else gpus
    if raw is not None and full == platform.gpu.count:
        platform = replace(platform, intra_busbw_gbyte_s=raw)
    algorithms = (Algorithm.RING, Algorithm.TREE, Algorithm.SHARP, *((Algorithm.NVLS,) if platform.has_nvls else ()))
    bounds = [peak(platform, nodes, collective, gpus=gpus, nics=nics, algorithm=one) for one in algorithms]
    highest = max((bound.busbw_gbyte_s for bound in bounds if bound is not None), default=None)
    return None if highest is None else ABOVE_CEILING * highest


def _inside(platform: Platform, gpus: int) -> Sourced:
    """The bound inside a node, of these many of its GPUs."""
    for fewer in platform.intra_of_fewer_gbyte_s:
        if fewer.gpus == gpus:
            return Sourced(fewer.value, fewer.source)
    return platform.intra_busbw_gbyte_s


def _near_nics(platform: Platform, gpus: int) -> int:
    """A GPU uses the NICs near it: one GPU of eight drives one NIC of eight."""
    return math.ceil(platform.nics.count * min(gpus, platform.gpu.count) / platform.gpu.count)


def _alone(platform: Platform, ranks: int, collective: Collective, inside: Sourced, algorithm: Algorithm) -> Peak:
    """One node, or nodes that NVLink joins as if they were one."""
    if algorithm is Algorithm.NVLS and collective is Collective.ALL_REDUCE and ranks > 1:
        factor = 2 * (ranks - 1) / (ranks + 1)
        bound = inside.value * factor
        words = f"inside, added up in the switch: {inside.value:g} GB/s x 2 x {ranks - 1}/{ranks + 1} = {bound:.1f}"
        return Peak(bound, words, inside.source)
    return Peak(inside.value, f"inside a node: {inside.value:g} GB/s a GPU and direction", inside.source)


def _between(
    platform: Platform,
    nodes: int,
    collective: Collective,
    gpus: int,
    nics: int,
    inside: Sourced,
    algorithm: Algorithm,
) -> Peak:
    one = platform.nics.each_gbyte_s
    total = nics * one
    rate = f"{nics} NICs x {platform.nics.rate_gbit_s:g} Gb/s / 8 = {total:g}"
    if platform.nics.slot_gbyte_s is not None and one < platform.nics.rate_gbit_s / 8:
        rate = f"{nics} NICs x {one:g} GB/s of their PCIe slots = {total:g}"
    ranks = gpus * nodes
    top = inside
    if collective not in _RING:
        if collective is Collective.SENDRECV:
            bound, words = one, f"one NIC = {one:g}"
        else:
            bound = total / gpus * (ranks - 1) / (ranks - gpus)
            words = f"({rate}) / {gpus} GPUs x {ranks - 1} of {ranks - gpus} ranks elsewhere = {bound:.1f}"
    elif algorithm is Algorithm.SHARP and collective is Collective.ALL_REDUCE:
        bound = total * 2 * (ranks - 1) / ranks
        words = f"({rate}), added up in the network x 2 x {ranks - 1}/{ranks} = {bound:.1f}"
    elif algorithm in (Algorithm.TREE, Algorithm.NVLS) and collective in _HIERARCHICAL:
        bound = total * (ranks - 1) / (gpus * (nodes - 1))
        words = f"({rate}) x {ranks - 1} of {gpus} x {nodes - 1} = {bound:.1f}"
        if algorithm is Algorithm.NVLS:
            found = _alone(platform, gpus, collective, inside, algorithm)
            top = Sourced(found.busbw_gbyte_s, found.source)
    else:
        bound, words = total, rate
    source = f"{inside.source}; {platform.nics.source}"
    if gpus == 1:
        # One GPU a node moves nothing over NVLink.
        return Peak(bound, f"between nodes, one GPU each: {words} GB/s", platform.nics.source)
    return Peak(min(top.value, bound), f"between nodes: min({top.value:g}, {words}) GB/s", source)
