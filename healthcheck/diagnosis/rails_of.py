"""Which rails of a node are slow, from pairs whose rails were measured apart."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from statistics import median

from msgspec import Struct

from healthcheck.model.search import PairReading

SLOW_SHARE = 0.5
"""A rail counts as slow from this share of the loss of the node's worst rail up."""
LEAST_RAIL_LOSS = 0.05
NODE_WIDE_SHARE = 0.75


class SlowRails(Struct, frozen=True):
    """The slow rails of one host, by number; `losses` of every rail as fractions; `jobs` they were read in.

    `node_wide`: so many rails are slow that the cause is the node's (GPUDirect off, host, PCIe), not a rail's.
    """

    host: str
    rails: tuple[int, ...]
    losses: tuple[float, ...]
    node_wide: bool
    jobs: int


def slow_rails(host: str, readings: Sequence[PairReading], good: Collection[str]) -> SlowRails | None:
    """What the rails of `host` read with good partners, against the same rails over all jobs.

    None where no reading with a good partner shows as many rails as the others do.
    """
    apart = [reading for reading in readings if reading.rails]
    count = max((len(reading.rails) for reading in apart), default=0)
    whole = [reading for reading in apart if len(reading.rails) == count]
    partners = set(good)
    own = [r for r in whole if (r.a == host and r.b in partners) or (r.b == host and r.a in partners)]
    if not own:
        return None
    losses = []
    for rail in range(count):
        usual = median(reading.rails[rail] for reading in whole)
        losses.append(1 - _middle([reading.rails[rail] for reading in own]) / usual if usual > 0 else 0.0)
    least = max(LEAST_RAIL_LOSS, SLOW_SHARE * max(losses))
    slow = tuple(rail for rail, loss in enumerate(losses) if loss >= least)
    return SlowRails(host, slow, tuple(losses), len(slow) >= NODE_WIDE_SHARE * count, len(own))


def _middle(values: Sequence[float]) -> float:
    """The median, of two the better one: a single dip is not the rail's."""
    ordered = sorted(values)
    return ordered[len(ordered) // 2]
