"""The calls of collectives of all ranks in one table, in which rows of the same call find each other.

A call is the same on two ranks when it has the same number in the same group (`Seq`); where the file has no numbers,
when it is the same one in order within its group and step, and all ranks made as many. One whose group is not known
stays alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from healthcheck.vitals.columns import UNKNOWN, Calls, CallShape
from healthcheck.vitals.intervals import Times, times

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class RankCalls:
    """The calls of one rank that count; `step` is the number of the step in which each was launched."""

    calls: Calls
    step: Times


@dataclass(frozen=True, slots=True)
class CallTable:
    """One row a kernel, columns of one length: rows with the same `call` (0, 1, …) are one call of a group.

    `shape` indexes `shapes`; `took` in ns; `size` in bytes, UNKNOWN where not known. `unmatched`: rows that stay alone
    though other ranks are in their group, because the ranks made different numbers of calls.
    """

    rank: Times
    shape: Times
    took: Times
    size: Times
    call: Times
    shapes: tuple[CallShape, ...]
    unmatched: int


@dataclass(frozen=True, slots=True)
class _Keys:
    """What a row is matched by: `group` UNKNOWN where it stays alone."""

    rank: Times
    group: Times
    step: Times
    seq: Times
    begin: Times


def table_of(ranks: Sequence[RankCalls]) -> CallTable:
    """All calls of all ranks."""
    shapes: dict[CallShape, int] = {}
    columns = [_columns(number, each, shapes) for number, each in enumerate(ranks)]
    rank, shape, begin, end, step, seq = (
        np.concatenate([column[at] for column in columns]) if columns else times(()) for at in range(6)
    )
    known = tuple(shapes)
    groups = {name: at for at, name in enumerate(dict.fromkeys(_group(each) for each in known))}
    of_shape = times(UNKNOWN if _group(each) is None else groups[_group(each)] for each in known)
    sizes = times(UNKNOWN if each.size_bytes is None else each.size_bytes for each in known)
    group = of_shape[shape] if len(known) else shape
    size = sizes[shape] if len(known) else shape
    call, unmatched = _matched(_Keys(rank, group, step, seq, begin))
    return CallTable(rank, shape, end - begin, size, call, known, unmatched)


def _columns(number: int, rank: RankCalls, shapes: dict[CallShape, int]) -> tuple[Times, ...]:
    """Rank, shape (numbered over all ranks), begin, end, step, seq."""
    mine = times(shapes.setdefault(shape, len(shapes)) for shape in rank.calls.shapes)
    calls = rank.calls
    shape = mine[calls.shape] if len(calls) else calls.shape
    return np.full(len(calls), number, dtype=np.int64), shape, calls.begin, calls.end, rank.step, calls.seq


def _group(shape: CallShape) -> tuple[str, str] | None:
    """Who calls what together; None where nobody knows, or each side calls something else (send, receive)."""
    return None if shape.group is None or shape.peer_to_peer else (shape.group, shape.name)


def _matched(keys: _Keys) -> tuple[Times, int]:
    """The number of the call of each row, and how many rows stay alone for want of as many on other ranks."""
    numbered = _all_of_group(keys, keys.seq != UNKNOWN)
    within = np.where(numbered, keys.seq, keys.step)
    nth = _nth(keys.begin, keys.rank, keys.group, within)
    even = numbered | _even(keys, within)
    alone = (keys.group == UNKNOWN) | ~even
    call = _ids(keys.group, within, nth, np.where(alone, np.arange(len(alone)), UNKNOWN))
    return call, int((~even & (keys.group != UNKNOWN)).sum())


def _all_of_group(keys: _Keys, holds: Mask) -> Mask:
    """True for rows of groups in which it holds for every row."""
    if not len(holds):
        return holds
    fails = np.bincount(keys.group + 1, weights=~holds, minlength=int(keys.group.max()) + 2)
    return np.asarray(fails[keys.group + 1] == 0, dtype=bool)


def _nth(begin: Times, *keys: Times) -> Times:
    """The place of each row among those with the same keys, in the order of time."""
    order = np.lexsort((begin, *reversed(keys)))
    opens = _opens([key[order] for key in keys])
    at = np.arange(len(order))
    nth = np.empty(len(order), dtype=np.int64)
    nth[order] = at - np.maximum.accumulate(np.where(opens, at, 0)) if len(order) else at
    return nth


def _opens(keys: Sequence[Times]) -> Mask:
    """Where a new combination of keys begins in sorted rows."""
    new = np.zeros(len(keys[0]), dtype=bool)
    new[:1] = True
    for key in keys:
        new[1:] |= key[1:] != key[:-1]
    return new


def _even(keys: _Keys, within: Times) -> Mask:
    """True for rows whose group made as many calls in this step on every rank that has the step."""
    many = _count(keys.group, within, keys.rank)
    order = np.lexsort((many, within, keys.group))
    opens = np.flatnonzero(_opens([keys.group[order], within[order]]))
    even = np.empty(len(order), dtype=bool)
    if len(order):
        same = np.minimum.reduceat(many[order], opens) == np.maximum.reduceat(many[order], opens)
        even[order] = np.repeat(same, np.diff(np.append(opens, len(order))))
    return even


def _count(*keys: Times) -> Times:
    """How many rows have the keys of each row."""
    ids = _ids(*keys)
    return np.bincount(ids)[ids]


def _ids(*keys: Times) -> Times:
    """Numbers from 0: the same for rows whose keys are the same."""
    order = np.lexsort(keys)
    ids = np.empty(len(order), dtype=np.int64)
    ids[order] = np.cumsum(_opens([key[order] for key in keys])) - 1
    return ids
