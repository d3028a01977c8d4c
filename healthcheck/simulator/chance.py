"""What chance decides in a simulated cluster, the same for the same seed and words, whatever was asked before."""

from __future__ import annotations

import hashlib
from statistics import NormalDist

HEALTHY_SPREAD = 0.003
"""Relative standard deviation between the networks of healthy nodes, and between their NVLinks. It lasts, unlike
noise."""
_FARTHEST = 3.0
_STEPS = 1 << 64


def draw(seed: int, *words: str) -> float:
    """A number between 0 and 1, both excluded; other words give a number that has nothing to do with it."""
    digest = hashlib.blake2b("|".join((str(seed), *words)).encode(), digest_size=8).digest()
    return (int.from_bytes(digest) + 0.5) / (_STEPS + 1)


def healthy_pace(seed: int, host: str) -> float:
    """What the network of a healthy node does beside the average one, around 1.0."""
    return _beside_average(draw(seed, host, "pace"))


def healthy_nvlink(seed: int, host: str) -> float:
    """What the NVLinks of a healthy node do beside those of the average one, around 1.0."""
    return _beside_average(draw(seed, host, "nvlink"))


def _beside_average(chance: float) -> float:
    deviation = NormalDist().inv_cdf(chance)
    return 1.0 + HEALTHY_SPREAD * max(-_FARTHEST, min(_FARTHEST, deviation))
