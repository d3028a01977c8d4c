"""The peak as a function, not a constant: how fast could this job be at most, and by which arithmetic?

N nodes with g GPUs each are n = N g ranks. Inside a node a GPU moves what its NVLinks carry; between nodes a node
moves what its NICs carry; the lower of the two is the peak. docs/bandwidth.md derives each factor.
"""

from __future__ import annotations

import math

from msgspec import Struct

from healthcheck.model.algorithm import Algorithm
from healthcheck.model.collective import Collective
from healthcheck.model.message import Arg, Message, listed, phrase, say
from healthcheck.model.platform import Platform, Sourced

ABOVE_CEILING = 1.05
"""What is this much above the highest bound was not measured on the machine that the platform describes; timing alone
moves a reading by a few per cent."""

# Their data flows around a ring, which crosses each node boundary once, so that all NICs of a node add up.
_AROUND = frozenset(
    {
        Collective.ALL_REDUCE,
        Collective.ALL_GATHER,
        Collective.REDUCE_SCATTER,
        Collective.BROADCAST,
        Collective.REDUCE,
    }
)
# Those that can first be done inside a node, so that less has to leave it.
_IN_LEVELS = frozenset({Collective.ALL_REDUCE, Collective.ALL_GATHER, Collective.REDUCE_SCATTER})


class Peak(Struct, frozen=True):
    """An upper bound in GB/s (bus bandwidth, one direction), and the `steps` that lead to it, one line each."""

    busbw_gbyte_s: float
    steps: tuple[Message, ...]
    source: Arg

    @property
    def derivation(self) -> Arg:
        """The steps in one line."""
        return listed(self.steps, "text.semicolon")


class _Job(Struct, frozen=True):
    """Who takes part: `gpus` and `nics` of each of `nodes` nodes."""

    platform: Platform
    nodes: int
    gpus: int
    nics: int
    collective: Collective
    algorithm: Algorithm

    @property
    def ranks(self) -> int:
        return self.nodes * self.gpus


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

    `gpus` of a node that the job uses, None for all; `nics` of a node, None for all that are near those GPUs. More
    than those cannot be used: one GPU of eight drives one NIC of eight.
    """
    return _bound(_job(platform, nodes, collective, gpus, nics, algorithm), platform.intra_busbw_gbyte_s)


def ceiling_gbyte_s(
    platform: Platform,
    nodes: int,
    collective: Collective,
    *,
    gpus: int | None = None,
    nics: int | None = None,
    algorithm: Algorithm | None = None,
) -> float | None:
    """Above this no algorithm can be, in GB/s; None where no bound is published.

    Where the peak is what a topology delivers, its line rate counts here. `algorithm`: only what this one can.
    """
    inside = platform.line_rate_gbyte_s or platform.intra_busbw_gbyte_s
    jobs = [
        _job(platform, nodes, collective, gpus, nics, one)
        for one in (possible_algorithms(platform) if algorithm is None else (algorithm,))
    ]
    bounds = [bound.busbw_gbyte_s for job in jobs if (bound := _bound(job, inside)) is not None]
    return ABOVE_CEILING * max(bounds) if bounds else None


def possible_algorithms(platform: Platform) -> tuple[Algorithm, ...]:
    """What NCCL can choose from on such machines: NVLS needs switches that add up, SHARP an InfiniBand that does."""
    able = {Algorithm.NVLS: platform.has_nvls, Algorithm.SHARP: platform.nics.link_layer.lower() == "infiniband"}
    return tuple(algorithm for algorithm in Algorithm if able.get(algorithm, True))


def _job(
    platform: Platform,
    nodes: int,
    collective: Collective,
    gpus: int | None,
    nics: int | None,
    algorithm: Algorithm,
) -> _Job:
    used = platform.gpu.count if gpus is None else min(gpus, platform.gpu.count)
    near = math.ceil(platform.nics.count * used / platform.gpu.count)
    return _Job(platform, nodes, used, near if nics is None else min(nics, near), collective, algorithm)


def _bound(job: _Job, inside: Sourced) -> Peak | None:
    """`inside` is the rate of a GPU in a job of all GPUs of a node."""
    if job.collective is Collective.HYPERCUBE:
        return None
    within = _within(job, inside)
    if job.nodes <= job.platform.nvlink_nodes:
        return within
    if job.nics == 0 or job.platform.nvlink_nodes > 1:
        return None
    between = _between(job)
    if job.gpus == 1:
        return between  # one GPU a node moves nothing over NVLink
    if within is None:
        return None
    top, bound = within.busbw_gbyte_s, between.busbw_gbyte_s
    lower = say("bound.lower", inside=top, between=bound, bound=min(top, bound))
    source = listed((within.source, between.source), "text.semicolon")
    return Peak(min(top, bound), (*within.steps, *between.steps, lower), source)


def _within(job: _Job, inside: Sourced) -> Peak | None:
    """What a GPU moves inside its node, or inside the nodes that NVLink joins as if they were one."""
    platform = job.platform
    if job.gpus < platform.gpu.count:
        fewer = next((one for one in platform.intra_of_fewer_gbyte_s if one.gpus == job.gpus), None)
        if fewer is not None:
            inside = Sourced(fewer.value, fewer.source)
        elif platform.is_mesh:
            return None  # it depends on which GPUs they are, and nobody says
    joined = 1 < job.nodes <= platform.nvlink_nodes
    rate, source = inside.value, phrase(inside.source)
    steps = (say("bound.joined" if joined else "bound.inside", rate=rate),)
    together = job.ranks if joined else job.gpus
    if not _in_switches(job) or together < 2:
        return Peak(rate, steps, source)
    bound = rate * 2 * (together - 1) / (together + 1)
    added = say("bound.in_switches", rate=rate, others=together - 1, more=together + 1, bound=bound)
    return Peak(bound, (*steps, added), source)


def _in_switches(job: _Job) -> bool:
    """Do the switches between the GPUs add up? With SHARP between the nodes NCCL uses them as well."""
    if job.collective is not Collective.ALL_REDUCE:
        return False
    sharp = job.algorithm is Algorithm.SHARP and job.platform.has_nvls and job.nodes > 1
    return sharp or job.algorithm is Algorithm.NVLS


def _between(job: _Job) -> Peak:
    """What leaves a node, held against its NICs."""
    nics = job.platform.nics
    total = job.nics * nics.each_gbyte_s
    if nics.each_gbyte_s < nics.rate_gbit_s / 8:
        rate = say("bound.between_slots", nics=job.nics, rate=nics.each_gbyte_s, total=total)
    else:
        rate = say("bound.between", nics=job.nics, rate=nics.rate_gbit_s, total=total)
    bound, step = _shared(job, total)
    sources = [phrase(nics.source), *(() if nics.slot_gbyte_s is None else (phrase(nics.slot_gbyte_s.source),))]
    return Peak(bound, (rate, *(() if step is None else (step,))), listed(sources, "text.semicolon"))


def _shared(job: _Job, total: float) -> tuple[float, Message | None]:
    """(bus bandwidth where the NICs of a node carry `total` GB/s, the step that leads to it; None where it is that)."""
    gpus, nodes, ranks = job.gpus, job.nodes, job.ranks
    if job.collective is Collective.SENDRECV:
        own = min(job.nics, max(1, job.nics // gpus))
        bound = total * (own / job.nics)
        return bound, say("bound.neighbour", own=own, nics=job.nics, bound=bound)
    if job.collective not in _AROUND:
        others = ranks - gpus
        bound = total * ((ranks - 1) / others / gpus)
        return bound, say("bound.partners", others=others, partners=ranks - 1, gpus=gpus, bound=bound)
    if job.algorithm is Algorithm.SHARP and job.collective is Collective.ALL_REDUCE:
        bound = total * (2 * (ranks - 1) / ranks)
        return bound, say("bound.in_network", others=ranks - 1, ranks=ranks, bound=bound)
    if job.algorithm in (Algorithm.TREE, Algorithm.NVLS) and job.collective in _IN_LEVELS:
        bound = total * ((ranks - 1) / (gpus * (nodes - 1)))
        return bound, say("bound.in_levels", others=ranks - 1, gpus=gpus, nodes=nodes - 1, bound=bound)
    return total, None
