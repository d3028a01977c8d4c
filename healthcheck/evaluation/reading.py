"""The one number of a job that its bandwidth is judged by, and the rows it was made of."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from healthcheck.model.command import JobOutcome
from healthcheck.model.judged import SATURATED_BYTES, counted_rows, slower_placement
from healthcheck.model.measurement import CollectiveRow
from healthcheck.model.message import Message, say


class JudgedReading(Struct, frozen=True):
    """Bus bandwidth in GB/s of the slower placement: the median of `rows`, of which the largest has `size_bytes`.

    `at_largest` is (placement, GB/s) at that size alone.
    """

    value: float
    placement: str
    size_bytes: int
    rows: tuple[CollectiveRow, ...]
    at_largest: tuple[str, float]

    @property
    def saturated(self) -> bool:
        """Whether the sizes are large enough to be judged without being asked to."""
        return self.size_bytes >= SATURATED_BYTES

    @property
    def placement_text(self) -> str:
        """As it is written in a sentence."""
        return spelled(self.placement)


def spelled(placement: str) -> str:
    """`in-place`, as it is written in a sentence."""
    return placement.replace("_", "-")


def size_gib(size_bytes: int) -> float:
    """GiB, as far as they are worth telling."""
    return round(size_bytes / (1 << 30), 2)


def told_at(gbyte_s: float, size_bytes: int | None) -> Message:
    """`95.3 GB/s at 8 GiB`: a number that is not the one a job is judged by says at which size it was read."""
    if size_bytes is None:
        return say("search.gbyte_s", value=f"{gbyte_s:.1f}")
    return say("search.gbyte_s_at", value=f"{gbyte_s:.1f}", size_gib=size_gib(size_bytes))


def all_rows(outcomes: Sequence[JobOutcome]) -> tuple[CollectiveRow, ...]:
    """The rows of all repeats."""
    return tuple(row for outcome in outcomes for table in outcome.output.tables for row in table.rows)


def largest_bytes(outcomes: Sequence[JobOutcome]) -> int | None:
    """The largest size that was printed; None without rows."""
    return max((row.size_bytes for row in all_rows(outcomes)), default=None)


def judged_reading(outcomes: Sequence[JobOutcome]) -> JudgedReading | None:
    """What all repeats of one job are judged by; of a sweep that ends below 1 GiB its largest size. None without rows
    that have a bus bandwidth."""
    rows = all_rows(outcomes)
    largest = max((row.size_bytes for row in rows), default=0)
    counted = counted_rows(rows)
    slower = slower_placement(counted, lambda half: half.busbw_gbyte_s)
    if slower is None:
        return None
    return JudgedReading(slower[1], slower[0], largest, counted, slower_at_largest(counted) or slower)


def slower_at_largest(rows: Sequence[CollectiveRow]) -> tuple[str, float] | None:
    """(placement, bus bandwidth in GB/s) at the largest size alone, of the slower placement."""
    largest = max((row.size_bytes for row in rows), default=0)
    return slower_placement([row for row in rows if row.size_bytes == largest], lambda half: half.busbw_gbyte_s)


def percent(fraction: float, *limits: float) -> int:
    """Whole percent as it is shown: rounded, but never up to a limit that was missed (69.8 % stays 69 %)."""
    exact = 100 * fraction
    near = round(exact)
    return near - 1 if any(exact < 100 * limit <= near for limit in limits) else near


def tenths(fraction: float, *limits: float) -> float:
    """Per cent with one decimal, and never up to a limit that was missed either (69.98 % stays 69.9 %)."""
    exact = 100 * fraction
    near = round(exact, 1)
    return round(near - 0.1, 1) if any(exact < 100 * limit <= near for limit in limits) else near
