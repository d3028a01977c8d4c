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


class Unread(Struct, frozen=True):
    """A line of a scheduler that nobody understood: which of the nodes that stand in it are held is not known.

    `names` are words of it that may be nodes, in lower case; `prefixes` are what stands before a range that cannot be
    read (`gpu[1-`).
    """

    line: str
    names: frozenset[str]
    prefixes: tuple[str, ...] = ()

    def may_hold(self, name: str) -> bool:
        """Whether a node of this name, in lower case, stands in it."""
        return name in self.names or any(
            name.startswith(prefix) and name[len(prefix) : len(prefix) + 1].isdecimal() for prefix in self.prefixes
        )


class Allocations(Struct, frozen=True):
    """One answer of a scheduler. `unread` are lines nobody understood: a few, and all that name further nodes."""

    jobs: tuple[Allocation, ...]
    unread: tuple[Unread, ...] = ()
