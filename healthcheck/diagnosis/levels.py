"""What a healthy pair reads, and how much readings scatter: found in the readings themselves.

Readings are compared only with their peers: of the same class (both nodes on one leaf, or across leaves), and of the
same round where the round has enough of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean, median

from msgspec import Struct

ROUND_PEERS = 20
FEW_PEERS = 8
HEALTHY_PEERS = 5
LEAST_NOISE, USUAL_NOISE, MOST_NOISE = 0.005, 0.02, 0.06
_USUAL_WEIGHT = 4
ACROSS_LOSS = ACROSS_NOISE = 0.01
FLEET_SLOW = 0.93
SLOW_FLEET_NOISE = 0.02
_MAD_TO_SIGMA = 1.4826
_CLIP, _CLIPPED = 2.5, 0.9546
"""A normal deviate clipped at 2.5 sigma keeps 0.9546 of its standard deviation."""


class Peers(Struct, frozen=True):
    """One reading to be held against others: its value, its round, whether it crosses leaves, its place in the list."""

    place: int
    value: float
    round: int
    across: bool
    nodes: tuple[int, int]


class Level(Struct, frozen=True):
    """What healthy pairs read, in GB/s, and the relative noise; `expected` where the fleet itself is slow."""

    value: float
    noise: float
    expected: bool = False


def levels(
    readings: Sequence[Peers], healthy: Callable[[int], bool] | None, pair_gbyte_s: float | None
) -> dict[int, Level]:
    """The level of every reading, by its place. `healthy` says who is believed healthy, None: nobody knows yet.

    Without that knowledge the level is the upper mode: sick nodes only ever make a pair slower.
    """
    rounds: dict[tuple[int, bool], list[Peers]] = {}
    classes: dict[bool, list[Peers]] = {}
    for reading in readings:
        rounds.setdefault((reading.round, reading.across), []).append(reading)
        classes.setdefault(reading.across, []).append(reading)
    pooled = {across: _level(peers, healthy) for across, peers in classes.items()}
    found: dict[tuple[int, bool], float] = {}
    scatter: dict[bool, list[float]] = {across: [] for across in classes}
    for key, own in rounds.items():
        found[key] = _level(own, healthy) if _has_peers(own, healthy) else pooled[key[1]]
        scatter[key[1]] += _deviations(own, found[key], healthy)
    noise = {across: _noise(deviations) for across, deviations in scatter.items()}
    result = {key: Level(value, noise[key[1]]) for key, value in found.items()}
    few = _too_few(classes, healthy)
    if few is not None:
        usual = pooled[not few]
        share = 1 - ACROSS_LOSS if few else 1 / (1 - ACROSS_LOSS)
        for number, across in result:
            if across is few:
                value = found.get((number, not few), usual)
                result[number, across] = Level(value * share, noise[not few] + ACROSS_NOISE)
    return {r.place: _expected(result[r.round, r.across], pair_gbyte_s) for r in readings}


def _has_peers(own: Sequence[Peers], healthy: Callable[[int], bool] | None) -> bool:
    """Whether a round stands for itself: a round of retests is many readings, but few healthy ones."""
    if len(own) < ROUND_PEERS:
        return False
    return healthy is None or len(_healthy_ones(own, healthy)) >= FEW_PEERS


def _too_few(classes: Mapping[bool, Sequence[Peers]], healthy: Callable[[int], bool] | None) -> bool | None:
    """The class that has too few healthy readings and is judged by the other one; None where each has its own."""
    if len(classes) < 2:
        return None
    counts = {
        across: len(peers) if healthy is None else len(_healthy_ones(peers, healthy))
        for across, peers in classes.items()
    }
    fewer = min(counts, key=lambda across: (counts[across], not across))
    return fewer if counts[fewer] < FEW_PEERS and counts[not fewer] > counts[fewer] else None


def _expected(level: Level, pair_gbyte_s: float | None) -> Level:
    """A fleet that is slow together is held against what a pair is known to read."""
    if pair_gbyte_s is None or level.value >= FLEET_SLOW * pair_gbyte_s:
        return level
    return Level(pair_gbyte_s, max(level.noise, SLOW_FLEET_NOISE), expected=True)


def _level(peers: Sequence[Peers], healthy: Callable[[int], bool] | None) -> float:
    """The mean of the pairs believed healthy, outliers clipped; the upper mode of all where too few are."""
    good = _healthy_ones(peers, healthy)
    if len(good) < HEALTHY_PEERS:
        return upper_mode([peer.value for peer in peers])
    middle = median(good)
    spread = max(_MAD_TO_SIGMA * median(abs(value - middle) for value in good), LEAST_NOISE * middle)
    return fmean(value for value in good if abs(value - middle) <= _CLIP * spread)


def _deviations(peers: Sequence[Peers], level: float, healthy: Callable[[int], bool] | None) -> list[float]:
    """How far healthy readings lie from their level, as fractions; of unknown ones only those that lie above it."""
    good = _healthy_ones(peers, healthy)
    if healthy is None:
        return [peer.value / level - 1 for peer in peers if peer.value >= level]
    return [abs(value / level - 1) for value in good]


def _healthy_ones(peers: Sequence[Peers], healthy: Callable[[int], bool] | None) -> list[float]:
    if healthy is None:
        return []
    return [peer.value for peer in peers if healthy(peer.nodes[0]) and healthy(peer.nodes[1])]


def upper_mode(values: Sequence[float]) -> float:
    """The middle of the highest window of 40 % of the values that is at most twice as wide as the narrowest, or 1 %."""
    ordered = sorted(values)
    size = max(2, math.ceil(0.4 * len(ordered))) if len(ordered) > 1 else 1
    windows = [ordered[start : start + size] for start in range(len(ordered) - size + 1)]
    allowed = max(2 * min(_width(window) for window in windows), 0.01)
    return median(next(window for window in reversed(windows) if _width(window) <= allowed))


def _width(window: Sequence[float]) -> float:
    """As a fraction of its upper end: slow readings lie as close together as fast ones only in proportion."""
    return (window[-1] - window[0]) / window[-1]


def _noise(deviations: Sequence[float]) -> float:
    """The standard deviation, outliers clipped, pulled to the usual 2 % as by four readings more.

    The median alone would scatter by a third more than all that is not an outlier.
    """
    if not deviations:
        return USUAL_NOISE
    rough = max(_MAD_TO_SIGMA * median(deviations), LEAST_NOISE)
    usual = [deviation for deviation in deviations if deviation <= _CLIP * rough]
    measured = max(math.sqrt(sum(x * x for x in usual) / len(usual)) / _CLIPPED, LEAST_NOISE)
    weight = len(deviations)
    pulled = math.sqrt((weight * measured**2 + _USUAL_WEIGHT * USUAL_NOISE**2) / (weight + _USUAL_WEIGHT))
    return min(MOST_NOISE, pulled)
