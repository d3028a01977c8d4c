"""The search itself: which round comes next, given all that was read so far, and when to stop.

A generator: it yields a round, is sent what the round read, and returns why it stopped. It depends on nothing else,
so a search that was interrupted is gone through again with the readings that were kept.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from enum import StrEnum

from msgspec import Struct

from healthcheck.diagnosis.localise import after_verification, view
from healthcheck.model.search import FullReading, FullRound, Pair, PairReading, PairRound, Problem, Standing
from healthcheck.planning.retests import Doubts, retest_round
from healthcheck.planning.walk import between, fresh_round, ring_rounds, tournament, verification_order

VERIFIED_WITHIN, VERIFIED_NOISE = 0.05, 2.5
ROUNDS_WITHOUT_GOOD = 5
PATIENCE = 6
"""After as many rounds of retests a light suspicion no longer holds up the verification, which may clear it at once."""
_LATE = (Standing.LIKELY, Standing.UNTESTED)
_OPEN = (Standing.LIKELY, Standing.SUSPECTED, Standing.UNTESTED)

Round = PairRound | FullRound
Read = Sequence[PairReading] | Sequence[FullReading]


class Ending(StrEnum):
    """Why a search stopped."""

    VERIFIED = "verified"  # the rest is as fast together as expected
    UNEXPLAINED = "unexplained"  # everybody is clear and the job stays slow; the halves are slow, too
    SCALE = "scale"  # everybody is clear, both halves are fast: what connects them, or the size
    NOBODY_GOOD = "nobody_good"  # no node is proven good after some rounds: nobody can be blamed
    ROUNDS = "rounds"  # the most rounds were played
    PAIR = "pair"  # two nodes: which of them is slow, or what lies between, they cannot show
    TOO_FEW = "too_few"  # fewer than two hosts are left to verify


class Known(Struct, frozen=True):
    """Everything a search has read: what can be judged at any moment, also after an interruption."""

    pairs: tuple[PairReading, ...] = ()
    fulls: tuple[FullReading, ...] = ()


Steps = Generator[Round, Read, Ending]


class Searching:
    """One search. `known` grows as rounds are played; `steps` is the generator to drive."""

    def __init__(self, problem: Problem, expected: Callable[[int], float]) -> None:
        self.problem = problem
        self.expected = expected
        self.leaf = dict(zip(problem.hosts, problem.leaves, strict=True))
        self.known = Known()
        self.round = 1  # the slow run was the first
        self.shortfall = problem.shortfall
        self.view = view(problem, (), problem.shortfall)
        self.gone: frozenset[str] = frozenset()

    def set_aside(self, hosts: Iterable[str]) -> None:
        """Go on without these: they can no longer be measured. What was read of them stays evidence."""
        self.gone |= frozenset(hosts)

    def _open(self) -> tuple[str, ...]:
        return self._left(self.view.standing(*_OPEN))

    @property
    def out_of_rounds(self) -> bool:
        """Whether the last one was played."""
        return self.round >= self.problem.max_rounds

    @property
    def tolerance(self) -> float:
        """How far below its expectation a job over many nodes still counts as fast, a fraction."""
        return max(VERIFIED_WITHIN, VERIFIED_NOISE * self.view.noise)

    def steps(self) -> Steps:
        """Walk, clear the doubts, verify; and again with smaller losses while the verification stays slow."""
        owed = yield from self._walk()
        if len(self.problem.hosts) == 2:
            return Ending.PAIR
        named_before: tuple[str, ...] | None = None
        verifications = 0
        while True:
            ending = yield from self._clear_doubts(owed)
            owed = ()
            if ending is not None:
                return ending
            named = self.view.standing(Standing.CONFIRMED)
            rest = tuple(host for host in self.problem.hosts if host not in self.gone.union(named))
            if len(rest) < 2:
                return Ending.TOO_FEW
            if (yield from self._verified(rest)):
                return Ending.VERIFIED
            verifications += 1
            if self.out_of_rounds:
                return Ending.ROUNDS
            if verifications > 1 and named == named_before and not self._open():
                return (yield from self._halves(rest))
            named_before = named
            yield from self._look_closer(rest, verifications)

    def _walk(self) -> Generator[Round, Read, tuple[Pair, ...]]:
        """The neighbours of the slow run's ring, in two rounds; everybody with everybody where that is as cheap."""
        if len(self.problem.hosts) <= self.problem.tournament_up_to:
            for pairs in tournament(self.problem.hosts):
                if not self.out_of_rounds:
                    yield from self._play(pairs)
            return ()
        even, odd, closing = ring_rounds(self.problem.hosts)
        for pairs in (even, odd):
            if not self.out_of_rounds:
                yield from self._play(pairs)
        return closing

    def _play(self, pairs: Sequence[Pair]) -> Generator[Round, Read, None]:
        self.round += 1
        read = yield PairRound(self.round, tuple(pairs))
        found = [reading for reading in read if isinstance(reading, PairReading)]
        self.known = Known((*self.known.pairs, *found), self.known.fulls)
        self.view = view(self.problem, self.known.pairs, self.shortfall)

    def _clear_doubts(self, owed: Sequence[Pair]) -> Generator[Round, Read, Ending | None]:
        began = self.round
        while not self.out_of_rounds:
            if self.round > ROUNDS_WITHOUT_GOOD and self._nobody_good():
                return Ending.NOBODY_GOOD
            late = self.round - began >= PATIENCE
            pairs = retest_round(self._doubts(owed, _LATE if late else _OPEN))
            owed = ()
            if not pairs:
                return None
            yield from self._play(pairs)
        return Ending.ROUNDS

    def _nobody_good(self) -> bool:
        """Nobody to hold others against: none is proven good, and not even half are out of doubt."""
        calm = self.view.standing(Standing.CLEAR)
        return not self.view.standing(Standing.GOOD) and 2 * len(calm) < len(self.problem.hosts)

    def _doubts(self, owed: Sequence[Pair], doubted: Sequence[Standing]) -> Doubts:
        found = self.view
        crossings: dict[tuple[str, str], int] = {}
        for reading in self.known.pairs:
            pair = between(self.leaf[reading.a], self.leaf[reading.b])
            crossings[pair] = crossings.get(pair, 0) + 1
        return Doubts(
            leaf=self.leaf,
            suspicion={
                node.host: node.probability
                for node in found.nodes
                if node.standing in doubted and node.host not in self.gone
            },
            good=self._left(found.standing(Standing.GOOD)),
            calm=self._left(found.standing(Standing.CLEAR)),
            met=dict(zip(self.problem.hosts, found.met, strict=True)),
            open_edges=tuple(edge for edge in found.link_pairs("open") if self.gone.isdisjoint(edge)),
            crossings=crossings,
            bad_paths=frozenset(found.paths),
            owed=tuple(pair for pair in owed if self.gone.isdisjoint((pair.a, pair.b))),
        )

    def _left(self, hosts: Iterable[str]) -> tuple[str, ...]:
        return tuple(host for host in hosts if host not in self.gone)

    def _verified(self, rest: tuple[str, ...]) -> Generator[Round, Read, bool]:
        """Whether the rest is as fast together as expected; a slow one is repeated once before it is believed."""
        order = self._order(rest)
        for _ in range(2):
            if self.out_of_rounds:
                return False
            (reading,) = yield from self._together((order,))
            if reading.shortfall <= self.tolerance:
                self.view = after_verification(self.view, reading.hosts, self.tolerance)
                return True
            self.shortfall = reading.shortfall
        return False

    def _order(self, hosts: tuple[str, ...]) -> tuple[str, ...]:
        """A rank order around what is slow between nodes."""
        bad = frozenset(between(a, b) for a, b in self.view.link_pairs("confirmed", "likely"))
        order, _ = verification_order(hosts, self.leaf, bad, frozenset(self.view.paths))
        return order

    def _together(self, orders: tuple[tuple[str, ...], ...]) -> Generator[Round, Read, list[FullReading]]:
        self.round += 1
        read = yield FullRound(self.round, orders)
        found = [reading for reading in read if isinstance(reading, FullReading)]
        self.known = Known(self.known.pairs, (*self.known.fulls, *found))
        return found

    def _look_closer(self, rest: tuple[str, ...], times: int) -> Generator[Round, Read, None]:
        """Two rounds of new neighbours, and smaller losses looked for."""
        for again in range(2):
            met = dict(zip(self.problem.hosts, self.view.met, strict=True))
            pairs = fresh_round(rest, self.leaf, met, 2 + 3 * again + 6 * times)
            if pairs and not self.out_of_rounds:
                yield from self._play(pairs)
        self.view = view(self.problem, self.known.pairs, self.shortfall)

    def _halves(self, rest: tuple[str, ...]) -> Generator[Round, Read, Ending]:
        """Both halves at once: where both are fast, it is what connects them, or the number of nodes."""
        if len(rest) < 4 or self.out_of_rounds:
            return Ending.UNEXPLAINED
        middle = len(rest) // 2
        read = yield from self._together((self._order(rest[:middle]), self._order(rest[middle:])))
        fast = bool(read) and all(reading.shortfall <= self.tolerance for reading in read)
        return Ending.SCALE if fast else Ending.UNEXPLAINED


def expected_pairs(step: Round) -> int:
    """How many jobs a round is."""
    return len(step.pairs) if isinstance(step, PairRound) else len(step.orders)
