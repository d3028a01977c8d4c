"""The numbers that a comparison tells: of each subject what it is judged by, over the sizes that both runs have."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from statistics import median

from healthcheck.evaluation.change_frames import paired_jobs, subject
from healthcheck.model.digest import RunDigest
from healthcheck.model.measurement import CollectiveRow

Key = tuple[str, str, int, int, str]
"""Stage, collective, nodes, ranks, subject."""
Rows = Mapping[Key, Sequence[CollectiveRow]]
Halves = Mapping[str, float]
"""GB/s by placement."""


def rows_of(run: RunDigest) -> Rows:
    """The rows of each subject, of all its repeats."""
    found: dict[Key, list[CollectiveRow]] = {}
    for job in paired_jobs(run):
        key = (job.stage, job.collective, len(job.hosts), job.n_ranks, subject(job))
        found.setdefault(key, []).extend(job.rows)
    return found


def told_halves(rows: Sequence[CollectiveRow], cells: Collection[tuple[int, str]]) -> Halves:
    """The median bus bandwidth in GB/s of each placement over these sizes and placements."""
    values: dict[str, list[float]] = {}
    for row in rows:
        for name, half in row.placements:
            value = half.busbw_gbyte_s
            if (row.size_bytes, name) in cells and value is not None and math.isfinite(value) and value > 0:
                values.setdefault(name, []).append(value)
    return {name: median(found) for name, found in values.items()}


def told_gbyte_s(subjects: Iterable[Halves]) -> float:
    """The median of the subjects in each placement, and of these the slower one, as the bandwidth table tells it.

    Of one subject over all sizes that are judged it is the number of that job. NaN without any.
    """
    found: dict[str, list[float]] = {}
    for halves in subjects:
        for name, value in halves.items():
            found.setdefault(name, []).append(value)
    return min((median(values) for values in found.values()), default=math.nan)


def change_percent(before_gbyte_s: float, after_gbyte_s: float) -> float:
    """What a reader gets from the two numbers, in per cent."""
    return 100 * (after_gbyte_s / before_gbyte_s - 1)
