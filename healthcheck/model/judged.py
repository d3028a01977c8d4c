"""The one number that stands for a job wherever it is told: the one its bandwidth is judged by."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence

from healthcheck.model.measurement import CollectiveRow, Placement

# Below 1 GiB the start-up of each message still shows, and a healthy machine reads low.
SATURATED_BYTES = 1 << 30
WITHIN_FACTOR = 8


def judged_rows(rows: Sequence[CollectiveRow]) -> tuple[CollectiveRow, ...]:
    """The rows that count: at least 1 GiB and within a factor 8 of the largest. The footer average never counts."""
    largest = max((row.size_bytes for row in rows), default=0)
    return tuple(row for row in rows if row.size_bytes >= SATURATED_BYTES and row.size_bytes * WITHIN_FACTOR >= largest)


def counted_rows(rows: Sequence[CollectiveRow]) -> tuple[CollectiveRow, ...]:
    """The rows a job is told by: those that are judged; of a sweep that ends below 1 GiB its largest size."""
    largest = max((row.size_bytes for row in rows), default=0)
    return judged_rows(rows) or tuple(row for row in rows if row.size_bytes == largest)


def slower_placement(
    rows: Sequence[CollectiveRow], of: Callable[[Placement], float | None]
) -> tuple[str, float] | None:
    """(placement, median over `rows`) of the half where `of` is lower; None where it was printed nowhere."""
    values: dict[str, list[float]] = {}
    for row in rows:
        for name, half in row.placements:
            value = of(half)
            if value is not None:
                values.setdefault(name, []).append(value)
    medians = {name: statistics.median(found) for name, found in values.items()}
    return min(medians.items(), key=lambda item: item[1], default=None)


def judged_gbyte_s(rows: Sequence[CollectiveRow]) -> float | None:
    """Bus bandwidth in GB/s of a job from the rows of all its repeats: the median over the sizes that count, of the
    slower placement. None where none was printed."""
    found = slower_placement(counted_rows(rows), lambda half: half.busbw_gbyte_s)
    return None if found is None else found[1]
