"""The collectives nccl-tests can run, and how their bus bandwidth is defined."""

from __future__ import annotations

from enum import StrEnum


class Collective(StrEnum):
    """One row a collective; a new one is a row here and, where its factor is (n-1)/n, in `_SHARE_OF_OTHERS`."""

    ALL_REDUCE = "all_reduce"
    ALL_GATHER = "all_gather"
    REDUCE_SCATTER = "reduce_scatter"
    ALLTOALL = "alltoall"
    BROADCAST = "broadcast"
    REDUCE = "reduce"
    SENDRECV = "sendrecv"
    GATHER = "gather"
    SCATTER = "scatter"
    HYPERCUBE = "hypercube"
    ALLTOALLV = "alltoallv"

    @property
    def binary(self) -> str:
        """The executable of nccl-tests."""
        return f"{self.value}_perf"

    @property
    def in_place_is_checked(self) -> bool:
        """False where nccl-tests prints no trustworthy #wrong for the in-place half."""
        return self not in (Collective.ALLTOALL, Collective.ALLTOALLV, Collective.SENDRECV)

    @property
    def size_is_of_all_ranks(self) -> bool:
        """True where the printed size is count x type size x ranks, not count x type size."""
        return self in _SHARE_OF_OTHERS or self is Collective.HYPERCUBE

    def factor(self, n_ranks: int) -> float:
        """busbw = algbw x factor; `n_ranks` of the communicator (source: nccl-tests doc/PERFORMANCE.md)."""
        if n_ranks < 1:
            raise ValueError(f"n_ranks must be at least 1, got {n_ranks}")
        if self is Collective.ALL_REDUCE:
            return 2 * (n_ranks - 1) / n_ranks
        if self in _SHARE_OF_OTHERS:
            return (n_ranks - 1) / n_ranks
        return 1.0


_SHARE_OF_OTHERS = frozenset(
    {
        Collective.ALL_GATHER,
        Collective.REDUCE_SCATTER,
        Collective.ALLTOALL,
        Collective.ALLTOALLV,
        Collective.GATHER,
        Collective.SCATTER,
    }
)
