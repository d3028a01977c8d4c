"""What a look at a node is, and what its judgement may depend on."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from healthcheck.model.finding import CheckResult
from healthcheck.model.node import NodeFacts
from healthcheck.model.platform import Platform


class Needs(Struct, frozen=True):
    """What the coming stages need of a node, and by which rules it is judged.

    `launcher` is the MPI family of the playbook (`openmpi`, `hydra`), None: either. `own_token` marks our own
    processes. Without `platform` nothing can be compared, so counts and rates are INCONCLUSIVE. `together`: a job over
    several nodes is to follow, so what only the network between nodes needs is needed. `began_at` is when the first
    benchmark began, in seconds since 1970 by the clock of this machine; None before that. `clocks_ahead_s`: how far the
    clocks of most nodes are ahead of ours. `known`: the machine types that a node may be instead.
    """

    platform: Platform | None
    own_token: str
    binary: bool = True
    mpi: bool = True
    launcher: str | None = None
    allow_busy: bool = False
    together: bool = True
    began_at: float | None = None
    clocks_ahead_s: float = 0.0
    known: tuple[Platform, ...] = ()


class Probe(Struct, frozen=True):
    """One look: the name of its part, the check ids it can give, and its judgement. Its file says how it reads.

    `judge_after` compares the look before the stages with the one after them (counters that grew); a probe that has
    it is asked again then.
    """

    name: str
    checks: tuple[str, ...]
    judge: Callable[[NodeFacts, Needs], tuple[CheckResult, ...]]
    judge_after: Callable[[NodeFacts, NodeFacts, Needs], tuple[CheckResult, ...]] | None = None
