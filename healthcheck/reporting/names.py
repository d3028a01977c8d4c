"""Names of hosts, folded: `gpu[001-004,007]`."""

from __future__ import annotations

from collections.abc import Iterable

from healthcheck.parsing.nodeset import fold
from healthcheck.reporting.figures import one_line


def folded(names: Iterable[str]) -> str:
    """A node set for people, and (quoted) for a command; one line whatever a record may hold."""
    return one_line(fold(dict.fromkeys(names)))
