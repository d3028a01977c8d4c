"""What a scheduler has given to a job."""

from __future__ import annotations

from msgspec import Struct


class Allocation(Struct, frozen=True):
    """One job that holds nodes. `job` as the scheduler prints it (`4711`, `4711_3` of an array), `state` its word
    (`RUNNING`), `nodes` by the scheduler's own names, `line` verbatim."""

    job: str
    user: str
    state: str
    nodes: tuple[str, ...]
    line: str


class Allocations(Struct, frozen=True):
    """One answer of a scheduler. `unread` are lines nobody understood (the first 20): what they hold is not known."""

    jobs: tuple[Allocation, ...]
    unread: tuple[str, ...] = ()
