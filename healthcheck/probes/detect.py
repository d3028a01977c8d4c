"""Which of the known machine types are these? For `--platform auto` and `healthcheck platform detect`.

A type fits a node that shows its GPUs by name and number, and exactly its ports at their rate. Cards may be joined by
bridges or not: there the matrix decides. A type that names no ports fits whatever ports there are, but one that names
them and fits comes first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

from msgspec import Struct

from healthcheck.model.fabric_facts import links_of
from healthcheck.model.gpu_models import board_gpu
from healthcheck.model.message import Message, say
from healthcheck.model.node import Hca, NodeFacts
from healthcheck.model.platform import Platform
from healthcheck.probes.compute_ports import of_kind
from healthcheck.probes.nearness import nearness

_MANY = 3


class Shown(Struct, frozen=True):
    """Nodes that show the same, and the machine types that fit them."""

    hosts: tuple[str, ...]
    words: str
    fits: tuple[str, ...]


def detect_platform(facts: Sequence[NodeFacts], platforms: Mapping[str, Platform]) -> Platform | Message:
    """The platform most observed nodes look like; a message naming the candidates where that is not clear.

    A sick node that lost a GPU or a port votes for none and is outvoted by the others. A node with enough ports for
    a bigger platform does not vote for a smaller one: it may be the bigger one, half broken.
    """
    observed = [node for node in facts if node.gpus.observed and node.gpus.value]
    if not observed:
        return say("probe.platform.nothing_seen", nodes=len(facts))
    votes = Counter(name for node in observed for name in fitting(node, platforms))
    ranking = votes.most_common()
    if ranking and 2 * ranking[0][1] > len(observed) and (len(ranking) == 1 or ranking[1][1] < ranking[0][1]):
        return platforms[ranking[0][0]]
    seen = Counter(map(_words, observed)).most_common(1)[0][0]
    if ranking:
        return say("probe.platform.ambiguous", seen=seen, names=", ".join(sorted(votes)))
    by_gpu = sorted(name for name, platform in platforms.items() if any(_has_gpus(node, platform) for node in observed))
    if by_gpu:
        return say("probe.platform.only_gpus", seen=seen, names=", ".join(by_gpu))
    return say("probe.platform.unknown", seen=seen)


def shown(facts: Iterable[NodeFacts], platforms: Mapping[str, Platform]) -> tuple[Shown, ...]:
    """What the nodes show, equal ones together, the most common first."""
    alike: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for node in facts:
        alike.setdefault((_words(node), fitting(node, platforms)), []).append(node.host)
    groups = [Shown(tuple(hosts), words, fits) for (words, fits), hosts in alike.items()]
    return tuple(sorted(groups, key=lambda group: -len(group.hosts)))


def fitting(node: NodeFacts, platforms: Mapping[str, Platform]) -> tuple[str, ...]:
    """The names of the platforms that this node fits; none where its GPUs, or ports that decide, were not seen."""
    alike = {
        name: platform
        for name, platform in platforms.items()
        if _has_gpus(node, platform)
        and len(node.gpus.value or ()) == platform.gpu.count
        and _joined_alike(node, platform)
    }
    naming = {name: platform for name, platform in alike.items() if platform.nics.count}
    if naming and not node.hcas.observed:
        return ()
    found = [name for name, platform in naming.items() if _ports_fit(node, platform, naming.values())]
    if found:
        return tuple(found)
    if any(0 < len(_ports(node, other, at_rate=False)) <= other.nics.count for other in naming.values()):
        return ()  # it may be one of these with a broken port
    return tuple(name for name in alike if name not in naming)


def _has_gpus(node: NodeFacts, platform: Platform) -> bool:
    found = node.gpus.value or ()
    return bool(found) and all(platform.gpu.means(gpu.name) for gpu in found)


def _joined_alike(node: NodeFacts, platform: Platform) -> bool:
    """Cards with NVLinks between some of them fit a bridged type, those without one that is not; unseen fits both.

    A board has its NVLinks by nature: there, that none are shown is a fault and no other machine.
    """
    matrix = node.topology.value
    if matrix is None or any(board_gpu(gpu.name) is not None for gpu in node.gpus.value or ()):
        return True
    pairs = combinations(range(len(matrix.gpus)), 2)
    return any(links_of(matrix.cells[a][b]) for a, b in pairs) == platform.has_bridges


def _ports_fit(node: NodeFacts, platform: Platform, others: Iterable[Platform]) -> bool:
    count = platform.nics.count
    if len(_ports(node, platform, at_rate=True)) != count:
        return False
    return not any(count < other.nics.count <= len(_ports(node, other, at_rate=False)) for other in others)


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


def _words(node: NodeFacts) -> str:
    """What a node shows: `8 x NVIDIA A100-SXM4-80GB joined by NV12, ports 4 x 200 Gb/s InfiniBand`."""
    gpus = Counter(gpu.name for gpu in node.gpus.value or ())
    rates = Counter(
        f"{port.rate_gbit_s or 0:g} Gb/s {'EFA' if port.efa else port.link_layer}".strip()
        for port in node.hcas.value or ()
        if port.active
    )
    parts = [f"{count} x {name}" for name, count in gpus.most_common(_MANY)]
    ports = [f"{count} x {rate}" for rate, count in rates.most_common(_MANY)]
    return f"{', '.join(parts) or 'no GPU'}{_joined(node)}, ports {', '.join(ports) or 'none'}"


def _joined(node: NodeFacts) -> str:
    matrix = node.topology.value
    if matrix is None or len(matrix.gpus) < 2:
        return ""
    cells = Counter(matrix.cells[a][b] for a, b in combinations(range(len(matrix.gpus)), 2))
    return f" joined by {', '.join(cell for cell, _ in cells.most_common(_MANY))}"
