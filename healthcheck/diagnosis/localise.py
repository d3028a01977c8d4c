"""Where every node, link and path stands, given all pair readings of a search, in whatever order they came.

The rules and their numbers stand in docs/localisation.md, with what they cannot see.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

from msgspec import Struct

from healthcheck.diagnosis.evidence import LOSSES, Weights, beliefs, likelihood, link_odds, together
from healthcheck.diagnosis.levels import Level, Peers, levels
from healthcheck.model.search import LinkStanding, NodeStanding, PairReading, Problem, Standing
from healthcheck.planning.walk import between

FALSE_NAME_RATE = 0.01
"""Of all nodes together: about one false name in a hundred runs, as far as the noise model holds."""
LEAST_LOSS, CLEARED_BELOW = 0.045, 0.05
LEAST_SOUGHT, MOST_SOUGHT, NOISE_SOUGHT = 0.05, 0.10, 2.2
OUT_OF_DOUBT = 0.03
PROVEN, PROVEN_LARGE, LARGE = 1e-5, 3e-6, 256
LIKELY = 0.5
PATH_READINGS, PATH_SHARE, PATH_NODES, PATH_NODE_SUSPICION = 4, 0.75, 6, 0.30
MOST_LINK_TRIES = 4
_PASSES = 3

_CALM = (Standing.GOOD, Standing.CLEAR)


class View(Struct, frozen=True):
    """What is known after some rounds. Indices are places in the hosts of the problem and in the readings.

    `noise`: the relative standard deviation most readings were held against; `sought`: the smallest loss looked for;
    `explained`: places of readings that belong to a slow path and say nothing of nodes.
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
    """Judge everything. `shortfall` is that of the latest job over many hosts."""
    return _Judge(problem, tuple(sorted(readings, key=_order)), shortfall).view()


def in_order(readings: Sequence[PairReading]) -> tuple[PairReading, ...]:
    """The order in which a view counts its readings."""
    return tuple(sorted(readings, key=_order))


def _order(reading: PairReading) -> tuple[int, str, str, str]:
    return reading.round, reading.a, reading.b, reading.job


class _Judge:
    """One judgement; its attributes are the steps of it."""

    def __init__(self, problem: Problem, readings: tuple[PairReading, ...], shortfall: float) -> None:
        self.problem = problem
        self.readings = readings
        self.shortfall = shortfall
        place = {host: index for index, host in enumerate(problem.hosts)}
        self.ends = [(place[reading.a], place[reading.b]) for reading in readings]
        self.leaf = problem.leaves
        self.explained: frozenset[int] = frozenset()
        self.known: dict[int, Level] = {}
        self.residual: list[float] = []
        self.weights: dict[tuple[int, int], Weights] = {}
        self.belief: list[list[float]] = []

    def view(self) -> View:
        """Levels, beliefs and paths depend on each other: a few passes settle them."""
        self._hold_against_peers(None)
        self._believe()
        for _ in range(_PASSES):
            healthy = [weights[0] > LIKELY for weights in self.belief]
            self._hold_against_peers(healthy)
            self._believe()
            paths, explained = self._paths()
            if explained <= self.explained:
                break
            self.explained |= explained
            self._believe()
        nodes = self._nodes()
        return View(
            nodes=nodes,
            links=self._links(nodes),
            paths=paths,
            noise=self._noise(),
            sought=self._sought(),
            residuals=tuple(self.residual),
            levels=tuple(self.known[index] for index in range(len(self.readings))),
            explained=self.explained,
            met=tuple(frozenset(partners) for partners in self._partners()),
        )

    def _across(self, index: int) -> bool:
        a, b = self.ends[index]
        return self.leaf[a] != self.leaf[b]

    def _hold_against_peers(self, healthy: Sequence[bool] | None) -> None:
        finished = [
            Peers(index, reading.busbw_gbyte_s, reading.round, self._across(index), self.ends[index])
            for index, reading in enumerate(self.readings)
            if reading.busbw_gbyte_s is not None
        ]
        counted = [peer for peer in finished if peer.place not in self.explained] or finished
        judged = levels(counted, None if healthy is None else healthy.__getitem__, self.problem.pair_gbyte_s)
        usual = Level(self.problem.pair_gbyte_s or 1.0, 0.02)
        by_class = {self._across(place): level for place, level in judged.items()}
        self.known = {}
        self.residual = []
        for index, reading in enumerate(self.readings):
            level = judged.get(index) or by_class.get(self._across(index)) or next(iter(by_class.values()), usual)
            self.known[index] = level
            value = reading.busbw_gbyte_s
            self.residual.append(-LOSSES[-1] if value is None else max(value / level.value - 1, -LOSSES[-1]))

    def _believe(self, without: frozenset[int] = frozenset()) -> None:
        self.belief, self.weights = self._beliefs(self.explained | without)

    def _beliefs(self, without: frozenset[int]) -> tuple[list[list[float]], dict[tuple[int, int], Weights]]:
        by_pair: dict[tuple[int, int], list[Weights]] = {}
        for index, (a, b) in enumerate(self.ends):
            if index not in without:
                fit = likelihood(self.residual[index], self.known[index].noise)
                by_pair.setdefault((min(a, b), max(a, b)), []).append(fit)
        weights: dict[tuple[int, int], Weights] = {pair: together(found) for pair, found in by_pair.items()}
        return beliefs(len(self.problem.hosts), weights), weights

    def _noise(self) -> float:
        return median(level.noise for level in self.known.values()) if self.known else 0.02

    def _sought(self) -> float:
        return sought_loss(self.shortfall, self._noise(), self.problem.sensitivity)

    def _paths(self) -> tuple[tuple[tuple[str, str], ...], frozenset[int]]:
        """Leaf pairs that are slow for everybody who crosses them, and the readings that this explains."""
        crossing: dict[tuple[str, str], list[int]] = {}
        for index, (a, b) in enumerate(self.ends):
            if self._across(index):
                crossing.setdefault(between(self.leaf[a], self.leaf[b]), []).append(index)
        found = {pair: places for pair, places in crossing.items() if self._is_path(places)}
        return tuple(sorted(found)), frozenset(index for places in found.values() for index in places)

    def _is_path(self, places: Sequence[int]) -> bool:
        sought = self._sought()
        slow = [i for i in places if self.residual[i] < -max(2 * self.known[i].noise, sought / 2)]
        nodes = {node for i in slow for node in self.ends[i]}
        if len(slow) < PATH_READINGS or len(slow) < PATH_SHARE * len(places) or len(nodes) < PATH_NODES:
            return False
        suspicion = [1 - self.belief[node][0] for node in nodes]
        if max(suspicion) > PATH_NODE_SUSPICION:
            # Its own readings may be all that speaks against a node: what do the others say?
            others, _ = self._beliefs(self.explained | frozenset(places))
            suspicion = [1 - others[node][0] for node in nodes]
        return sum(doubt <= PATH_NODE_SUSPICION for doubt in suspicion) >= PATH_NODES

    def _partners(self) -> list[set[str]]:
        partners: list[set[str]] = [set() for _ in self.problem.hosts]
        for a, b in self.ends:
            partners[a].add(self.problem.hosts[b])
            partners[b].add(self.problem.hosts[a])
        return partners

    def _nodes(self) -> tuple[NodeStanding, ...]:
        sought, count = self._sought(), len(self.problem.hosts)
        loss = [sum(p * d for p, d in zip(weights, LOSSES, strict=True)) for weights in self.belief]
        cleared = self._slow_with_cleared(loss, sought)
        partners = self._partners()
        proven = PROVEN if count <= LARGE else PROVEN_LARGE
        found = []
        for node, host in enumerate(self.problem.hosts):
            weights = self.belief[node]
            sick = 1 - weights[0]
            large = sum(p for p, d in zip(weights, LOSSES, strict=True) if d >= sought - 1e-9)
            odds = sick / weights[0] if weights[0] > 0 else float("inf")
            if odds > count / FALSE_NAME_RATE and loss[node] >= LEAST_LOSS and len(cleared[node]) >= 2:
                standing = Standing.CONFIRMED
            elif not partners[node]:
                standing = Standing.UNTESTED
            elif large < proven:
                standing = Standing.GOOD
            elif large < OUT_OF_DOUBT:
                standing = Standing.CLEAR
            else:
                standing = Standing.LIKELY if sick > LIKELY else Standing.SUSPECTED
            found.append(NodeStanding(host, standing, loss[node], sick, len(partners[node])))
        return tuple(found)

    def _slow_with_cleared(self, loss: Sequence[float], sought: float) -> list[set[int]]:
        """For each node the partners that are themselves cleared and with which it was slow."""
        found: list[set[int]] = [set() for _ in self.problem.hosts]
        for index, (a, b) in enumerate(self.ends):
            if index not in self.explained and self.residual[index] < -max(sought / 2, self.known[index].noise):
                if loss[b] < CLEARED_BELOW:
                    found[a].add(b)
                if loss[a] < CLEARED_BELOW:
                    found[b].add(a)
        return found

    def _links(self, nodes: Sequence[NodeStanding]) -> tuple[LinkStanding, ...]:
        """Edges that are slow though both ends are well elsewhere."""
        by_edge: dict[tuple[int, int], list[int]] = {}
        for index, (a, b) in enumerate(self.ends):
            if index not in self.explained:
                by_edge.setdefault((min(a, b), max(a, b)), []).append(index)
        sought = self._sought()
        found = []
        for (a, b), places in sorted(by_edge.items()):
            if nodes[a].standing not in _CALM or nodes[b].standing not in _CALM:
                continue
            slow = [i for i in places if self.residual[i] < -max(3 * self.known[i].noise, 0.6 * sought)]
            if slow:
                state = self._link_state(slow, places, link_odds(self.weights[a, b]), len(by_edge))
                sure = all(nodes[end].standing is Standing.GOOD for end in (a, b))
                state = "likely" if state == "confirmed" and not sure else state
                hosts = self.problem.hosts
                found.append(LinkStanding(hosts[a], hosts[b], state, -median(self.residual[i] for i in slow)))
        return tuple(found)

    @staticmethod
    def _link_state(slow: Sequence[int], places: Sequence[int], odds: float, edges: int) -> str:
        if len(places) == 1:
            return "open"
        if len(slow) == len(places) and odds > edges / FALSE_NAME_RATE:
            return "confirmed"
        return "open" if len(slow) == len(places) and len(places) < MOST_LINK_TRIES else "one_off"


def weigh(problem: Problem, found: View, readings: Sequence[PairReading]) -> Mapping[str, tuple[int, ...]]:
    """For each host the places of its readings (in the order of the view), those that weigh most first."""
    places: dict[str, list[int]] = {host: [] for host in problem.hosts}
    for index, reading in enumerate(in_order(readings)):
        places[reading.a].append(index)
        places[reading.b].append(index)
    return {host: tuple(sorted(own, key=lambda index: -abs(found.residuals[index]))) for host, own in places.items()}
