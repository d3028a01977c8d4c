"""The groups of one job measured at the same time: noise of each, and the one time that is printed of all."""

from __future__ import annotations

import math
from collections.abc import Sequence

from healthcheck.simulator.bandwidth import Job, Noise, Speed, of_time, speed
from healthcheck.simulator.chance import draw
from healthcheck.simulator.cluster import SimCluster

_RANK_0, _FASTEST, _SLOWEST = 0, 2, 3
_DIP_LEAST, _DIP_SPAN = 0.10, 0.10


class GroupNoise:
    """Noise factors of the groups of a job: one group has one noise; of several half is common, half each its own.

    A job between nodes that meets a dip loses 10 to 20 % in all its rows.
    """

    def __init__(self, cluster: SimCluster, key: str, n_groups: int, between_nodes: bool) -> None:
        seed, sigma = cluster.run_seed, cluster.noise
        self._common = Noise(seed, key, sigma)
        own = range(n_groups) if n_groups > 1 else ()
        self._own = [Noise(seed, f"{key} group {number}", sigma) for number in own]
        dips = between_nodes and draw(seed, key, "dip") < cluster.dip
        self._left = 1.0 - _DIP_LEAST - _DIP_SPAN * draw(seed, key, "depth") if dips else 1.0

    def next(self) -> tuple[float, ...]:
        """The factors of the next measurement, one a group."""
        common = self._common.next()
        if not self._own:
            return (common * self._left,)
        return tuple((1.0 + (common + own.next() - 2.0) / math.sqrt(2.0)) * self._left for own in self._own)


def together(jobs: Sequence[Job], size_bytes: int, factors: Sequence[float], average: int) -> Speed:
    """What is printed of the groups of a job, that of rank 0 first: the time that `-a` makes of all their ranks."""
    times = [speed(job, size_bytes, factor).time_us for job, factor in zip(jobs, factors, strict=True)]
    if average == _SLOWEST:
        taken = max(times)
    elif average == _FASTEST:
        taken = min(times)
    elif average == _RANK_0 or len(times) == 1:
        taken = times[0]
    else:
        taken = sum(time * job.n_ranks for time, job in zip(times, jobs, strict=True)) / sum(
            job.n_ranks for job in jobs
        )
    return of_time(jobs[0], size_bytes, taken)
