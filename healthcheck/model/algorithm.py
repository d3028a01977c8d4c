"""How NCCL moves the data of a collective: what bounds the bus bandwidth depends on it."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum


class Algorithm(StrEnum):
    """The families NCCL chooses from, in the spelling of `platform show --algo`."""

    RING = "ring"
    TREE = "tree"
    NVLS = "nvls"
    SHARP = "sharp"


_SPELLED = {
    "ring": Algorithm.RING,
    "tree": Algorithm.TREE,
    "nvls": Algorithm.NVLS,
    "nvlstree": Algorithm.NVLS,
    "collnetdirect": Algorithm.SHARP,
    "collnetchain": Algorithm.SHARP,
    "collnet": Algorithm.SHARP,
}


def forced(env: Iterable[tuple[str, str]]) -> Algorithm | None:
    """The one algorithm that NCCL_ALGO leaves; None where NCCL chooses, or where the words are not known."""
    words = dict(env).get("NCCL_ALGO", "")
    return _SPELLED.get(words.strip().lower())
