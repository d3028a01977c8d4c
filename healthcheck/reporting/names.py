"""Names of hosts, folded: `gpu[001-004,007]`."""

from __future__ import annotations

from collections.abc import Iterable

from healthcheck.errors import InputError
from healthcheck.parsing.nodeset import expand, fold, fold_for_slurm
from healthcheck.reporting.figures import one_line


def folded(names: Iterable[str]) -> str:
    """A node set for people, and (quoted) for a command of ours; one line whatever a record may hold."""
    return one_line(fold(dict.fromkeys(names)))


def slurm_nodes(names: Iterable[str]) -> str:
    """The same for a command of Slurm."""
    return one_line(fold_for_slurm(dict.fromkeys(names)))


def folded_titles(titles: Iterable[str]) -> str:
    """The names of groups, folded as those of hosts are: `l[1-64]`; a group may be called by its folded nodes."""
    names: dict[str, None] = {}
    for title in dict.fromkeys(titles):
        names.update(dict.fromkeys(_members(title)))
    return folded(names)


def _members(title: str) -> tuple[str, ...]:
    if "[" not in title:
        return (title,)
    try:
        return expand(title, "")
    except InputError:
        return (title,)
