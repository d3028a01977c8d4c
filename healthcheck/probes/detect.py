"""Which of the known machine types are these? For `--platform auto`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from healthcheck.model.message import Message, say
from healthcheck.model.node import Hca, NodeFacts
from healthcheck.model.platform import Platform
from healthcheck.probes.compute_ports import of_kind
from healthcheck.probes.nearness import nearness

_MANY = 3


def detect_platform(facts: Sequence[NodeFacts], platforms: Mapping[str, Platform]) -> Platform | Message:
    """The platform most observed nodes look like; a message naming the candidates where that is not clear.

    A node votes for every platform whose GPU name, GPU count, and number and rate of active ports it shows exactly.
    A sick node that lost a GPU or a port votes for none and is outvoted by the others. A node with enough ports for
    a bigger platform does not vote for a smaller one: it may be the bigger one, half broken.
    """
    observed = [node for node in facts if node.gpus.observed and node.gpus.value]
    names = ", ".join(sorted(platforms)) or "none"
    if not observed:
        return say("probe.platform.nothing_seen", nodes=len(facts), names=names)
    votes = Counter(name for node in observed for name in _votes(node, platforms))
    ranking = votes.most_common()
    if ranking and 2 * ranking[0][1] > len(observed) and (len(ranking) == 1 or ranking[1][1] < ranking[0][1]):
        return platforms[ranking[0][0]]
    seen = _seen(observed)
    if ranking:
        return say("probe.platform.ambiguous", seen=seen, names=", ".join(sorted(votes)))
    by_gpu = sorted(name for name, platform in platforms.items() if any(_has_gpus(node, platform) for node in observed))
    if by_gpu:
        return say("probe.platform.only_gpus", seen=seen, names=", ".join(by_gpu))
    return say("probe.platform.unknown", seen=seen, names=names)


def _has_gpus(node: NodeFacts, platform: Platform) -> bool:
    found = node.gpus.value or ()
    return bool(found) and all(any(name.lower() in gpu.name.lower() for name in platform.gpu.names) for gpu in found)


def _votes(node: NodeFacts, platforms: Mapping[str, Platform]) -> list[str]:
    if not node.hcas.observed:
        return []
    fitting = {
        name: platform
        for name, platform in platforms.items()
        if _has_gpus(node, platform) and len(node.gpus.value or ()) == platform.gpu.count
    }
    return [
        name
        for name, platform in fitting.items()
        if len(_ports(node, platform, at_rate=True)) == platform.nics.count
        and not any(
            platform.nics.count < other.nics.count <= len(_ports(node, other, at_rate=False))
            for other in fitting.values()
        )
    ]


def _ports(node: NodeFacts, platform: Platform, *, at_rate: bool) -> list[Hca]:
    """The ports that would be the compute ports; where every GPU has its NICs beside it, the others are for storage."""
    nics, ways = platform.nics, nearness(node)
    return [
        port
        for port in of_kind(node.hcas.value or (), nics)
        if (port.link_layer or port.efa)
        and (ways.uneven or port.device not in ways.far)
        and (not at_rate or (port.active and port.rate_gbit_s == nics.rate_gbit_s))
    ]


def _seen(observed: Sequence[NodeFacts]) -> str:
    """What most nodes show, in words: `8 x NVIDIA A100-SXM4-80GB, ports 4 x 200 Gb/s InfiniBand`."""
    return Counter(_words(node) for node in observed).most_common(1)[0][0]


def _words(node: NodeFacts) -> str:
    gpus = Counter(gpu.name for gpu in node.gpus.value or ())
    rates = Counter(
        f"{port.rate_gbit_s or 0:g} Gb/s {port.link_layer}".strip() for port in node.hcas.value or () if port.active
    )
    parts = [f"{count} x {name}" for name, count in gpus.most_common(_MANY)]
    ports = [f"{count} x {rate}" for rate, count in rates.most_common(_MANY)]
    return ", ".join(parts) + ", ports " + (", ".join(ports) or "none")
