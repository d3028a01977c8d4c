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
    processes. Without `platform` nothing can be compared, so counts and rates are INCONCLUSIVE.
    """

    platform: Platform | None
    own_token: str
    binary: bool = True
    mpi: bool = True
    launcher: str | None = None
    allow_busy: bool = False


class Probe(Struct, frozen=True):
    """One look: the name of its part, the check ids it can give, and its judgement. Its file says how it reads."""

    name: str
    checks: tuple[str, ...]
    judge: Callable[[NodeFacts, Needs], tuple[CheckResult, ...]]
