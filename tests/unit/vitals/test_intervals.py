"""Interval sets against a raster of single nanoseconds."""

from __future__ import annotations

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from healthcheck.vitals.intervals import Spans, clip, length, subtract, times, together, union

MOMENT = st.integers(0, 60)
PAIRS = st.lists(st.tuples(MOMENT, MOMENT), max_size=12)


def spans(pairs: list[tuple[int, int]]) -> Spans:
    return union(times(begin for begin, _ in pairs), times(end for _, end in pairs))


def raster(pairs: list[tuple[int, int]]) -> set[int]:
    return {moment for begin, end in pairs for moment in range(begin, end)}


def moments(found: Spans) -> set[int]:
    """Of a well-formed set: sorted, none empty, none touching the next."""
    pairs = list(zip(found.begin.tolist(), found.end.tolist(), strict=True))
    assert all(begin < end for begin, end in pairs)
    assert all(one[1] < other[0] for one, other in itertools.pairwise(pairs))
    assert length(found) == len(raster(pairs))
    return raster(pairs)


@given(PAIRS, PAIRS, MOMENT, MOMENT)
@settings(max_examples=300, deadline=None)
def test_every_operation_is_that_of_sets(a: list[tuple[int, int]], b: list[tuple[int, int]], lo: int, hi: int) -> None:
    one, other = spans(a), spans(b)
    assert moments(one) == raster(a)
    assert moments(together(one, other)) == raster(a) | raster(b)
    assert moments(subtract(one, other)) == raster(a) - raster(b)
    assert moments(clip(one, lo, hi)) == raster(a) & set(range(lo, hi))


def test_nothing_is_a_set_too() -> None:
    assert len(union(times(()), times(()))) == 0
    assert len(union(times([5, 7]), times([5, 3]))) == 0
