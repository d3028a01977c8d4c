"""Readings held against their peers, and what that makes of each node: the numbers beneath every standing."""

from __future__ import annotations

from collections.abc import Sequence
from operator import ne
from statistics import median

from healthcheck.diagnosis.evidence import LOSSES, NODE_PRIOR, SWEEPS, Weights, beliefs, likelihood, together
from healthcheck.diagnosis.levels import USUAL_NOISE, Level, Peers, levels
from healthcheck.model.search import PairReading, Problem
from healthcheck.planning.walk import between

LIKELY = 0.5
HEALTHY = 0.9
"""A node believed healthy as surely as that counts for the level of its peers."""
_MOST_PASSES, _SETTLED = 4, 0.01
_PRIOR_NODES = 100
_FIRST_SWEEPS = 2

Edge = tuple[int, int]


class Weighing:
    """Levels and beliefs of one moment; nodes and readings are known by their places.

    `explained` are readings that belong to a slow path and say nothing of nodes.
    """

    def __init__(self, problem: Problem, readings: Sequence[PairReading]) -> None:
        self.problem = problem
        self.readings = readings
        place = {host: index for index, host in enumerate(problem.hosts)}
        self.ends: list[Edge] = [(place[reading.a], place[reading.b]) for reading in readings]
        self.across = [problem.leaves[a] != problem.leaves[b] for a, b in self.ends]
        self.explained: frozenset[int] = frozenset()
        self.known: list[Level] = []
        self.residual: list[float] = []
        self.weights: dict[Edge, Weights] = {}
        self.belief: list[list[float]] = []
        self.hold_against_peers(None)
        self.belief, _ = self.beliefs(sweeps=_FIRST_SWEEPS)

    def settle(self) -> None:
        """Levels from those believed healthy, beliefs from these levels, until both agree."""
        healthy: list[bool] = []
        for _ in range(_MOST_PASSES):
            before, healthy = healthy, [weights[0] > HEALTHY for weights in self.belief]
            if before and sum(map(ne, before, healthy)) <= _SETTLED * len(healthy):
                break
            self.hold_against_peers(healthy)
            self.belief, self.weights = self.beliefs()

    def hold_against_peers(self, healthy: Sequence[bool] | None) -> None:
        """Level and residual of every reading. One that did not finish is as slow as can be."""
        finished = [
            Peers(index, reading.busbw_gbyte_s, reading.round, self.across[index], self.ends[index])
            for index, reading in enumerate(self.readings)
            if reading.busbw_gbyte_s is not None and reading.busbw_gbyte_s > 0
        ]
        counted = [peer for peer in finished if peer.place not in self.explained] or finished
        judged = levels(counted, None if healthy is None else healthy.__getitem__, self.problem.pair_gbyte_s)
        anything = next(iter(judged.values()), Level(self.problem.pair_gbyte_s or 1.0, USUAL_NOISE))
        of_class = {self.across[place]: level for place, level in judged.items()}
        self.known = [judged.get(i) or of_class.get(self.across[i], anything) for i in range(len(self.readings))]
        self.residual = [
            -LOSSES[-1] if reading.busbw_gbyte_s is None else max(reading.busbw_gbyte_s / level.value - 1, -LOSSES[-1])
            for reading, level in zip(self.readings, self.known, strict=True)
        ]

    def beliefs(
        self, without: frozenset[int] = frozenset(), sweeps: int = SWEEPS
    ) -> tuple[list[list[float]], dict[Edge, Weights]]:
        """What is believed of every node, and the weight of every pair, without some readings."""
        by_pair: dict[Edge, list[Weights]] = {}
        for index, (a, b) in enumerate(self.ends):
            if index not in self.explained and index not in without:
                fit = likelihood(self.residual[index], self.known[index].noise)
                by_pair.setdefault((min(a, b), max(a, b)), []).append(fit)
        weights: dict[Edge, Weights] = {pair: together(found) for pair, found in by_pair.items()}
        return beliefs(len(self.problem.hosts), weights, self.sick_share, sweeps), weights

    @property
    def sick_share(self) -> float:
        """How many nodes are sick, as the evidence so far has it: few, unless it says otherwise."""
        seen = sum(1 - weights[0] for weights in self.belief)
        return (seen + NODE_PRIOR * _PRIOR_NODES) / (len(self.belief) + _PRIOR_NODES)

    @property
    def noise(self) -> float:
        """The relative standard deviation that most readings were held against."""
        return median(level.noise for level in self.known) if self.known else USUAL_NOISE

    def boundary(self, index: int) -> tuple[str, str]:
        """The two leaves a reading connects."""
        a, b = self.ends[index]
        return between(self.problem.leaves[a], self.problem.leaves[b])
