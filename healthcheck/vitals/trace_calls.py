"""The calls of collectives of all ranks -> how long each took to transfer, how long ranks waited, how fast it was.

A kernel of a collective runs from when its rank arrives until the slowest is done. So of one call the rank that came
last has the shortest kernel, which is the transfer; what the others took longer, they waited. Only durations are
compared: the clocks of two machines are never the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from healthcheck.model.collective import Collective
from healthcheck.model.vitals_trace import CollectiveUse
from healthcheck.vitals.call_table import CallTable, RankCalls, table_of
from healthcheck.vitals.collectives import busbw_gbyte_s
from healthcheck.vitals.columns import UNKNOWN, CallShape
from healthcheck.vitals.intervals import NS, Times

_MANY_SIZES = 256
"""Of one collective in one group: with more, a row for each says less than one for all."""


@dataclass(frozen=True, slots=True)
class CallsTold:
    """`uses`: longest first. `waiting_s`: of each rank, over all its calls; None where none of them was matched.

    `unmatched`: calls of groups with several ranks here, of which these made different numbers of calls.
    """

    uses: tuple[CollectiveUse, ...]
    waiting_s: tuple[float | None, ...]
    unmatched: int


@dataclass(frozen=True, slots=True)
class _Once:
    """One row a call: first row in the table, size, on how many ranks it was seen, shortest and longest (ns)."""

    row: Times
    size: Times
    seen: Times
    least: Times
    most: Times


def told(ranks: Sequence[RankCalls]) -> CallsTold:
    """What the calls of all ranks say together; of one rank alone its durations, waiting inside."""
    table = table_of(ranks)
    if not len(table.rank):
        return CallsTold((), tuple(None for _ in ranks), 0)
    calls = _calls(table)
    sorts = _sorts(table, calls)
    totals = _totals(table, [which for _, which in sorts], len(calls.row))
    uses = [_use(shape, which, calls, total) for (shape, which), total in zip(sorts, totals, strict=True)]
    return CallsTold(
        tuple(sorted(uses, key=lambda use: (-use.total_s, use.name))),
        _waited(table, calls, len(ranks)),
        table.unmatched,
    )


def _calls(table: CallTable) -> _Once:
    order = np.argsort(table.call, kind="stable")
    opens = np.flatnonzero(np.append(True, np.diff(table.call[order]) != 0))
    took, size = table.took[order], table.size[order]
    return _Once(
        row=order[opens],
        size=np.maximum.reduceat(size, opens),  # of a call with uneven shares, the busiest rank's
        seen=np.diff(np.append(opens, len(order))),
        least=np.minimum.reduceat(took, opens),
        most=np.maximum.reduceat(took, opens),
    )


def _sorts(table: CallTable, calls: _Once) -> list[tuple[CallShape, Times]]:
    """Calls of one sort together: of one size, too, where there are not too many different ones."""
    by_shape: dict[CallShape, dict[int, list[int]]] = {}
    for call, (row, size) in enumerate(zip(calls.row.tolist(), calls.size.tolist(), strict=True)):
        shape = replace(table.shapes[table.shape[row]], size_bytes=None)
        by_shape.setdefault(shape, {}).setdefault(size, []).append(call)
    found: list[tuple[CallShape, Times]] = []
    for shape, sizes in by_shape.items():
        if len(sizes) > _MANY_SIZES or shape.name == Collective.ALLTOALLV.value:
            found.append((shape, np.array(sorted(call for each in sizes.values() for call in each))))
        else:
            found += [(shape, np.array(each)) for each in sizes.values()]
    return found


def _totals(table: CallTable, sorts: Sequence[Times], calls: int) -> list[float]:
    """Seconds in each sort of calls on one rank, the mean of the ranks that made any."""
    sort_of = np.empty(calls, dtype=np.int64)
    for sort, which in enumerate(sorts):
        sort_of[which] = sort
    of_row = sort_of[table.call]
    took = np.bincount(of_row, weights=table.took, minlength=len(sorts)) / NS
    pairs = np.unique(np.stack([of_row, table.rank], axis=1), axis=0)
    totals: list[float] = (took / np.bincount(pairs[:, 0], minlength=len(sorts))).tolist()
    return totals


def _use(shape: CallShape, which: Times, calls: _Once, total_s: float) -> CollectiveUse:
    """All calls `which` as one line."""
    seen = int(calls.seen[which].max())
    best = which[calls.seen[which] == seen]  # a call seen on fewer ranks has waiting inside
    transfer_s = float(np.median(calls.least[best])) / NS
    sizes = calls.size[which][calls.size[which] != UNKNOWN]
    size = int(np.median(sizes)) if len(sizes) else None
    several = len(np.unique(sizes)) > 1
    return CollectiveUse(
        name=shape.name,
        dtype=shape.dtype,
        size_bytes=size,
        group_size=shape.group_size,
        group=shape.group,
        calls=len(which),
        ranks=seen,
        transfer_s=transfer_s,
        skew_s=float(np.median(calls.most[best] - calls.least[best])) / NS if seen > 1 else None,
        busbw_gbyte_s=_each_busbw(shape, best, calls)
        if several
        else busbw_gbyte_s(shape.name, size, shape.group_size, transfer_s),
        total_s=total_s,
        sizes=max(1, len(np.unique(sizes))),
    )


def _each_busbw(shape: CallShape, which: Times, calls: _Once) -> float | None:
    """The median over calls of different sizes."""
    pairs = zip(calls.size[which].tolist(), calls.least[which].tolist(), strict=True)
    rates = [busbw_gbyte_s(shape.name, size, shape.group_size, ns / NS) for size, ns in pairs if size != UNKNOWN]
    known = [rate for rate in rates if rate is not None]
    return float(np.median(known)) if known else None


def _waited(table: CallTable, calls: _Once, ranks: int) -> tuple[float | None, ...]:
    """What each rank's kernels took longer than the shortest of their call."""
    matched = calls.seen[table.call] > 1
    late = np.where(matched, table.took - calls.least[table.call], 0)
    waited = np.bincount(table.rank, weights=late, minlength=ranks) / NS
    has = np.bincount(table.rank, weights=matched, minlength=ranks)
    return tuple(float(each) if any_ else None for each, any_ in zip(waited, has, strict=True))
