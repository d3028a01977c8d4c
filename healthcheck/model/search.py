"""The search for what slows a job over many nodes: who is measured with whom, what it read, what it says.

Bandwidths in GB/s (10^9, one direction), losses and shortfalls as fractions of what is expected.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct


class Purpose(StrEnum):
    """Why two nodes are measured together."""

    WALK = "walk"  # neighbours in the ring of the slow run
    TOURNAMENT = "tournament"  # everybody with everybody, up to 8 nodes
    LINK = "link"  # the same two again: is it what lies between them
    PATH = "path"  # other two across the same boundary of two leaves
    THIRD = "third"  # one of that boundary with a third leaf
    RETEST = "retest"  # one in doubt with one that is proven good
    AMONG = "among"  # two in doubt, for want of a good one
    CONTROL = "control"  # two good ones, so that the round has peers
    FRESH = "fresh"  # new neighbours after a slow verification


class Pair(Struct, frozen=True, order=True):
    """Two hosts to be measured together, in rank order."""

    a: str
    b: str
    purpose: Purpose


class PairReading(Struct, frozen=True):
    """What a pair read in a round. `busbw_gbyte_s` is that of the slowest rail where rails were measured apart.

    None: the job did not finish, which is the slowest reading there is. `rails`: every rail by its number, where known.
    `size_bytes` is the size at which it was read, None where nobody says.
    """

    round: int
    a: str
    b: str
    purpose: Purpose
    busbw_gbyte_s: float | None
    rails: tuple[float, ...] = ()
    job: str = ""
    size_bytes: int | None = None


class FullReading(Struct, frozen=True):
    """What a job over many hosts read: the slow run itself (round 1), a verification, or half of the hosts.

    Its largest size is read, `size_bytes`: over many nodes a curve rises later, and there jobs of few and of many
    differ least.
    """

    round: int
    hosts: tuple[str, ...]
    busbw_gbyte_s: float | None
    expected_gbyte_s: float
    job: str = ""
    size_bytes: int | None = None

    @property
    def shortfall(self) -> float:
        """How far below the expectation, as a fraction of it; 1.0 when it did not finish."""
        return 1.0 if self.busbw_gbyte_s is None else 1.0 - self.busbw_gbyte_s / self.expected_gbyte_s


class PairRound(Struct, frozen=True):
    """Pairs that share no node, to be measured all at once."""

    round: int
    pairs: tuple[Pair, ...]


class FullRound(Struct, frozen=True):
    """Jobs over many hosts, in rank order; two of them (halves) share no node and run at once."""

    round: int
    orders: tuple[tuple[str, ...], ...]


class Problem(Struct, frozen=True):
    """What is to be searched. `hosts` in the rank order of the slow run, `leaves` their leaf labels ("" unknown).

    `shortfall` is that of the slow run. `pair_gbyte_s`: what a healthy pair is known to read, None where nobody knows.
    `sensitivity`: the smallest loss to look for, None for one that fits the shortfall.
    """

    hosts: tuple[str, ...]
    leaves: tuple[str, ...]
    shortfall: float
    pair_gbyte_s: float | None = None
    sensitivity: float | None = None
    max_rounds: int = 16
    tournament_up_to: int = 8


class Standing(StrEnum):
    """What the evidence says of one node."""

    CONFIRMED = "confirmed"
    LIKELY = "likely"
    SUSPECTED = "suspected"
    CLEAR = "clear"  # out of doubt
    GOOD = "good"  # proven good: may serve as a partner
    UNTESTED = "untested"


class NodeStanding(Struct, frozen=True):
    """One node: the loss it hides (estimated), the probability that it hides one at all, and where it stands.

    `partners`: how many it was measured with. `masked`: all of them are confirmed themselves, or were reached over a
    slow path, so that nothing was heard of this node. `intermittent`: two or more links at it are slow, each twice.
    """

    host: str
    standing: Standing
    loss: float
    probability: float
    partners: int
    masked: bool = False
    intermittent: bool = False


class LinkStanding(Struct, frozen=True):
    """What lies between two nodes; `loss` is the median of its slow readings, `jobs` how many readings there are.

    `state`: open (slow once), confirmed, likely (one end is not proven good), one_off (did not repeat), or masked (one
    end is a confirmed node, which hides it).
    """

    a: str
    b: str
    state: str
    loss: float
    jobs: int = 1


class PairLine(Struct, frozen=True):
    """A pair as it stands in the record: what it read and what its healthy peers did, in GB/s of bus bandwidth.

    `measured_gbyte_s` None: did not finish. `loss` as a fraction of what is expected.
    """

    a: str
    b: str
    purpose: Purpose
    measured_gbyte_s: float | None
    expected_gbyte_s: float
    loss: float
    job: str = ""


class FullLine(Struct, frozen=True):
    """A job over many hosts as it stands in the record; `hosts` in rank order, None: did not finish."""

    hosts: tuple[str, ...]
    measured_gbyte_s: float | None
    expected_gbyte_s: float
    job: str = ""


class Kind(StrEnum):
    """What a round measured."""

    SLOW_RUN = "slow_run"
    RAILS = "rails"  # pairs, rail by rail: the number is that of the slowest rail
    NODES = "nodes"  # pairs of whole nodes
    VERIFY = "verify"
    HALVES = "halves"


class RoundRecord(Struct, frozen=True):
    """One round. `untested` are pairs that were planned and could not be measured."""

    round: int
    kind: Kind
    pairs: tuple[PairLine, ...] = ()
    fulls: tuple[FullLine, ...] = ()
    untested: tuple[tuple[str, str], ...] = ()


class RailsRecord(Struct, frozen=True):
    """What each rail of a confirmed node loses, as fractions; `slow` by number, `devices` "" where not known."""

    host: str
    losses: tuple[float, ...]
    slow: tuple[int, ...]
    devices: tuple[str, ...] = ()


class SearchRecord(Struct, frozen=True):
    """A whole search. `suspects` are the nodes that are not out of doubt; losses below `unseen` were not looked for.

    `shortfall` of the slow run and `noise` of the readings are fractions. `ending` is a word of `diagnosis.search`, or
    `budget`, `stopped`, `nothing_measured`. `gone`: hosts that could not be measured any more on the way.
    """

    ending: str
    shortfall: float
    unseen: float
    noise: float
    rounds: tuple[RoundRecord, ...] = ()
    suspects: tuple[NodeStanding, ...] = ()
    links: tuple[LinkStanding, ...] = ()
    paths: tuple[tuple[str, str], ...] = ()
    leaves: tuple[str, ...] = ()
    rails: tuple[RailsRecord, ...] = ()
    gone: tuple[str, ...] = ()
