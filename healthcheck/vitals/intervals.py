"""Sets of moments as sorted, disjoint intervals: union, difference, length.

Times are whole nanoseconds (int64), so that nothing is rounded and what is added up adds up. An interval holds its
begin and not its end; one that ends where it begins, or before, holds nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Times = NDArray[np.int64]
NS = 1e9
"""Nanoseconds of a second."""
LATEST = np.iinfo(np.int64).max
"""A moment after all others."""


@dataclass(frozen=True, slots=True)
class Spans:
    """`begin[i]` to `end[i]`, sorted and apart from each other: made by `union` and what follows it, never by hand."""

    begin: Times
    end: Times

    def __len__(self) -> int:
        return len(self.begin)


def times(values: Iterable[int]) -> Times:
    """Nanoseconds as a column."""
    return np.fromiter(values, dtype=np.int64)


NOTHING = Spans(times(()), times(()))


def union(begin: Times, end: Times) -> Spans:
    """Every moment in any of the intervals, given in any order; those that touch become one."""
    real = end > begin
    begin, end = begin[real], end[real]
    if not len(begin):
        return NOTHING
    order = np.argsort(begin, kind="stable")
    begin, end = begin[order], end[order]
    reach = np.maximum.accumulate(end)  # how far anything that began so far goes
    opens = np.concatenate(([True], begin[1:] > reach[:-1]))
    last = np.append(np.flatnonzero(opens)[1:] - 1, len(begin) - 1)
    return Spans(begin[opens], reach[last])


def together(*sets: Spans) -> Spans:
    """Every moment in any of the sets."""
    return union(np.concatenate([each.begin for each in sets]), np.concatenate([each.end for each in sets]))


def subtract(one: Spans, other: Spans) -> Spans:
    """Every moment in `one` and not in `other`."""
    if not len(one) or not len(other):
        return one
    # Cut wherever something begins or ends, the time line falls into pieces that are in a set, or out of it, whole.
    cuts = np.unique(np.concatenate((one.begin, one.end, other.begin, other.end)))
    begin, end = cuts[:-1], cuts[1:]
    kept = _holds(one, begin) & ~_holds(other, begin)
    return union(begin[kept], end[kept])


def _holds(spans: Spans, moments: Times) -> NDArray[np.bool_]:
    """Which of the moments lie in `spans`."""
    at = np.searchsorted(spans.begin, moments, side="right") - 1
    return (at >= 0) & (moments < spans.end[np.maximum(at, 0)])


def clip(spans: Spans, begin: int, end: int) -> Spans:
    """What of `spans` lies between two moments; only those that reach into it are looked at."""
    first = int(np.searchsorted(spans.end, begin, side="right"))
    last = int(np.searchsorted(spans.begin, end, side="left"))
    if first >= last or begin >= end:
        return NOTHING
    return Spans(np.maximum(spans.begin[first:last], begin), np.minimum(spans.end[first:last], end))


def length(spans: Spans) -> int:
    """How long the set is, in nanoseconds."""
    return int((spans.end - spans.begin).sum())
