"""Where every node, link and path stands, given all pair readings of a search, in whatever order they came.

The rules and their numbers stand in docs/localisation.md, with what they cannot see.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from healthcheck.diagnosis.levels import Level
from healthcheck.diagnosis.paths import slow_paths
from healthcheck.diagnosis.standings import CALM, intermittent, leaf_wide, link_standings, node_standings
from healthcheck.diagnosis.weighing import Weighing
from healthcheck.model.search import LinkStanding, NodeStanding, PairReading, Problem, Standing

LEAST_SOUGHT, MOST_SOUGHT, NOISE_SOUGHT = 0.05, 0.10, 2.2
_PASSES = 3


class View(Struct, frozen=True):
    """What is known after some rounds. Places are those in `in_order(readings)`, nodes stand in rank order.

    `noise`: the relative standard deviation most readings were held against; `sought`: the smallest loss looked for;
    `residuals`: reading / level - 1; `explained`: places of readings that belong to a slow path and say nothing of
    nodes; `met`: the partners of each node; `leaf_wide`: leaves most of whose nodes are sick.
    """

    nodes: tuple[NodeStanding, ...]
    links: tuple[LinkStanding, ...]
    paths: tuple[tuple[str, str], ...]
    noise: float
    sought: float
    residuals: tuple[float, ...]
    levels: tuple[Level, ...]
    explained: frozenset[int]
    met: tuple[frozenset[str], ...]
    leaf_wide: tuple[str, ...] = ()

    def standing(self, *wanted: Standing) -> tuple[str, ...]:
        """Hosts that stand like that, in rank order."""
        return tuple(node.host for node in self.nodes if node.standing in wanted)

    def link_pairs(self, *states: str) -> tuple[tuple[str, str], ...]:
        """Links in one of these states."""
        return tuple((link.a, link.b) for link in self.links if link.state in states)


def sought_loss(shortfall: float, noise: float, sensitivity: float | None) -> float:
    """The smallest loss to look for: one that explains most of the shortfall, unless the noise hides it."""
    if sensitivity is not None:
        return sensitivity
    least = max(LEAST_SOUGHT, NOISE_SOUGHT * noise)
    return min(max(0.6 * shortfall, least), max(MOST_SOUGHT, least))


def view(problem: Problem, readings: Sequence[PairReading], shortfall: float) -> View:
    """Judge everything. `shortfall` is that of the latest job over many hosts, a fraction."""
    weighing = Weighing(problem, in_order(readings))
    weighing.settle()
    sought = sought_loss(shortfall, weighing.noise, problem.sensitivity)
    paths = slow_paths(weighing, sought)
    # A slow path leaves the node evidence, which changes the levels, which may show another one.
    for _ in range(_PASSES):
        explained = frozenset(place for places in paths.values() for place in places)
        if explained <= weighing.explained:
            break
        weighing.explained |= explained
        weighing.settle()
        sought = sought_loss(shortfall, weighing.noise, problem.sensitivity)
        paths = slow_paths(weighing, sought)
    nodes = node_standings(weighing, sought)
    links = link_standings(weighing, nodes, sought)
    nodes = intermittent(nodes, links)
    return View(
        nodes=nodes,
        links=links,
        paths=tuple(paths),
        noise=weighing.noise,
        sought=sought,
        residuals=tuple(weighing.residual),
        levels=tuple(weighing.known),
        explained=weighing.explained,
        met=_met(problem, readings),
        leaf_wide=leaf_wide(nodes, dict(zip(problem.hosts, problem.leaves, strict=True))),
    )


def in_order(readings: Sequence[PairReading]) -> tuple[PairReading, ...]:
    """The order in which a view counts its readings."""
    return tuple(sorted(readings, key=_order))


def _order(reading: PairReading) -> tuple[int, str, str, str]:
    return reading.round, reading.a, reading.b, reading.job


def _met(problem: Problem, readings: Sequence[PairReading]) -> tuple[frozenset[str], ...]:
    met: dict[str, set[str]] = {host: set() for host in problem.hosts}
    for reading in readings:
        met[reading.a].add(reading.b)
        met[reading.b].add(reading.a)
    return tuple(frozenset(met[host]) for host in problem.hosts)


def after_verification(found: View, hosts: Sequence[str], tolerance: float) -> View:
    """What a job over `hosts` at its expectation says on top: none of them loses more than `tolerance`.

    A smaller loss that is likely stays likely: such a job could not have shown it.
    """
    proven = set(hosts)
    nodes = tuple(_proven(node, tolerance) if node.host in proven else node for node in found.nodes)
    calm = {node.host for node in nodes if node.standing in CALM}
    links = tuple(
        replace(link, state="confirmed") if link.state == "likely" and {link.a, link.b} <= calm & proven else link
        for link in found.links
    )
    return replace(found, nodes=nodes, links=links)


def _proven(node: NodeStanding, tolerance: float) -> NodeStanding:
    small = node.standing is Standing.LIKELY and node.loss <= tolerance
    if small or node.intermittent or node.standing is Standing.CONFIRMED:
        return node
    return replace(node, standing=Standing.GOOD, masked=False)


def weigh(problem: Problem, found: View, readings: Sequence[PairReading]) -> Mapping[str, tuple[int, ...]]:
    """For each host the places of its readings (in the order of the view), those that weigh most first."""
    places: dict[str, list[int]] = {host: [] for host in problem.hosts}
    for index, reading in enumerate(in_order(readings)):
        places[reading.a].append(index)
        places[reading.b].append(index)
    return {host: tuple(sorted(own, key=lambda index: -abs(found.residuals[index]))) for host, own in places.items()}
