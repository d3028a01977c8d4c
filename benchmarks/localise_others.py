"""Two other schemes to find a slow node, in simple versions whose cuts are not tuned, for comparison."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from msgspec import Struct

from benchmarks.localise_world import NODE_GBYTE_S, RAIL_GBYTE_S, World

PAIR_CUT = 0.08
GROUP_CUT = 0.08


class Outcome(Struct):
    """What a scheme named and what that cost; `node_minutes` counts every node of every job for one minute."""

    named: set[str]
    rounds: int = 1
    jobs: int = 1
    node_minutes: int = 0


def two_pass(world: World) -> Outcome:
    """Neighbours; then everybody of a slow pair with somebody of a fast one: slow again is named. Then verified."""
    cost = Outcome(set(), 1, 1, len(world.hosts))
    slow, fast = _split(world, list(zip(world.hosts[::2], world.hosts[1::2], strict=False)), cost)
    suspects = [host for pair in slow for host in pair]
    good = [host for pair in fast for host in pair]
    again, _ = _split(world, list(zip(suspects, good, strict=False)), cost)
    cost.named = {suspect for suspect, _ in again}
    return _verified(world, cost)


def _split(
    world: World, pairs: Sequence[tuple[str, str]], cost: Outcome
) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """(slow pairs, fast pairs), held against the median of the first round."""
    if not pairs:
        return [], []
    cost.rounds += 1
    cost.jobs += len(pairs)
    cost.node_minutes += 2 * len(pairs)
    values = {(a, b): world.pair(a, b, cost.rounds).busbw_gbyte_s or 0.0 for a, b in pairs}
    level = median(values.values()) if cost.rounds == 2 else _level_of(world)
    slow = [pair for pair, value in values.items() if value < (1 - PAIR_CUT) * level]
    return slow, [pair for pair in values if pair not in set(slow)]


def _level_of(world: World) -> float:
    """In the second round most pairs may be slow; give the scheme what a healthy pair reads."""
    return RAIL_GBYTE_S if world.plan.per_rail else NODE_GBYTE_S


def padded_bisection(world: World) -> Outcome:
    """Halve every slow group, both halves at once; a half is padded to at least four nodes with ones cleared before."""
    cost = Outcome(set(), 1, 1, len(world.hosts))
    slow: list[tuple[str, ...]] = [world.hosts]
    cleared: list[str] = []
    while slow:
        cost.rounds += 1
        halves = [half for group in slow for half in (group[: len(group) // 2], group[len(group) // 2 :]) if half]
        slow, free = [], list(cleared)
        for half in halves:
            padding = [free.pop() for _ in range(max(0, 4 - len(half))) if free]
            order = (*half, *padding)
            cost.jobs += 1
            cost.node_minutes += len(order)
            if len(order) < 2 or world.full(order, cost.rounds).shortfall <= GROUP_CUT:
                cleared += half
            elif len(half) == 1:
                cost.named |= set(half)
            else:
                slow.append(half)
    return _verified(world, cost)


def _verified(world: World, cost: Outcome) -> Outcome:
    rest = len(world.hosts) - len(cost.named)
    cost.rounds += 1
    cost.jobs += 1
    cost.node_minutes += rest
    return cost
