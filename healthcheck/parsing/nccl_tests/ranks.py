"""How many ranks a table is about, and what says so: the device list, NCCL's own log, or the sizes of the rows."""

from __future__ import annotations

from healthcheck.model.collective import Collective
from healthcheck.model.datatypes import SIZE_BYTES
from healthcheck.model.measurement import CollectiveRow, ParseWarning, Rank


def count_ranks(
    listed: int | None, told: frozenset[int], rows: list[CollectiveRow], collective: str | None
) -> tuple[int | None, ParseWarning | None]:
    """(ranks of the table's communicator or None, why it is not simply the length of the device list).

    `listed` is that length, None where lines are missing from it; `told` the sizes of communicators in NCCL's log.
    Two sources that disagree are no answer.
    """
    others = {
        "NCCL's own log (Init COMPLETE)": next(iter(told)) if len(told) == 1 else None,
        "size / (count x type size)": _by_size(rows, collective),
    }
    found = {source: ranks for source, ranks in others.items() if ranks is not None}
    numbers = set(found.values())
    if listed is not None and numbers <= {listed}:
        return listed, None
    if len(numbers) != 1 or (listed is not None and listed > max(numbers)):
        # Of several communicators in one log no one knows which is the table's.
        text = "number of ranks unknown: " + ", ".join(f"{ranks} by {source}" for source, ranks in found.items())
        if listed is not None:
            text += f", {listed} by the device list"
        return None, ParseWarning("n_ranks_unknown", text) if numbers else None
    (ranks,) = numbers
    short = "" if listed is None else f"; the device list has only {listed}"
    return ranks, ParseWarning("n_ranks_inferred", f"number of ranks: {ranks} by {' and '.join(found)}{short}")


def is_whole(ranks: list[Rank], per_process: int) -> bool:
    """True when nothing says that a device line is missing: numbers without a gap, at least one whole process."""
    numbers = {rank.rank for rank in ranks}
    return bool(numbers) and numbers == set(range(max(numbers) + 1)) and len(ranks) >= per_process


def _by_size(rows: list[CollectiveRow], collective: str | None) -> int | None:
    """Ranks where the printed size is that of all shares together; 1 proves nothing (most collectives print it)."""
    if collective == Collective.ALLTOALLV:
        return None  # its size is that of the busiest rank
    ratios = {_ratio(row) for row in rows if row.size_bytes and row.count}
    only = next(iter(ratios)) if len(ratios) == 1 else None
    return only if only is not None and only > 1 else None


def _ratio(row: CollectiveRow) -> int | None:
    share = (row.count or 0) * SIZE_BYTES.get(row.dtype, 0)
    return row.size_bytes // share if share and row.size_bytes % share == 0 else None
