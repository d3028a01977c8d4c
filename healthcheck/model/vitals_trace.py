"""What a profile of training steps says: where the time of a step went, rank by rank, and how fast each collective was.

Document `healthcheck.vitals.trace/1`. Seconds, bytes, GB/s (10^9 bytes); shares from 0 to 1 of the wall time of a step.
"""

from __future__ import annotations

from msgspec import Struct

from healthcheck.model.message import Message

SCHEMA = "healthcheck.vitals.trace/1"
GRAPHS = "trace.missing.graphs"
"""The code of what is missing where steps ran as CUDA graphs that were recorded as one block each."""
SLOWED = 1.1
"""A profiled step longer than that many logged ones was slowed by its profiler. A rule of thumb."""


class StepBreakdown(Struct, frozen=True):
    """One step on one rank. All are unions of intervals inside the step, never sums of durations.

    `wall_s` is the step from its begin to its end; `compute_s`, `collective_s`, `memcpy_s` may overlap each other.
    `exposed_s` is collective and no compute at the same time; `exposed_memcpy_s` memcpy with neither; `idle_s` nothing
    on the GPU, of which `data_loading_s` passed while the host waited for data (None where the trace does not show the
    host). compute + exposed + exposed_memcpy + idle = wall.
    """

    step: int
    wall_s: float
    compute_s: float
    collective_s: float
    exposed_s: float
    memcpy_s: float
    exposed_memcpy_s: float
    idle_s: float
    data_loading_s: float | None


class Shares(Struct, frozen=True):
    """Of the wall time of a step, 0 to 1. `compute + exposed + exposed_memcpy + idle` is 1; `collective` is not beside
    them, `exposed` is its part that nothing hides."""

    compute: float
    collective: float
    exposed: float
    exposed_memcpy: float
    idle: float
    data_loading: float | None


class RankTrace(Struct, frozen=True):
    """One rank, or one GPU of a profile that holds several. `rank` None where the file does not say; `gpu` as printed.

    `steps` are whole ones; `step_s` their median wall time. `whole`: no step is marked, the window of all kernels
    stands for one.
    """

    file: str
    rank: int | None
    device: int | None
    gpu: str | None
    steps: tuple[StepBreakdown, ...]
    step_s: float
    shares: Shares
    whole: bool
    notes: tuple[Message, ...] = ()
    waiting_s: float | None = None
    """Of a step, on average: what its collectives took longer than on the rank that came last. None: not matched."""


class CollectiveUse(Struct, frozen=True):
    """All calls of one collective of one size in one group. `name` is nccl-tests' (`all_reduce`), else the kernel's.

    `size_bytes` is as nccl-tests counts it; None where the trace does not say. `transfer_s` is the median of the
    minimum over ranks (waiting taken out) if `ranks` > 1, else of the durations, waiting inside; `skew_s` the median of
    maximum - minimum. `busbw_gbyte_s` follows from `transfer_s`; compare it with nccl-tests' BusBW of that size.
    `total_s`: the time of all of them on one rank, waiting inside, the mean of the ranks. `sizes`: how many different
    sizes they had; with more than one `size_bytes` and `busbw_gbyte_s` are medians.
    """

    name: str
    dtype: str | None
    size_bytes: int | None
    group_size: int | None
    group: str | None
    calls: int
    ranks: int
    transfer_s: float
    skew_s: float | None
    busbw_gbyte_s: float | None
    total_s: float
    sizes: int = 1


class TraceVitals(Struct, frozen=True):
    """All files together. `slowest` indexes `ranks`: its steps are the steps, and `step_s` and `shares` are its.

    It is the rank with the longest step; of those within 1 % of it the one that waits least, for it sets the pace.

    `lower_bound`: communication that is not NCCL was seen, so collective and exposed are lower bounds.
    `exit_code` 0, or 3 where no kernel was recorded, or CUDA graphs as one block: then `ranks` is empty, but `step_s`
    may be known.
    """

    files: tuple[str, ...]
    source: str
    """`kineto` or `nsys`."""
    ranks: tuple[RankTrace, ...]
    slowest: int | None
    world_size: int | None
    step_s: float | None
    shares: Shares | None
    collectives: tuple[CollectiveUse, ...]
    lower_bound: bool
    notes: tuple[Message, ...]
    missing: tuple[Message, ...]
    exit_code: int

    @property
    def slowest_rank(self) -> RankTrace | None:
        """The rank whose steps are the steps; None where no rank has anything to tell."""
        place = self.slowest
        return self.ranks[place] if place is not None and 0 <= place < len(self.ranks) else None

    @property
    def marked_step_s(self) -> float | None:
        """Step Time under the profiler; None where no step is marked, so that nobody knows the time of one."""
        rank = self.slowest_rank
        return None if rank is not None and rank.whole else self.step_s

    @property
    def hidden_in_graphs(self) -> bool:
        """Whether there are no ranks because CUDA graphs hide what ran: not for want of a kernel."""
        return any(message.code == GRAPHS for message in self.missing)
