"""Which nodes are measured with which, round by round. Jobs of a round share no node, so that they run all at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from healthcheck.model.search import Pair, Purpose

_Pairwise = Callable[[str, str], bool]
_MOST_STEPS = 5_000


def ring_rounds(order: Sequence[str]) -> tuple[tuple[Pair, ...], tuple[Pair, ...], tuple[Pair, ...]]:
    """(even edges, odd edges, the closing edge of an odd ring) of the ring that runs through `order`."""
    count = len(order)
    if count < 3:
        return (tuple(Pair(a, b, Purpose.WALK) for a, b in [tuple(order)] if count == 2), (), ())
    edges = [Pair(order[place], order[(place + 1) % count], Purpose.WALK) for place in range(count)]
    whole = count - count % 2
    return tuple(edges[0:whole:2]), tuple(edges[1:whole:2]), tuple(edges[whole:])


def tournament(order: Sequence[str]) -> tuple[tuple[Pair, ...], ...]:
    """Everybody with everybody, each pair once: n - 1 rounds for an even number of hosts, n for an odd one."""
    seats: list[str | None] = [*order, *([None] if len(order) % 2 else [])]
    rounds = []
    for _ in range(len(seats) - 1):
        half = len(seats) // 2
        facing = zip(seats[:half], reversed(seats[half:]), strict=True)
        rounds.append(tuple(Pair(a, b, Purpose.TOURNAMENT) for a, b in facing if a is not None and b is not None))
        seats = [seats[0], seats[-1], *seats[1:-1]]
    return tuple(rounds)


def between(leaf_a: str, leaf_b: str) -> tuple[str, str]:
    """A pair of leaves, the same both ways."""
    return (leaf_a, leaf_b) if leaf_a <= leaf_b else (leaf_b, leaf_a)


def fresh_round(
    hosts: Sequence[str], leaf: Mapping[str, str], met: Mapping[str, frozenset[str]], distance: int
) -> tuple[Pair, ...]:
    """New neighbours for everybody, `distance` or a little more apart in the order, on the same leaf where possible."""
    seated: set[str] = set()
    pairs = []
    for place, host in enumerate(hosts):
        if host in seated:
            continue
        for step in range(distance, distance + 20):
            other = hosts[(place + step) % len(hosts)]
            near = leaf[other] == leaf[host] or step >= distance + 10
            if other != host and other not in seated and other not in met[host] and near:
                seated.update((host, other))
                pairs.append(Pair(host, other, Purpose.FRESH))
                break
    return tuple(pairs)


def verification_order(
    hosts: Sequence[str],
    leaf: Mapping[str, str],
    bad_links: frozenset[tuple[str, str]],
    bad_paths: frozenset[tuple[str, str]],
) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """A rank order whose ring uses no bad link and no bad path, leaves kept together; and the bad edges it must use.

    `bad_links` and `bad_paths` hold each pair in sorted order (`between`).
    """
    groups: dict[str, list[str]] = {}
    for host in hosts:
        groups.setdefault(leaf[host], []).append(host)
    leaves = _without_clashes(list(groups), lambda a, b: between(a, b) in bad_paths, lambda a, b: True)

    def clash(a: str, b: str) -> bool:
        return between(a, b) in bad_links or between(leaf[a], leaf[b]) in bad_paths

    members = [host for name in leaves for host in groups[name]]
    order = _without_clashes(members, clash, lambda a, b: leaf[a] == leaf[b])
    ring = zip(order, [*order[1:], order[0]], strict=True)
    return tuple(order), tuple((a, b) for a, b in ring if len(order) > 1 and clash(a, b))


def _without_clashes(items: list[str], clash: _Pairwise, together: _Pairwise) -> list[str]:
    """A ring without clashing neighbours, items of a group kept together; as few clashes as swaps leave, else."""
    ring = _untangled(items, clash, together)
    if not any(clash(a, b) for a, b in zip(ring, [*ring[1:], *ring[:1]], strict=True)):
        return ring
    steps = iter(range(_MOST_STEPS))
    for start in items:
        found = _from(start, items, clash, together, steps) if together(start, items[0]) else None
        if found is not None:
            return found
    return ring


def _from(
    start: str, items: Sequence[str], clash: _Pairwise, together: _Pairwise, steps: Iterator[int]
) -> list[str] | None:
    """Every ring from `start` in turn until one has no clash, or the steps run out."""

    def after(ring: Sequence[str]) -> Iterator[str]:
        left = [item for item in items if item not in ring]
        own = [item for item in left if together(ring[-1], item)]
        return iter([item for item in own or left if not clash(ring[-1], item)])

    ring, choices = [start], [after([start])]
    for _ in steps:
        if len(ring) == len(items) and not clash(ring[-1], start):
            return ring
        following = next(choices[-1], None)
        if following is not None:
            ring.append(following)
            choices.append(after(ring))
            continue
        ring.pop()
        choices.pop()
        if not ring:
            return None
    return None


def _untangled(items: list[str], clash: _Pairwise, may_swap: _Pairwise) -> list[str]:
    """The ring with as few clashing neighbours as swaps of two items bring about."""
    ring = list(items)
    count = len(ring)

    def clashes(places: Iterable[int]) -> int:
        return sum(clash(ring[place % count], ring[(place + 1) % count]) for place in {p % count for p in places})

    for place in range(count if count > 2 else 0):
        if not clash(ring[place], ring[(place + 1) % count]):
            continue
        for mine in (place, (place + 1) % count):
            for other in range(count):
                around = (mine - 1, mine, other - 1, other)
                if other == mine or not may_swap(ring[mine], ring[other]):
                    continue
                before = clashes(around)
                ring[mine], ring[other] = ring[other], ring[mine]
                if clashes(around) < before:
                    break
                ring[mine], ring[other] = ring[other], ring[mine]
    return ring
