"""Nodes that a scheduler keeps jobs off, and the mark by which we know those drains that are ours."""

from __future__ import annotations

from msgspec import Struct


def mark_of(run_id: str) -> str:
    """What the reason of every drain begins with that a run suggests; the code of the cause follows."""
    return f"healthcheck {run_id} "


# Behind a word of a state: not responding, powering, in maintenance and so on.
_SIGNS = "*~#!%$@^-"


class NodeState(Struct, frozen=True):
    """One node as the scheduler has it. `state` as printed (`IDLE+DRAIN`), `reason` without who set it and when."""

    name: str
    state: str
    reason: str = ""

    @property
    def drained(self) -> bool:
        """Whether it gets no new job; what runs on it may still run."""
        return any(word.rstrip(_SIGNS) == "DRAIN" for word in self.state.split("+"))


class Undoing(Struct, frozen=True):
    """What would undo the drains of one run, and what is left alone.

    `ours` are drained with a reason of the run. Of the nodes that the run suggested to drain, `other` are drained with
    a reason that is not ours, `not_drained` take jobs or are down, and `unknown` has Slurm no node of that name for.
    """

    run_id: str
    ours: tuple[NodeState, ...]
    other: tuple[NodeState, ...]
    not_drained: tuple[NodeState, ...]
    unknown: tuple[str, ...]
