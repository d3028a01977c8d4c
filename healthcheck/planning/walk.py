"""Which nodes are measured with which, round by round. Jobs of a round share no node, so that they run all at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct

from healthcheck.model.search import Pair, Purpose

CONTROLS = 8
"""Each class of a round (on one leaf, across leaves) gets as many readings, so that they have peers."""
MOST_PARTNERS = 10
"""A node that is still in doubt after as many partners is reported as it stands."""
CROSSINGS, THIRDS = 4, 2
MOST_CROSSINGS = 8


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


class Doubts(Struct, frozen=True):
    """What is still open. `suspicion` of every host in doubt, `good` hosts in their order, `met` partners of each.

    `open_edges` are to be measured again; `crossings` counts the readings across two leaves, `bad_paths` are leaf pairs
    already known to be slow. `owed` are edges of the walk that were not measured yet.
    """

    leaf: Mapping[str, str]
    suspicion: Mapping[str, float]
    good: tuple[str, ...]
    met: Mapping[str, frozenset[str]]
    open_edges: tuple[tuple[str, str], ...] = ()
    crossings: Mapping[tuple[str, str], int] = {}
    bad_paths: frozenset[tuple[str, str]] = frozenset()
    owed: tuple[Pair, ...] = ()


def retest_round(doubts: Doubts) -> tuple[Pair, ...]:
    """The pairs of the next round, empty when nothing is in doubt. No host twice."""
    table = _Table(doubts)
    for pair in doubts.owed:
        table.seat(pair.a, pair.b, pair.purpose)
    for a, b in doubts.open_edges:
        table.seat(a, b, Purpose.LINK)
    for a, b in doubts.open_edges:
        _open_boundary(table, doubts.leaf[a], doubts.leaf[b])
    left = [host for host in _most_suspect(doubts) if not table.with_a_good_one(host)]
    _among_themselves(table, left)
    if table.pairs:
        table.add_controls()
    return tuple(table.pairs)


def between(leaf_a: str, leaf_b: str) -> tuple[str, str]:
    """A pair of leaves, the same both ways."""
    return (leaf_a, leaf_b) if leaf_a <= leaf_b else (leaf_b, leaf_a)


class _Table:
    """The round that is being seated."""

    def __init__(self, doubts: Doubts) -> None:
        self.doubts = doubts
        self.pairs: list[Pair] = []
        self._seated: set[str] = set()
        self._by_leaf: dict[str, list[str]] = {}
        for host in doubts.good:
            self._by_leaf.setdefault(doubts.leaf[host], []).append(host)

    def seat(self, a: str, b: str, purpose: Purpose) -> bool:
        if a == b or a in self._seated or b in self._seated:
            return False
        self._seated.update((a, b))
        self.pairs.append(Pair(a, b, purpose))
        return True

    def free(self, leaf: str) -> list[str]:
        """Good hosts of a leaf that sit nowhere yet."""
        return [host for host in self._by_leaf.get(leaf, ()) if host not in self._seated]

    def leaves(self) -> list[str]:
        return list(self._by_leaf)

    def with_a_good_one(self, host: str) -> bool:
        """Seat a host with a good one it has not met, same leaf first. True also where it sits already."""
        if host in self._seated:
            return True
        doubts, own = self.doubts, self.doubts.leaf[host]
        near = self._by_leaf.get(own, ())
        for partner in (*near, *(good for good in doubts.good if doubts.leaf[good] != own)):
            if partner in self._seated or partner in doubts.met[host]:
                continue
            if between(own, doubts.leaf[partner]) not in doubts.bad_paths:
                return self.seat(host, partner, Purpose.RETEST)
        return False

    def add_controls(self) -> None:
        """Idle good pairs until each class that occurs in the round has enough readings."""
        leaf = self.doubts.leaf
        counts = {False: 0, True: 0}
        for pair in self.pairs:
            counts[leaf[pair.a] != leaf[pair.b]] += 1
        for across in (False, True):
            wanted = CONTROLS - counts[across] if counts[across] else 0
            for host in self.doubts.good if wanted > 0 else ():
                partner = None if host in self._seated else self._idle_partner(host, across)
                if partner is not None and self.seat(host, partner, Purpose.CONTROL):
                    wanted -= 1
                if wanted <= 0:
                    break

    def _idle_partner(self, host: str, across: bool) -> str | None:
        leaf, bad = self.doubts.leaf, self.doubts.bad_paths
        candidates: Iterable[str] = self.doubts.good if across else self._by_leaf[leaf[host]]
        for other in candidates:
            if other == host or other in self._seated or (leaf[other] != leaf[host]) is not across:
                continue
            if between(leaf[host], leaf[other]) not in bad:
                return other
        return None


def _open_boundary(table: _Table, leaf_a: str, leaf_b: str) -> None:
    """New pairs across a boundary that may be slow, and from each of its sides to a third leaf."""
    doubts, pair = table.doubts, between(leaf_a, leaf_b)
    if leaf_a == leaf_b or pair in doubts.bad_paths or doubts.crossings.get(pair, 0) >= MOST_CROSSINGS:
        return
    for _ in range(CROSSINGS):
        near, far = table.free(leaf_a), table.free(leaf_b)
        if near and far:
            # From the middle: the ends of a leaf have met the boundary in the walk.
            table.seat(near[len(near) // 2], far[len(far) // 2], Purpose.PATH)
    for side in (leaf_a, leaf_b):
        for _ in range(THIRDS):
            others = (host for leaf in table.leaves() if leaf not in pair for host in table.free(leaf))
            own, third = table.free(side), next(others, None)
            if own and third is not None:
                table.seat(own[0], third, Purpose.THIRD)


def _most_suspect(doubts: Doubts) -> list[str]:
    waiting = [host for host in doubts.suspicion if len(doubts.met[host]) < MOST_PARTNERS]
    return sorted(waiting, key=lambda host: -doubts.suspicion[host])


def _among_themselves(table: _Table, left: Sequence[str]) -> None:
    """Without a good partner left: the most suspect with the least suspect it has not met."""
    waiting = list(left)
    while len(waiting) > 1:
        suspect = waiting.pop(0)
        met = table.doubts.met[suspect]
        partner = next((other for other in reversed(waiting) if other not in met), None)
        if partner is not None:
            waiting.remove(partner)
            table.seat(suspect, partner, Purpose.AMONG)


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
    leaves = _untangled(list(groups), lambda a, b: between(a, b) in bad_paths)

    def clash(a: str, b: str) -> bool:
        return between(a, b) in bad_links or between(leaf[a], leaf[b]) in bad_paths

    order = _untangled([host for name in leaves for host in groups[name]], clash, lambda a, b: leaf[a] == leaf[b])
    ring = zip(order, [*order[1:], order[0]], strict=True)
    return tuple(order), tuple((a, b) for a, b in ring if len(order) > 1 and clash(a, b))


def _untangled(
    items: list[str], clash: Callable[[str, str], bool], may_swap: Callable[[str, str], bool] = lambda a, b: True
) -> list[str]:
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
