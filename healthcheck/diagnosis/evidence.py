"""What pair readings say about nodes: a small factor graph, solved by sum-product.

Every node hides a loss from `LOSSES`; a pair shows the worse of both its nodes and of the link between them, with
noise, and now and then a one-off dip. All readings of one pair are one factor, in which the link is summed out. Then
messages run between nodes and pairs, a few times, as if the graph were a tree; a ring walk nearly is one. The prior
says how rare sick nodes and links are. Method, numbers and where it fails: docs/localisation.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from operator import mul, truediv

LOSSES = (0.0, 0.04, 0.05, 0.065, 0.08, 0.10, 0.125, 0.16, 0.20, 0.25, 0.30, 0.40, 0.50, 0.60, 0.75, 0.90)
"""The grid of losses: finer where they are hard to tell from noise."""

NODE_PRIOR = 0.02
LINK_PRIOR = 0.001
ONE_OFF_PRIOR = 0.015
ONE_OFF_LOSS = (0.04, 0.26)
_OUTLIER_DENSITY = 0.0002
_MODEL_ERROR = 0.004
SWEEPS = 5
_STEP = 1e-4
_LEAST_MESSAGE = 1e-12
_PLACES = range(len(LOSSES))

Weights = Sequence[float]
"""One number a loss of the grid."""


def likelihood(residual: float, noise: float) -> tuple[float, ...]:
    """How well `residual` (reading / level - 1) fits each loss; `noise` is its relative standard deviation."""
    return _likelihood(round(residual / _STEP), round(noise / _STEP))


@lru_cache(maxsize=20_000)
def _likelihood(residual_steps: int, noise_steps: int) -> tuple[float, ...]:
    # Far finer than the noise; thousands of readings fall into a few hundred steps.
    residual, noise = residual_steps * _STEP, noise_steps * _STEP
    return tuple(_density(residual, loss, noise * (1 - loss) + _MODEL_ERROR) for loss in LOSSES)


def _density(residual: float, loss: float, sigma: float) -> float:
    z = (residual + loss) / sigma
    usual = math.exp(-0.5 * z * z) / (sigma * math.sqrt(2 * math.pi)) if abs(z) < 38 else 0.0
    least, most = (-loss - dip * (1 - loss) for dip in reversed(ONE_OFF_LOSS))
    dips = _share(residual - most, sigma, residual - least) / (most - least)
    return (1 - ONE_OFF_PRIOR) * usual + ONE_OFF_PRIOR * dips + _OUTLIER_DENSITY


def _share(low: float, sigma: float, high: float) -> float:
    """The share of a normal deviate between two values."""
    root = sigma * math.sqrt(2)
    return 0.5 * (math.erf(high / root) - math.erf(low / root))


def together(likelihoods: Sequence[Weights]) -> tuple[float, ...]:
    """All readings of one pair as one weight a loss, scaled to a maximum of 1."""
    joined = list(likelihoods[0])
    for other in likelihoods[1:]:
        joined = [x * y for x, y in zip(joined, other, strict=True)]
        top = max(joined)
        joined = [x / top for x in joined] if top > 0 else list(other)
    return tuple(joined)


def link_odds(pair: Weights) -> float:
    """Odds of a loss on the link against none, both nodes being healthy; without the prior."""
    return sum(pair[1:]) / (len(pair) - 1) / pair[0] if pair[0] > 0 else math.inf


def _without_link(pair: Weights) -> list[float]:
    """The weight of each loss of the worse node, the link summed out."""
    above = _sums_above(pair)
    # A link that loses no more than the worse node (there are `place` such losses) does not show.
    return [
        (1 - LINK_PRIOR) * pair[place] + LINK_PRIOR * (place * pair[place] + above[place]) / (len(pair) - 1)
        for place in _PLACES
    ]


def _sums_above(weights: Weights) -> list[float]:
    """For each place the sum of all that come after it."""
    sums = list(accumulate(reversed(weights), initial=0.0))
    return sums[-2::-1]


def beliefs(
    nodes: int, pairs: Mapping[tuple[int, int], Weights], sick: float = NODE_PRIOR, sweeps: int = SWEEPS
) -> list[list[float]]:
    """The probability of each loss of the grid, for each node `0 .. nodes - 1`.

    `pairs` maps two nodes to the weights of their readings (`together`); `sick` is the prior of a node.
    """
    ends = sorted(pairs)
    factors = [_without_link(pairs[pair]) for pair in ends]
    # Message 2k goes from pair k to its first node, 2k + 1 to its second.
    incoming: list[list[int]] = [[] for _ in range(nodes)]
    for k, (a, b) in enumerate(ends):
        incoming[a].append(2 * k)
        incoming[b].append(2 * k + 1)
    messages = [[1.0] * len(LOSSES) for _ in range(2 * len(ends))]
    prior = (1 - sick, *(sick / (len(LOSSES) - 1) for _ in LOSSES[1:]))
    found: list[Weights] = [prior for _ in incoming]
    for _ in range(sweeps):
        fresh = list(messages)
        for k, (a, b) in enumerate(ends):
            fresh[2 * k] = _message(factors[k], found[b], messages[2 * k + 1])
            fresh[2 * k + 1] = _message(factors[k], found[a], messages[2 * k])
        messages = fresh
        found = [_belief(prior, messages, heard) for heard in incoming]
    return [list(belief) for belief in found]


def _belief(prior: Weights, messages: Sequence[Weights], heard: Sequence[int]) -> Weights:
    belief = prior
    for message in heard:
        product = list(map(mul, belief, messages[message]))
        total = sum(product)
        belief = [x / total for x in product]
    return belief


def _message(factor: Weights, sender: Weights, said: Weights) -> list[float]:
    """What a pair tells one of its nodes, given what is believed of the other one without this pair's own word."""
    other = list(map(truediv, sender, said))
    worse = _sums_above(list(map(mul, other, factor)))
    message = [f * better + w for f, better, w in zip(factor, accumulate(other), worse, strict=True)]
    top = max(message)
    return [x / top if x > _LEAST_MESSAGE * top else _LEAST_MESSAGE for x in message]
