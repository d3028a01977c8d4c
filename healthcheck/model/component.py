"""What a verdict is about: a node, one of its parts, or something between nodes."""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache

from msgspec import Struct


class Kind(StrEnum):
    """The kinds of component, smallest blast radius last."""

    FABRIC = "fabric"
    RAIL = "rail"
    PATH = "path"
    LINK = "link"
    NODE = "node"
    GPU = "gpu"
    HCA = "hca"
    NVLINK = "nvlink"


_BETWEEN = {Kind.RAIL, Kind.PATH, Kind.LINK}
_INSIDE = {Kind.GPU, Kind.HCA, Kind.NVLINK}


# A large fleet has the same few thousand components in a hundred thousand results.
@lru_cache(maxsize=1 << 16)
def _kind(text: str) -> Kind:
    if text == Kind.FABRIC:
        return Kind.FABRIC
    head, slash, part = text.partition("/")
    prefix, colon, _ = (part if slash else head).partition(":")
    for kind in _INSIDE if slash else _BETWEEN:
        if colon and prefix == kind.value:
            return kind
    return Kind.NODE


class Component(Struct, frozen=True, order=True):
    """One named thing, written the same way everywhere: `node05`, `node05/hca:mlx5_2`, `link:node01-node06`.

    Orderable, printable and usable as a dict key. `host` is the node it belongs to, None between nodes.
    """

    text: str

    def __str__(self) -> str:
        return self.text

    @property
    def kind(self) -> Kind:
        """Read from the spelling, which is the contract."""
        return _kind(self.text)

    @property
    def host(self) -> str | None:
        """The node this belongs to; None for what lies between nodes."""
        if self.kind in _BETWEEN or self.kind is Kind.FABRIC:
            return None
        return self.text.partition("/")[0]


_DIGITS = re.compile(r"(\d+)")


def natural(name: str) -> list[tuple[int, int, str]]:
    """A sort key for names: node2 before node10."""
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in _DIGITS.split(name) if part]


FABRIC = Component(Kind.FABRIC.value)


# The spelling is a contract, so every kind has its maker here.


def node(host: str) -> Component:
    """The whole node."""
    return Component(host)


def gpu(host: str, index: int) -> Component:
    """One GPU, by the index nvidia-smi gives it."""
    return Component(f"{host}/gpu:{index}")


def hca(host: str, device: str) -> Component:
    """One host channel adapter, by its device name (`mlx5_2`)."""
    return Component(f"{host}/hca:{device}")


def link(host_a: str, host_b: str) -> Component:
    """What lies between two nodes; the same for (a, b) and (b, a)."""
    first, second = sorted((host_a, host_b))
    return Component(f"link:{first}-{second}")


def path(leaf_a: str, leaf_b: str) -> Component:
    """What lies between two leaf groups."""
    first, second = sorted((leaf_a, leaf_b))
    return Component(f"path:{first}-{second}")
