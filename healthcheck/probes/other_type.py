"""Has a node more compute ports than the machine type that was named, so that it is another machine?"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from healthcheck.model.node import NodeFacts
from healthcheck.model.platform import Platform
from healthcheck.probes.compute_ports import of_kind
from healthcheck.probes.nearness import nearness


class LargerType(Struct, frozen=True):
    """`ports` that are active at the promised rate and may be compute ports, and the types they fit, by `names`."""

    ports: int
    names: tuple[str, ...]


def larger_type(facts: NodeFacts, platform: Platform | None, known: Iterable[Platform]) -> LargerType | None:
    """The types of the same GPUs that have more ports of this kind and rate, and no more than the node shows.

    None where the ports are those of `platform`. Ports behind the processor are for storage and never count, unless
    nothing tells how the node is wired: then `--platform auto` would not take it for the smaller type either.
    """
    if platform is None or platform.nics.count == 0 or facts.hcas.value is None:
        return None
    promised, ways = platform.nics, nearness(facts)
    near = [port for port in of_kind(facts.hcas.value, promised) if not ways.near or port.device in ways.near]
    active = [port for port in near if port.active and port.rate_gbit_s == promised.rate_gbit_s]
    if len(active) <= promised.count:
        return None
    fits = [
        other
        for other in known
        if promised.count < other.nics.count <= len(near) and _alike(platform, other) and _of_these_gpus(facts, other)
    ]
    most = max((other.nics.count for other in fits), default=0)
    names = tuple(sorted(other.name for other in fits if other.nics.count == most))
    return LargerType(len(active), names) if names else None


def _alike(platform: Platform, other: Platform) -> bool:
    """Do they differ in the number of ports alone?"""
    return (
        other.gpu.count == platform.gpu.count
        and other.nics.rate_gbit_s == platform.nics.rate_gbit_s
        and other.nics.link_layer.lower() == platform.nics.link_layer.lower()
    )


def _of_these_gpus(facts: NodeFacts, other: Platform) -> bool:
    found = facts.gpus.value or ()
    return bool(found) and all(other.gpu.means(gpu.name) for gpu in found)
