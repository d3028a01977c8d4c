"""What nccl-tests printed, as values. Field names are the keys of `healthcheck parse --json`."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct


class OutputState(StrEnum):
    """How a whole output ended; `complete` needs head, footer and a measured row in every table."""

    COMPLETE = "complete"
    FAILED = "failed"
    TRUNCATED = "truncated"
    EMPTY = "empty"


class FailureKind(StrEnum):
    """What went wrong, the most specific kind that the text proves."""

    NCCL = "nccl"
    CUDA = "cuda"
    DATA_CHECK = "data_check"
    MIN_BANDWIDTH = "min_bandwidth"
    NOT_MPI_BUILD = "not_mpi_build"
    IB_COMPLETION = "ib_completion"
    BOOTSTRAP = "bootstrap"
    SOCKET = "socket"
    TIMEOUT = "timeout"
    USAGE = "usage"
    LAUNCHER = "launcher"
    KILLED = "killed"
    OUT_OF_MEMORY = "out_of_memory"
    MISSING_LIBRARY = "missing_library"
    NO_MEASUREMENT = "no_measurement"
    UNKNOWN = "unknown"


class Failure(Struct, frozen=True):
    """A line that proves a failure. `secondary` marks what only follows from another failure.

    `collective` is what its trace names where no table does.
    """

    kind: FailureKind
    message: str
    host: str | None = None
    line: int | None = None
    secondary: bool = False
    collective: str | None = None


class ParseWarning(Struct, frozen=True):
    """Something a reader of the numbers should know; `code` is stable."""

    code: str
    message: str
    line: int | None = None


class Placement(Struct, frozen=True, gc=False):
    """One half of a row: time in microseconds, bandwidths in GB/s (10^9). Unknown is None, never 0.

    `wrong` is a count (None: N/A, or an era that printed `error`, whose value is `max_delta`).
    """

    time_us: float | None
    algbw_gbyte_s: float | None
    busbw_gbyte_s: float | None
    wrong: float | None = None
    max_delta: float | None = None


class CollectiveRow(Struct, frozen=True, gc=False):
    """One measured size. A placement is None when the tool did not print that half.

    `count` is that of the call, in elements; None where a format leaves it out.
    """

    size_bytes: int
    count: int | None
    dtype: str
    redop: str | None
    root: int | None
    out_of_place: Placement | None
    in_place: Placement | None

    @property
    def placements(self) -> tuple[tuple[str, Placement], ...]:
        """(name, half) of the halves that were printed."""
        halves = (("out_of_place", self.out_of_place), ("in_place", self.in_place))
        return tuple((name, half) for name, half in halves if half is not None)


class Rank(Struct, frozen=True, gc=False):
    """One device line: which process of which host drives which GPU."""

    rank: int
    group: int | None
    pid: int | None
    host: str
    device: int | None
    bus_id: str | None
    model: str | None


class CollectiveTable(Struct, frozen=True):
    """One table of an output, from its config line to its footer."""

    collective: str | None
    tool: str | None
    tool_version: str | None
    n_ranks: int | None
    hosts: tuple[str, ...]
    gpu_models: tuple[str, ...]
    ranks: tuple[Rank, ...]
    rows: tuple[CollectiveRow, ...]
    avg_busbw_gbyte_s: float | None
    out_of_bounds_count: int | None
    out_of_bounds_ok: bool | None
    complete: bool


class ParsedOutput(Struct, frozen=True):
    """Everything one output says. `verified`: were results checked (None: no rows)."""

    state: OutputState
    verified: bool | None
    wrong_values: float | None
    failures: tuple[Failure, ...] = ()
    warnings: tuple[ParseWarning, ...] = ()
    tables: tuple[CollectiveTable, ...] = ()
