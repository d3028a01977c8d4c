"""Names of hosts, folded: `gpu[001-004,007]`."""

from __future__ import annotations

from collections.abc import Iterable

from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet


def folded(names: Iterable[str]) -> str:
    """A node set for people, and (quoted) for a command. Names that are no node set are joined by commas.

    A record can be read from a file that someone edited; a report of it must still be rendered.
    """
    unique = tuple(dict.fromkeys(names))
    if not unique:
        return ""
    if any(not name or set(name) & set("[]{}(),;&!^ \t\n<>|\"'`$\\") for name in unique):
        return ",".join(unique)
    return str(NodeSet.fromlist(unique, resolver=RESOLVER_NOGROUP))
