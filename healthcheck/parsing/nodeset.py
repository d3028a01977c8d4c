"""Lists of hosts in short: `gpu[001-128]` to names and back, by ClusterShell without its group resolver.

The resolver stays off because with it `@group` runs programs named in the configuration of whoever calls.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet, NodeSetException

from healthcheck.errors import InputError

MAX_HOSTS = 20_000

_LABEL = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?")
_BRACKETS = re.compile(r"\[([^\[\]]*)\]")
_RANGE = re.compile(r"(\d{1,40})(?:-(\d{1,40})(?:/(\d{1,40}))?)?")
_OUTSIDE = re.compile(r"[A-Za-z0-9_.-]*")


def is_host_name(name: str) -> bool:
    """True for names and IPv4 addresses that are safe as an argument: dot-separated labels, 253 characters."""
    return len(name) <= 253 and all(_LABEL.fullmatch(label) for label in name.split("."))


def expand(text: str, where: str) -> tuple[str, ...]:
    """The host names of `gpu[001-128],login1` in order, duplicates kept.

    InputError at `where` for what is no node set, names that are not host names, and more than 20,000 hosts; the
    count is taken from the ranges before anything is expanded.
    """
    parts = split(text)
    if sum(_count(part, where) for part in parts) > MAX_HOSTS:
        raise InputError(where, f"{shown(text)} stands for more than {MAX_HOSTS:,} hosts, the most that is read")
    names: list[str] = []
    for part in parts:
        if "[" in part:
            try:
                names.extend(NodeSet(part, resolver=RESOLVER_NOGROUP))
            except (NodeSetException, AssertionError, ValueError):  # the latter for numbers of absurd length
                raise InputError(where, f"{shown(part)} is not a node set; write for example gpu[001-128]") from None
        else:
            names.append(part)
    for name in names:
        if not is_host_name(name):
            raise InputError(where, not_a_name(name))
    return tuple(names)


def fold(names: Iterable[str]) -> str:
    """`gpu[001-004,007]` of any host names, sorted; IPv6 addresses stand behind the folded ones as they are."""
    folded, others = _folded(names)
    return ",".join([folded, *others] if folded else others)


def fold_for_slurm(names: Iterable[str]) -> str:
    """The same as Slurm reads it, which refuses a range that is not at the end (`rack[1-2]-node5`): names that differ
    there are written out."""
    folded, others = _folded(names)
    parts: list[str] = []
    for part in split(folded) if folded else ():
        parts += expand(part, "") if "[" in part and not part.endswith("]") else [part]
    return ",".join([*parts, *others])


def _folded(names: Iterable[str]) -> tuple[str, list[str]]:
    """Host names as one node set, and whatever else there is, sorted."""
    names = set(names)
    plain = [name for name in names if is_host_name(name)]
    return str(NodeSet.fromlist(plain, resolver=RESOLVER_NOGROUP)) if plain else "", sorted(names.difference(plain))


def split(text: str) -> list[str]:
    """The parts of a list at commas and blanks outside brackets; `a,,b` has an empty part, to be refused."""
    parts = [""]
    depth = 0
    for character in text.strip():
        depth += (character == "[") - (character == "]")
        if depth <= 0 and (character == "," or character.isspace()):
            parts.append("")
        else:
            parts[-1] += character
    return parts


def not_a_name(name: str) -> str:
    """The sentence for a name that is refused."""
    return f"{shown(name)} is not a host name; use letters, digits, '-', '_' and '.', not starting or ending with '-'"


def shown(text: str) -> str:
    """Untrusted text for a message: quoted, control and non-ASCII characters escaped, cut to 60 characters."""
    return ascii(text if len(text) <= 60 else text[:57] + "...")


def _widths_differ(part: str, piece: str, first: str, last: str) -> str:
    """`001-1000`: is it gpu001 or gpu0001? Both spellings that would be clear are named."""
    width = max(len(first), len(last))
    padded, plain = f"{int(first):0{width}d}-{int(last):0{width}d}", f"{int(first)}-{int(last)}"
    return (
        f"the numbers of {shown(piece)} in {shown(part)} have different widths; write {padded} for names with "
        f"{width} digits, or {plain} for names without leading zeros"
    )


def _count(part: str, where: str) -> int:
    """How many hosts one part stands for, from its ranges alone."""
    for outside in _BRACKETS.sub("\n", part).split("\n"):
        if not _OUTSIDE.fullmatch(outside):
            raise InputError(where, not_a_name(part))
    total = 1
    for content in _BRACKETS.findall(part):
        here = 0
        for piece in content.split(","):
            match = _RANGE.fullmatch(piece)
            if match is None:
                raise InputError(where, f"{shown(piece)} in {shown(part)} is not a range; write for example 001-128")
            first, last, step = int(match[1]), int(match[2] or match[1]), int(match[3] or 1)
            if last < first or step == 0:
                raise InputError(where, f"the range {shown(piece)} in {shown(part)} runs backwards or stands still")
            ends = [end for end in (match[1], match[2]) if end]
            if len(set(map(len, ends))) > 1 and any(len(end) > 1 and end[0] == "0" for end in ends):
                raise InputError(where, _widths_differ(part, piece, *ends))
            here += (last - first) // step + 1
        total *= here
    return total
