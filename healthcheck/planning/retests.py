"""The next round of a search: who is measured with whom, given what is still in doubt. No host twice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from healthcheck.model.search import Pair, Purpose
from healthcheck.planning.walk import between

CONTROLS = 8
"""Each class of a round (on one leaf, across leaves) gets as many readings, so that they have peers."""
MOST_PARTNERS = 10
"""A node that is still in doubt after as many partners is reported as it stands."""
CROSSINGS, THIRDS = 4, 2
MOST_CROSSINGS = 8


class Doubts(Struct, frozen=True):
    """What is still open. `suspicion` of every host in doubt, `met` the partners of each.

    `good` hosts are proven good, `calm` ones only out of doubt; both in rank order. `open_edges` are to be measured
    again; `crossings` counts the readings across two leaves, `bad_paths` are leaf pairs already known to be slow.
    `owed` are edges of the walk that were not measured yet.
    """

    leaf: Mapping[str, str]
    suspicion: Mapping[str, float]
    good: tuple[str, ...]
    met: Mapping[str, frozenset[str]]
    calm: tuple[str, ...] = ()
    open_edges: tuple[tuple[str, str], ...] = ()
    crossings: Mapping[tuple[str, str], int] = {}
    bad_paths: frozenset[tuple[str, str]] = frozenset()
    owed: tuple[Pair, ...] = ()


def retest_round(doubts: Doubts) -> tuple[Pair, ...]:
    """The pairs of the next round, empty when nothing is in doubt."""
    table = _Table(doubts)
    for pair in doubts.owed:
        table.seat(pair.a, pair.b, pair.purpose)
    for a, b in doubts.open_edges:
        table.seat(a, b, Purpose.LINK)
    for a, b in doubts.open_edges:
        _open_boundary(table, doubts.leaf[a], doubts.leaf[b])
    left = [host for host in _most_suspect(doubts) if not table.with_a_partner(host, table.good)]
    left = [host for host in left if not table.with_a_partner(host, table.calm)]
    _among_themselves(table, left)
    if table.pairs:
        table.add_controls()
    return tuple(table.pairs)


def _most_suspect(doubts: Doubts) -> list[str]:
    waiting = [host for host in doubts.suspicion if len(doubts.met[host]) < MOST_PARTNERS]
    return sorted(waiting, key=lambda host: -doubts.suspicion[host])


class _Pool:
    """Hosts that sit nowhere yet, by leaf, in rank order."""

    def __init__(self, hosts: Sequence[str], leaf: Mapping[str, str]) -> None:
        self._leaf = leaf
        self._free: dict[str, dict[str, None]] = {}
        for host in hosts:
            self._free.setdefault(leaf[host], {})[host] = None

    def take(self, host: str) -> None:
        own = self._free.get(self._leaf[host], {})
        own.pop(host, None)
        if not own:
            self._free.pop(self._leaf[host], None)

    def on(self, leaf: str) -> list[str]:
        return list(self._free.get(leaf, ()))

    def near(self, host: str) -> Iterator[str]:
        return iter(self._free.get(self._leaf[host], ()))

    def far(self, host: str, closed: frozenset[tuple[str, str]]) -> Iterator[str]:
        """Hosts of other leaves, except across boundaries that are closed."""
        own = self._leaf[host]
        for leaf, free in self._free.items():
            if leaf != own and between(own, leaf) not in closed:
                yield from free

    def third(self, pair: tuple[str, str]) -> str | None:
        """The first host that is on neither of the two leaves."""
        return next((host for leaf, free in self._free.items() if leaf not in pair for host in free), None)


class _Table:
    """The round that is being seated."""

    def __init__(self, doubts: Doubts) -> None:
        self.doubts = doubts
        self.pairs: list[Pair] = []
        self.good = _Pool(doubts.good, doubts.leaf)
        self.calm = _Pool(doubts.calm, doubts.leaf)
        self._seated: set[str] = set()

    def seat(self, a: str, b: str, purpose: Purpose) -> bool:
        if a == b or a in self._seated or b in self._seated:
            return False
        for host in (a, b):
            self._seated.add(host)
            self.good.take(host)
            self.calm.take(host)
        self.pairs.append(Pair(a, b, purpose))
        return True

    def with_a_partner(self, host: str, pool: _Pool) -> bool:
        """Seat a host with one it has not met, same leaf first. True also where it sits already."""
        if host in self._seated:
            return True
        met = self.doubts.met[host]
        for candidates in (pool.near(host), pool.far(host, self.doubts.bad_paths)):
            partner = next((other for other in candidates if other not in met and other != host), None)
            if partner is not None:
                return self.seat(host, partner, Purpose.RETEST)
        return False

    def add_controls(self) -> None:
        """Idle good pairs until each class that occurs in the round has enough readings."""
        leaf = self.doubts.leaf
        across = sum(leaf[pair.a] != leaf[pair.b] for pair in self.pairs)
        for count, is_across in ((len(self.pairs) - across, False), (across, True)):
            wanted = CONTROLS - count if count else 0
            for host in self.doubts.good if wanted > 0 else ():
                if host in self._seated:
                    continue
                candidates = self.good.far(host, self.doubts.bad_paths) if is_across else self.good.near(host)
                partner = next((other for other in candidates if other != host), None)
                wanted -= partner is not None and self.seat(host, partner, Purpose.CONTROL)
                if wanted <= 0:
                    break


def _open_boundary(table: _Table, leaf_a: str, leaf_b: str) -> None:
    """New pairs across a boundary that may be slow, and from each of its sides to a third leaf."""
    doubts, pair, good = table.doubts, between(leaf_a, leaf_b), table.good
    if leaf_a == leaf_b or pair in doubts.bad_paths or doubts.crossings.get(pair, 0) >= MOST_CROSSINGS:
        return
    for _ in range(CROSSINGS):
        near, far = good.on(leaf_a), good.on(leaf_b)
        if near and far:
            # From the middle: the ends of a leaf have met the boundary in the walk.
            table.seat(near[len(near) // 2], far[len(far) // 2], Purpose.PATH)
    for side in (leaf_a, leaf_b):
        for _ in range(THIRDS):
            own, third = next(iter(good.on(side)), None), good.third(pair)
            if own is not None and third is not None:
                table.seat(own, third, Purpose.THIRD)


def _among_themselves(table: _Table, left: Sequence[str]) -> None:
    """Without a good partner left: the most suspect with the least suspect it has not met."""
    waiting = list(reversed(left))
    while len(waiting) > 1:
        suspect = waiting.pop()
        met = table.doubts.met[suspect]
        place = next((place for place, other in enumerate(waiting) if other not in met), None)
        if place is not None:
            table.seat(suspect, waiting.pop(place), Purpose.AMONG)
