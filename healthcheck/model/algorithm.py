"""How NCCL moves the data of a collective: what bounds the bus bandwidth depends on it."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from healthcheck.model.collective import Collective


class Algorithm(StrEnum):
    """The families NCCL chooses from, in the spelling of `platform show --algo`."""

    RING = "ring"
    TREE = "tree"
    NVLS = "nvls"
    SHARP = "sharp"


_LEVELS = frozenset({Collective.ALL_REDUCE, Collective.ALL_GATHER, Collective.REDUCE_SCATTER})
_CAN = {
    Algorithm.RING: _LEVELS | {Collective.BROADCAST, Collective.REDUCE},
    Algorithm.TREE: frozenset({Collective.ALL_REDUCE}),
    Algorithm.NVLS: _LEVELS,
    Algorithm.SHARP: _LEVELS,
}


def algorithms_of(collective: Collective) -> tuple[Algorithm, ...]:
    """What NCCL knows for a collective; none where GPUs send to each other one by one."""
    return tuple(algorithm for algorithm, able in _CAN.items() if collective in able)


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
