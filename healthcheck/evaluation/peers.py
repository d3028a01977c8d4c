"""Rule 4: does a node read what the other nodes read in the same job of the same run?

Robust, so that sick nodes do not set the standard: the median of all, and the scatter as the median absolute deviation
gives it. How far below is an outlier: docs/adr/0007-the-bar-of-the-peers.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist, median

from msgspec import Struct

from healthcheck.evaluation.reading import JudgedReading
from healthcheck.evaluation.rules import PEERS, Answer, not_asked
from healthcheck.model.finding import Confidence, RuleResult
from healthcheck.model.message import say
from healthcheck.model.verdict import Verdict

OUTLIER = "peers.outlier"
LEAST_PEERS = 5
SURE_BAR, SURE_FRACTION = 6.0, 0.10
LEAST_SCATTER = 0.005
"""Of the median: nodes that happen to read all the same do not make an outlier of one that reads 1 % less."""
NAMED_WRONGLY = 0.04
"""The share of healthy check-ups that may name a healthy node; measured as at most 0.05."""
_MAD_TO_SIGMA = 1.4826
_FEW_NODES = 7.0
"""What the scatter of few nodes, which is itself only a guess, adds to the bar; measured, see the decision."""


class Peers(Struct, frozen=True):
    """What the nodes of one job read: how many there are, their median and scatter in GB/s."""

    count: int
    median: float
    scatter: float

    @property
    def bar(self) -> float:
        """How many times the scatter below the median a node must read to be an outlier."""
        return bar(self.count)


def bar(nodes: int) -> float:
    """The bar for so many nodes, above 3: the more there are, the further down the lowest healthy one lies."""
    return NormalDist().inv_cdf(1 - NAMED_WRONGLY / nodes) * (1 + _FEW_NODES / nodes)


def peers_of(values: Sequence[float]) -> Peers | None:
    """Of the readings of all nodes, in GB/s; None where each has fewer than five others."""
    if len(values) <= LEAST_PEERS:
        return None
    middle = median(values)
    scatter = max(_MAD_TO_SIGMA * median(abs(value - middle) for value in values), LEAST_SCATTER * middle)
    return Peers(len(values), middle, scatter)


def standing(value: float, peers: Peers) -> Confidence | None:
    """How sure it is that a reading does not belong to the others; None where it does."""
    sigmas = (peers.median - value) / peers.scatter
    if sigmas > max(SURE_BAR, peers.bar) or value <= (1 - SURE_FRACTION) * peers.median:
        return Confidence.CONFIRMED
    return Confidence.LIKELY if sigmas > peers.bar else None


def ask_peers(reading: JudgedReading, peers: Peers | None, found: int) -> Answer:
    """DEGRADED for an outlier; SKIPPED with fewer than five peers. `found` is how many nodes there are, with it."""
    if peers is None:
        return not_asked(PEERS, say("rules.peers.too_few", least=LEAST_PEERS, peers=max(found - 1, 0)))
    expected = round(peers.median, 2)
    sure = standing(reading.value, peers)
    if sure is None:
        message = say("rules.peers.passed", peers=peers.count - 1, expected_gbyte_s=expected)
        return Answer(RuleResult(PEERS, Verdict.PASS, message, reading.value, peers.median))
    message = say(
        "rules.peers.outlier",
        observed_gbyte_s=round(reading.value, 2),
        placement=reading.placement_text,
        percent=round(100 * (1 - reading.value / peers.median), 1),
        expected_gbyte_s=expected,
        peers=peers.count - 1,
        sigmas=round((peers.median - reading.value) / peers.scatter, 1),
    )
    said = RuleResult(PEERS, Verdict.DEGRADED, message, reading.value, peers.median)
    return Answer(said, OUTLIER, confidence=sure)
