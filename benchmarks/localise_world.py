"""A cluster with planted faults and noise, as the search sees it: what pairs and jobs over many nodes read.

The model: normal noise of a given sigma, and with 1 % a one-off loss of 10-20 %; healthy nodes differ by 0.3 %; a pair
across leaves is 1 % slower; the level falls with the size of a job; the expectation of the full run is off by up to
3 %. A job is as fast as its worst node, edge of its ring or crossing between two leaves. Rails of one job share half of
the variance of their noise. The search is told nothing of all this.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

from msgspec import Struct

from healthcheck.model.search import FullReading, PairReading, Problem, Purpose
from healthcheck.planning.walk import between

RAILS = 8
NODE_GBYTE_S, RAIL_GBYTE_S, FULL_GBYTE_S = 190.0, 47.5, 355.0
ACROSS = 0.99
SIZE_LOSS = 0.005
FAST_ENOUGH, FAST_ENOUGH_NOISE = 0.05, 2.5
LOOK_DIP = 0.15


class Plan(Struct, frozen=True):
    """What is planted in a cluster of `nodes`, and how its readings scatter. Losses are fractions.

    `sick`: from how many to how many nodes. `mild`: their losses lie here, None: half-rate port, lost rail, GDR
    off, slot at x8. `half_rails`: only one rail of each is slow, the job by 6 %. `sick_leaf`: all nodes of one leaf.
    `look_dip`: nobody is sick, the first look was a dip. `every_other`: sick nodes are sick in half of their jobs.
    """

    nodes: int
    sick: tuple[int, int] = (0, 0)
    sigma: float = 0.03
    per_rail: bool = False
    mild: tuple[float, float] | None = None
    half_rails: bool = False
    sick_leaf: bool = False
    link: bool = False
    path: bool = False
    look_dip: bool = False
    every_other: bool = False
    drift: float = 0.0
    heavy: bool = False
    dips: float = 0.01
    spread: float = 0.003
    expected_off: tuple[float, float] = (-0.03, 0.03)
    pair_known: bool = False
    sensitivity: float | None = None
    max_rounds: int = 16
    leaf_size: int = 0

    @property
    def on_a_leaf(self) -> int:
        return self.leaf_size or (8 if self.nodes <= 16 else 16 if self.nodes <= 128 else 32)


class World:
    """One cluster: `problem` for the search, `pair` and `full` to measure, and the truth."""

    def __init__(self, plan: Plan, seed: int) -> None:
        self.plan = plan
        self.random = random.Random(f"{seed}|{plan}")
        self.hosts = tuple(f"node{number:04d}" for number in range(1, plan.nodes + 1))
        self.leaf = {host: f"leaf{place // plan.on_a_leaf:03d}" for place, host in enumerate(self.hosts)}
        self._quality = {host: 1 + self.random.gauss(0, plan.spread) for host in self.hosts}
        self.loss: dict[str, float] = {}
        self.slow_rails: dict[str, frozenset[int]] = {}
        self._rail = dict.fromkeys(self.hosts, (1.0,) * RAILS)
        for host in self._chosen():
            self._plant(host)
        self.link = self._planted_link() if plan.link else None
        self.path = self._planted_path() if plan.path else None
        self._edge_loss = self.random.choice((0.5, 0.4, 0.3))
        self._off = self.random.uniform(*plan.expected_off)
        self._round = 0
        self._drift = 1.0
        look = self.full(self.hosts, 1)
        self.shortfall = max(look.shortfall, LOOK_DIP) if plan.look_dip else look.shortfall

    @property
    def slow(self) -> bool:
        """Whether the first look was slow enough to start a search."""
        return self.shortfall > max(FAST_ENOUGH, FAST_ENOUGH_NOISE * self.plan.sigma) or self.plan.look_dip

    @property
    def problem(self) -> Problem:
        """What the search is told."""
        plan = self.plan
        level = RAIL_GBYTE_S if plan.per_rail else NODE_GBYTE_S
        return Problem(
            hosts=self.hosts,
            leaves=tuple(self.leaf[host] for host in self.hosts),
            shortfall=self.shortfall,
            pair_gbyte_s=level if plan.pair_known else None,
            sensitivity=plan.sensitivity,
            max_rounds=plan.max_rounds,
        )

    def expected(self, nodes: int) -> float:
        """What the search expects of a job over as many nodes, in GB/s."""
        return self._level(nodes) * (1 + self._off)

    def _level(self, nodes: int) -> float:
        return FULL_GBYTE_S * (1 - SIZE_LOSS * math.log2(max(nodes, 2)))

    def _chosen(self) -> list[str]:
        if self.plan.sick_leaf:
            sick_leaf = self.random.choice(sorted(set(self.leaf.values())))
            return [host for host in self.hosts if self.leaf[host] == sick_leaf]
        return sorted(self.random.sample(self.hosts, self.random.randint(*self.plan.sick)))

    def _plant(self, host: str) -> None:
        rail = self.random.randrange(RAILS)
        if self.plan.mild is not None:
            self._everywhere(host, self.random.uniform(*self.plan.mild))
            return
        if self.plan.half_rails:
            kind, loss, speed = "rail", 0.06, 0.5
        else:
            kind = self.random.choice(("half rate", "down", "gdr off", "x8"))
            loss, speed = (0.125, 0.02) if kind == "down" else (0.5, 0.5)
        if kind == "gdr off":
            self._everywhere(host, 1 - self.random.uniform(0.40, 0.65))
            return
        self.loss[host] = loss
        self.slow_rails[host] = frozenset((rail,))
        self._rail[host] = tuple(speed if number == rail else 1.0 for number in range(RAILS))

    def _everywhere(self, host: str, loss: float) -> None:
        self.loss[host] = loss
        self.slow_rails[host] = frozenset(range(RAILS))
        self._rail[host] = (1 - loss,) * RAILS

    def _planted_link(self) -> tuple[str, str]:
        count = len(self.hosts)
        while True:
            place = self.random.randrange(count)
            around = [self.hosts[(place + step) % count] for step in (-1, 0, 1, 2)]
            if not self.loss.keys() & set(around):
                return between(around[1], around[2])

    def _planted_path(self) -> tuple[str, str]:
        leaves = sorted(set(self.leaf.values()))
        place = self.random.randrange(len(leaves))
        return between(leaves[place], leaves[(place + 1) % len(leaves)])

    def _edge(self, a: str, b: str) -> float:
        leaves = between(self.leaf[a], self.leaf[b])
        slow = between(a, b) == self.link or leaves == self.path
        return 1 - self._edge_loss if slow else 1.0

    def _speed(self, host: str, rail: int | None) -> float:
        speed = (1 - self.loss.get(host, 0.0)) if rail is None else self._rail[host][rail]
        well = self.plan.every_other and host in self.loss and self.random.random() < 0.5
        return self._quality[host] * (1.0 if well else speed)

    def _gauss(self) -> float:
        if not self.plan.heavy:
            return self.random.gauss(0, self.plan.sigma)
        # Student's t with 4 degrees of freedom, scaled to the same quartiles as the normal.
        chi = math.sqrt(sum(self.random.gauss(0, 1) ** 2 for _ in range(4)) / 4)
        return self.random.gauss(0, self.plan.sigma) / chi * 0.9107

    def _dip(self) -> float:
        return 1 - self.random.uniform(0.10, 0.20) if self.random.random() < self.plan.dips else 1.0

    def _drifted(self, round_: int) -> float:
        if round_ != self._round:
            self._round, self._drift = round_, 1 + self.random.gauss(0, self.plan.drift)
        return self._drift

    def pair(self, a: str, b: str, round_: int, purpose: Purpose = Purpose.WALK) -> PairReading:
        """Two nodes together."""
        factor = self._edge(a, b) * self._drifted(round_) * (ACROSS if self.leaf[a] != self.leaf[b] else 1.0)
        if not self.plan.per_rail:
            speed = min(self._speed(a, None), self._speed(b, None)) * factor
            value = NODE_GBYTE_S * speed * (1 + self._gauss()) * self._dip()
            return PairReading(round_, a, b, purpose, value)
        half, dip = math.sqrt(0.5), self._dip()
        common = half * self._gauss()
        rails = tuple(
            RAIL_GBYTE_S
            * min(self._speed(a, rail), self._speed(b, rail))
            * factor
            * (1 + common + half * self._gauss())
            * dip
            for rail in range(RAILS)
        )
        return PairReading(round_, a, b, purpose, min(rails), rails)

    def full(self, order: Sequence[str], round_: int) -> FullReading:
        """Many nodes together, in this rank order."""
        ring = zip(order, [*order[1:], order[0]], strict=True)
        speed = min(min(self._speed(host, None) for host in order), 1.0)
        speed = min(speed, *(self._edge(a, b) for a, b in ring))
        value = self._level(len(order)) * speed * self._drifted(round_) * (1 + self._gauss()) * self._dip()
        return FullReading(round_, tuple(order), value, self.expected(len(order)))
