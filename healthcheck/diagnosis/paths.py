"""Slow paths: what connects two leaves is slow for everybody who crosses it, and no node is to be blamed for it."""

from __future__ import annotations

from collections.abc import Sequence

from healthcheck.diagnosis.weighing import Weighing

LEAST_READINGS, LEAST_SHARE, LEAST_NODES = 4, 0.75, 6
MOST_SUSPICION = 0.30
"""A node suspected more than that, judged without the readings of the path, explains them itself."""


def slow_paths(weighing: Weighing, sought: float) -> dict[tuple[str, str], tuple[int, ...]]:
    """Leaf pairs that are slow, with the places of all readings across them."""
    crossing: dict[tuple[str, str], list[int]] = {}
    for index, across in enumerate(weighing.across):
        if across:
            crossing.setdefault(weighing.boundary(index), []).append(index)
    return {pair: tuple(places) for pair, places in sorted(crossing.items()) if _is_slow(weighing, places, sought)}


def _is_slow(weighing: Weighing, places: Sequence[int], sought: float) -> bool:
    slow = {i for i in places if weighing.residual[i] < -max(2 * weighing.known[i].noise, sought / 2)}
    if not _enough(weighing, slow, places):
        return False
    others, _ = weighing.beliefs(frozenset(places))
    counted = [i for i in places if all(1 - others[node][0] <= MOST_SUSPICION for node in weighing.ends[i])]
    return _enough(weighing, slow.intersection(counted), counted)


def _enough(weighing: Weighing, slow: set[int], places: Sequence[int]) -> bool:
    if len(slow) < LEAST_READINGS or len(slow) < LEAST_SHARE * len(places):
        return False
    return len({node for i in slow for node in weighing.ends[i]}) >= LEAST_NODES
