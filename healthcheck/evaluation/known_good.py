"""What do healthy machines of this kind measure? Below 90 % of that is DEGRADED."""

from __future__ import annotations

import math

from healthcheck.model.algorithm import Algorithm
from healthcheck.model.collective import Collective
from healthcheck.model.platform import KnownGood, Platform

KNOWN_GOOD_FRACTION = 0.9
"""A reading below this part of what healthy machines measure is DEGRADED."""

_GIB = 1 << 30
_EARLY_NODES, _MEASURED_AT = 4, 8 * _GIB


def least_bytes(nodes: int) -> int:
    """The size from which a known-good number can be asked for, which was measured at 8 GiB or so.

    Over more nodes the same size is cut into smaller pieces, and the curve rises later: 1 GiB does for four nodes, and
    with the root of their number 8 GiB from 256 on.
    """
    later = math.sqrt(max(nodes, _EARLY_NODES) / _EARLY_NODES)
    return min(_MEASURED_AT, math.ceil(_GIB * later))


def reference(
    platform: Platform,
    nodes: int,
    collective: Collective = Collective.ALL_REDUCE,
    *,
    gpus: int | None = None,
    algorithm: Algorithm | None = None,
) -> KnownGood | None:
    """The number published or measured for just such a job; None where there is none.

    `gpus` a node that the job uses, None for all; `algorithm` that it forces, None where NCCL chooses.
    """
    fitting = applying(platform, nodes, collective, gpus=gpus)
    return next((known for known in fitting if known.algorithm is algorithm), None)


def lowest_reference(
    platform: Platform, nodes: int, collective: Collective, *, gpus: int, ring_peak_gbyte_s: float
) -> KnownGood | None:
    """The number for a job of which nobody knows whether it forced the ring, as most tests of two nodes do.

    Inside a node nobody does. Between nodes the lower number holds; where only what NCCL chooses is published, and that
    is more than a ring can do, none does.
    """
    chosen = reference(platform, nodes, collective, gpus=gpus)
    if nodes == 1:
        return chosen
    ring = reference(platform, nodes, collective, gpus=gpus, algorithm=Algorithm.RING)
    if ring is None and chosen is not None and chosen.value > ring_peak_gbyte_s:
        return None
    return min((known for known in (chosen, ring) if known is not None), key=lambda known: known.value, default=None)


def applying(
    platform: Platform, nodes: int, collective: Collective = Collective.ALL_REDUCE, *, gpus: int | None = None
) -> tuple[KnownGood, ...]:
    """All that is published for a job of these nodes and GPUs, with any algorithm; the narrowest range first."""
    all_of_them = gpus is None or gpus == platform.gpu.count
    fitting = [
        known
        for known in platform.known_good_gbyte_s
        if known.collective is collective
        and known.min_nodes <= nodes <= (known.max_nodes or nodes)
        and (known.gpus == gpus or (all_of_them and known.gpus in (None, platform.gpu.count)))
    ]
    return tuple(sorted(fitting, key=lambda known: (known.max_nodes or 1 << 30) - known.min_nodes))
