"""Stored runs as pandas frames. pandas is imported inside: a check-up must not pay for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from healthcheck.model.history import PastJob, PastRun

if TYPE_CHECKING:
    import pandas as pd

_STAGES = ("single_node", "multi_node")
_USUAL_COLLECTIVE = "all_reduce"
# In a run of fewer nodes the median of the run says little about all of them.
LEAST_FOR_MEDIAN = 5


class Kind(Struct, frozen=True, order=True):
    """One sort of measurement, at the size (bytes) that most of its jobs end with; `jobs` of it were found."""

    stage: str
    collective: str
    size_bytes: int
    jobs: int

    @property
    def column(self) -> str:
        """Its name as a column."""
        return f"{self.stage} {self.collective}"


def kinds(runs: Sequence[PastRun], stage: str | None = None, collective: str | None = None) -> tuple[Kind, ...]:
    """What was measured in `runs`, alone before together, all_reduce before others."""
    largest: dict[tuple[str, str], Counter[int]] = {}
    for run in runs:
        for job in run.jobs:
            if job.sizes and stage in (None, job.stage) and collective in (None, job.collective):
                largest.setdefault((job.stage, job.collective), Counter())[job.sizes[-1]] += 1
    found = [
        Kind(*key, max(sizes, key=lambda size: (sizes[size], size)), sizes.total()) for key, sizes in largest.items()
    ]
    return tuple(sorted(found, key=_usual_first))


def _usual_first(kind: Kind) -> tuple[bool, int, str, bool, str]:
    place = _STAGES.index(kind.stage) if kind.stage in _STAGES else len(_STAGES)
    return kind.stage not in _STAGES, place, kind.stage, kind.collective != _USUAL_COLLECTIVE, kind.collective


def readings(runs: Sequence[PastRun], kind: Kind, host: str | None = None) -> pd.DataFrame:
    """One row a job of `kind` (with `host`, where given): run (its place in `runs`), host, nodes, ranks, gbyte_s.

    `gbyte_s` is the bus bandwidth of the slower placement at the size of `kind`; jobs without that size are left out,
    and so is a job of one node that used another number of ranks than that node usually does. `host` is empty for jobs
    of several nodes.
    """
    import pandas as pd

    rows = [
        (place, job.hosts[0] if len(job.hosts) == 1 else "", len(job.hosts), job.n_ranks, value)
        for place, run in enumerate(runs)
        for job in run.jobs
        if (job.stage, job.collective) == (kind.stage, kind.collective) and (host is None or host in job.hosts)
        for value in (_at(job, kind.size_bytes),)
        if value is not None
    ]
    frame = pd.DataFrame(rows, columns=["run", "host", "nodes", "ranks", "gbyte_s"])
    if frame["ranks"].nunique() > 1:
        usual = frame.groupby("host")["ranks"].transform(lambda ranks: ranks.mode().max())
        frame = frame[(frame["host"] == "") | (frame["ranks"] == usual)].reset_index(drop=True)
    return frame


def against_fleet(frame: pd.DataFrame) -> pd.DataFrame:
    """`frame` with `relative`: the reading over the median of its run, so that what all nodes share drops out.

    Where no run has 5 nodes, over 1; else runs of fewer are left out.
    """
    groups = frame.groupby("run")["gbyte_s"]
    counts = groups.transform("size")
    if len(frame) == 0 or int(counts.max()) < LEAST_FOR_MEDIAN:
        return frame.assign(relative=frame["gbyte_s"])
    told = counts >= LEAST_FOR_MEDIAN
    return frame.assign(relative=frame["gbyte_s"] / groups.transform("median"))[told].reset_index(drop=True)


def verdicts(runs: Sequence[PastRun]) -> pd.DataFrame:
    """One row a host of a run that came to its end: run (place in `runs`), host, verdict, rule, reason, message.

    A host that was left alone (SKIPPED) has none: nothing was said about it.
    """
    import pandas as pd

    rows = [
        (place, host.name, host.verdict, host.rule, host.reason, host.message)
        for place, run in enumerate(runs)
        if run.state == "complete"
        for host in run.hosts
        if host.verdict != "SKIPPED"
    ]
    return pd.DataFrame(rows, columns=["run", "host", "verdict", "rule", "reason", "message"])


def _at(job: PastJob, size_bytes: int) -> float | None:
    if size_bytes not in job.sizes:
        return None
    place = job.sizes.index(size_bytes)
    halves = (job.out_of_place[place], job.in_place[place])
    return min((value for value in halves if value is not None and value > 0), default=None)
