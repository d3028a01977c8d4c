"""The rows of the benchmark of the search: what is planted, how many seeds, and the bar where there is one."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from benchmarks.localise_world import Plan


class Row(Struct, frozen=True):
    """A plan and its bar: rounds in 95 % of the seeds, the share named, at most `most_wrong` in `wrong_in` seeds.

    `exact`: the share of the seeds in which everything planted and nothing else was named counts, not that of nodes.
    `rails`: the rails of every node have to be right, too. `slow` rows are left out of a quick run. `note` says what
    a missed bar comes from, where that is known and is not to be had cheaper.
    """

    name: str
    plan: Plan
    seeds: int
    most_rounds: int = 0
    least_named: float = 1.0
    most_wrong: int = 0
    wrong_in: int = 1
    exact: bool = False
    only_nodes: bool = False
    rails: bool = False
    walks: tuple[bool, ...] = (False, True)
    slow: bool = False
    least_seeds: int = 4
    note: str = ""

    @property
    def has_bar(self) -> bool:
        return self.most_rounds > 0

    @property
    def bar(self) -> str:
        """The bar in words."""
        what = "exact" if self.exact else "named"
        rails = ", rails right" if self.rails else ""
        wrong = f"<= {self.most_wrong} in {self.wrong_in}" if self.most_wrong else "0"
        return f"<= {self.most_rounds} rounds, {what} >= {self.least_named:.1%}, wrong {wrong}{rails}"

    def plans(self) -> tuple[Plan, ...]:
        """Whole-node pairs, and pairs per rail."""
        return tuple(replace(self.plan, per_rail=per_rail) for per_rail in self.walks)


STRAGGLERS = (0.06, 0.07)
BARS = (
    Row("16 nodes, 1 sick, 3 %", Plan(16, (1, 1)), 200, 7, most_wrong=1, wrong_in=200),
    Row("64 nodes, 1-3 sick, 3 %", Plan(64, (1, 3)), 200, 8),
    Row("64 nodes, one link, 0-2 sick apart, 3 %", Plan(64, (0, 2), link=True), 200, 8, 0.99, exact=True),
    Row("64 nodes, 4 leaves, one leaf pair, 3 %", Plan(64, path=True), 200, 9, 0.99, exact=True),
    Row("60 nodes, 8 stragglers of 6-7 %, 1 %", Plan(60, (8, 8), 0.01, mild=STRAGGLERS), 100, 9, 0.99),
    Row(
        "60 nodes, 8 stragglers, 2 %, sensitivity 5 %",
        Plan(60, (8, 8), 0.02, mild=STRAGGLERS, sensitivity=0.05),
        100,
        13,
        0.98,
        note="beyond 13, in five of six: a straggler looked well until the job over the rest came out slow. That takes"
        " four rounds and more:\n  the job again (of 15 slow ones 7 were fast then), two rounds of new neighbours, and"
        " again the job over the rest",
    ),
    Row(
        "64 nodes, 2 half-rate rails, job 6 % slower, 3 %",
        Plan(64, (2, 2), half_rails=True),
        100,
        9,
        walks=(True,),
        rails=True,
    ),
    Row("64 nodes, none: the look was a one-off, 3 %", Plan(64, look_dip=True), 200, 11),
    Row("1,024 nodes, 3-10 sick, 3 %", Plan(1024, (3, 10)), 50, 10, least_seeds=2, slow=True),
    Row("1,024 nodes, one leaf pair, none sick, 3 %", Plan(1024, path=True), 25, 10, exact=True, slow=True),
    Row("1,024 nodes, one leaf pair, 1-3 sick, 3 %", Plan(1024, (1, 3), path=True), 25, 10, exact=True, slow=True),
    Row("4,096 nodes, 20 sick, 3 %", Plan(4096, (20, 20)), 20, 11, 0.995, 1, 20, least_seeds=1, slow=True),
)

_USUAL = Plan(64, (1, 3))
NOISE = (
    Row("64 nodes, 1-3 sick: as modelled", _USUAL, 100),
    Row("levels drift by 1.5 % between rounds", replace(_USUAL, drift=0.015), 100),
    Row("heavy tails", replace(_USUAL, heavy=True), 100),
    Row("dips in 3 % of the jobs", replace(_USUAL, dips=0.03), 100),
    Row("healthy nodes differ by 1 %", replace(_USUAL, spread=0.01), 100),
    Row("all four", replace(_USUAL, drift=0.015, heavy=True, dips=0.03, spread=0.01), 100),
    Row("sigma 5 %", replace(_USUAL, sigma=0.05), 100),
)
_MILD = Plan(60, (8, 8), 0.03, mild=STRAGGLERS)
LIMITS = (
    Row("8 stragglers of 6-7 %, 3 %", _MILD, 50),
    Row("the same, sensitivity 5 %, 24 rounds", replace(_MILD, sensitivity=0.05, max_rounds=24), 50),
    Row("64 nodes, 22 sick (35 %)", Plan(64, (22, 22)), 50),
    Row("64 nodes, 22 sick, pair expectation known", Plan(64, (22, 22), pair_known=True), 50),
    Row("64 nodes, 38 sick (60 %)", Plan(64, (38, 38)), 30),
    Row("64 nodes, 38 sick, pair expectation known", Plan(64, (38, 38), pair_known=True), 30),
    Row("64 nodes, a whole leaf of 16 sick", Plan(64, sick_leaf=True), 50),
    Row("64 nodes, 1 sick in half of its jobs", Plan(64, (1, 1), every_other=True), 100),
    Row("64 nodes, 1-3 sick, expectation 5 % too high", replace(_USUAL, expected_off=(0.05, 0.05)), 50),
    Row("64 nodes, 1-3 sick, expectation 5 % too low", replace(_USUAL, expected_off=(-0.05, -0.05)), 50),
    Row("8 nodes, 1 sick: the tournament", Plan(8, (1, 1), leaf_size=4), 100),
    Row("9 nodes, 1 sick: the walk", Plan(9, (1, 1), leaf_size=5), 100),
)
