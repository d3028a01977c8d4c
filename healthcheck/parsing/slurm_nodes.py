"""Slurm's `scontrol show node`: the state of every node, and why it is drained. Written from Slurm 22.05."""

from __future__ import annotations

import re

from healthcheck.model.drain import NodeState

SCONTROL = ("scontrol", "--oneliner", "show", "node")
"""Lists every node, one a line. Not `sinfo`: that has one word for a state, and a drained node in maintenance is
`maint` there."""

_NAME = re.compile(r"NodeName=(?P<name>[A-Za-z0-9_][A-Za-z0-9_.-]{0,252})(?: |$)")
# Everything before it is of the machine and of slurm.conf; the reason is free text and comes after it.
_STATE = re.compile(r" State=(?P<state>[A-Z][A-Z_+*~#!%$@^-]*)(?: |$)")
_REASON = re.compile(r" Reason=(?P<reason>.*)")
# Who set it and when; a second line of a reason, or a comment, stands behind it.
_SET_BY = re.compile(r" \[[^\s\[\]@]+@\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\]")


def read_nodes(text: str) -> tuple[NodeState, ...]:
    """What `SCONTROL` printed. Never raises: a line that is no node is passed over, a node named twice counts once.

    The first line of a reason is kept. A reason that says ` State=` or `NodeName=` itself changes nothing.
    """
    found: dict[str, NodeState] = {}
    for line in text.splitlines():
        node = _node(line)
        if node is not None:
            found.setdefault(node.name, node)
    return tuple(found.values())


def _node(line: str) -> NodeState | None:
    name = _NAME.match(line)
    state = _STATE.search(line, name.end("name")) if name is not None else None
    if name is None or state is None:
        return None
    reason = _REASON.search(line, state.end("state"))
    return NodeState(name["name"], state["state"], _SET_BY.split(reason["reason"])[0].strip() if reason else "")
