"""The rows of two runs, paired: one line for each stage, collective, number of ranks, subject, size and placement."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from healthcheck.model.digest import DigestJob, RunDigest
from healthcheck.model.judged import SATURATED_BYTES, WITHIN_FACTOR

if TYPE_CHECKING:
    import pandas as pd

NOT_PAIRED = frozenset({"probe", "localise"})
_OF_A_SEARCH = "localise-"
"""Stages without jobs, or whose jobs follow from what was found: two searches never play the same rounds."""
KIND = ("stage", "collective", "nodes", "ranks")
_CELL = (*KIND, "subject", "size", "placement")


def paired_jobs(run: RunDigest) -> tuple[DigestJob, ...]:
    """The jobs that have a counterpart in another run of the same playbook.

    What a search proved at its end stands under the stage it repeats, over the nodes that were left: it is no
    measurement of the nodes as found.
    """
    return tuple(
        job for job in run.jobs if job.stage not in NOT_PAIRED and job.hosts and not job.id.startswith(_OF_A_SEARCH)
    )


def has_numbers(job: DigestJob) -> bool:
    """Whether anything was measured that another run can be held against."""
    return next(measured_cells(job), None) is not None


def subject(job: DigestJob) -> str:
    """Whom a job is about: its node; of several nodes their number, because one may have been replaced."""
    return job.hosts[0] if len(job.hosts) == 1 else f"{len(job.hosts)} nodes"


def measured_cells(job: DigestJob) -> Iterator[tuple[int, str, float]]:
    """(size in bytes, placement, bus bandwidth in GB/s) of every half of a row that has a number above 0."""
    for row in job.rows:
        for name, half in row.placements:
            if half.busbw_gbyte_s is not None and math.isfinite(half.busbw_gbyte_s) and half.busbw_gbyte_s > 0:
                yield row.size_bytes, name, half.busbw_gbyte_s


def readings(run: RunDigest) -> pd.DataFrame:
    """Bus bandwidth in GB/s of every row and half of a run that has a number above 0; the median of its repeats.

    `scatter` is the sum of squares of the logarithms of the repeats around it, `repeats` how many there were.
    """
    import numpy as np
    import pandas as pd

    lines = [
        (job.stage, job.collective, len(job.hosts), job.n_ranks, subject(job), *cell)
        for job in paired_jobs(run)
        for cell in measured_cells(job)
    ]
    frame = pd.DataFrame(lines, columns=[*_CELL, "busbw"])
    frame["busbw"] = frame["busbw"].astype(float)
    groups = frame.groupby(list(_CELL), sort=False)["busbw"]
    middle = groups.transform("median")
    frame["scatter"] = np.log(frame["busbw"] / middle) ** 2
    found = frame.groupby(list(_CELL), sort=False).agg(
        busbw=("busbw", "median"), scatter=("scatter", "sum"), repeats=("busbw", "size")
    )
    return found.reset_index()


def paired(before: pd.DataFrame, after: pd.DataFrame) -> pd.DataFrame:
    """What stands in both, with `change`, the logarithm of AFTER over BEFORE, and whether the size is `saturated`: at
    least 1 GiB and within a factor 8 of the largest common one, as rows are judged."""
    import numpy as np

    both = before.merge(after, on=list(_CELL), suffixes=("_before", "_after"), sort=False)
    both["change"] = np.log(both["busbw_after"] / both["busbw_before"])
    largest = both.groupby(list(KIND), sort=False)["size"].transform("max")
    judged = (both["size"] >= SATURATED_BYTES) & (both["size"] * WITHIN_FACTOR >= largest)
    # A sweep that ends below 1 GiB has no saturated rows: then those near its end stand for it.
    none = ~judged.groupby([both[key] for key in KIND], sort=False).transform("any")
    both["saturated"] = judged | (none & (both["size"] * WITHIN_FACTOR >= largest))
    return both
