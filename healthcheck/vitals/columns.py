"""What a reader of a profile hands on: one rank as columns, whatever file they came from.

`vitals trace` reads Chrome traces of torch.profiler (`kineto.py`) and exports of Nsight Systems (`nsys.py`) into these;
everything after them (`breakdown.py`, `call_table.py`) knows no file format. Times are int64 nanoseconds of one clock.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from healthcheck.model.message import Message
from healthcheck.vitals.intervals import NOTHING, Spans, Times, times

_RANK = re.compile(r"(?<![a-z])rank[-_.]?(\d{1,7})(?!\d)[^/\\]*$", re.IGNORECASE)
UNKNOWN = -1
"""In a column of numbers that are never negative: the file does not say."""


class Kind(IntEnum):
    """What a GPU was doing. A memset counts as a memcpy."""

    COMPUTE = 0
    COLLECTIVE = 1
    MEMCPY = 2


@dataclass(frozen=True, slots=True)
class GpuEvents:
    """Every kernel, memcpy and memset of one GPU, in any order; columns of one length.

    `launch` is when the host asked for it, UNKNOWN where that is not in the file. `correlation` is what the file calls
    it (one number for all kernels of a CUDA graph launched at once), UNKNOWN where it has none; `stream` likewise.
    """

    begin: Times
    end: Times
    kind: NDArray[np.int8]
    launch: Times
    stream: Times
    correlation: Times

    def __len__(self) -> int:
        return len(self.begin)

    def only(self, chosen: NDArray[np.bool_]) -> GpuEvents:
        """Those that are chosen."""
        return GpuEvents(
            begin=self.begin[chosen],
            end=self.end[chosen],
            kind=self.kind[chosen],
            launch=self.launch[chosen],
            stream=self.stream[chosen],
            correlation=self.correlation[chosen],
        )


@dataclass(frozen=True, slots=True)
class StepMarks:
    """Steps as the host marks them, in order; `end` of one may lie before `begin` of the next."""

    number: Times
    begin: Times
    end: Times

    def __len__(self) -> int:
        return len(self.number)


NO_STEPS = StepMarks(times(()), times(()), times(()))


@dataclass(frozen=True, slots=True)
class CallShape:
    """What several calls of a collective have in common; None where the file does not say.

    `name` is nccl-tests' (`all_reduce`) where it is one of its collectives, else as the file has it. `size_bytes` is as
    nccl-tests counts it (see `collectives.size_bytes`). `group` names the process group so that the same group has the
    same name in the files of all its ranks, and no other has. `peer_to_peer`: send and receive, which differ from rank
    to rank.
    """

    name: str
    dtype: str | None = None
    size_bytes: int | None = None
    group_size: int | None = None
    group: str | None = None
    peer_to_peer: bool = False


@dataclass(frozen=True, slots=True)
class Calls:
    """The kernels of collectives, one by one: `shape` indexes `shapes`; `seq` is the number of the call in its group,
    the same on all its ranks, UNKNOWN where the file does not say. In any order."""

    begin: Times
    end: Times
    launch: Times
    shape: Times
    seq: Times
    shapes: tuple[CallShape, ...]

    def __len__(self) -> int:
        return len(self.begin)

    def only(self, chosen: NDArray[np.bool_]) -> Calls:
        """Those that are chosen."""
        return Calls(
            begin=self.begin[chosen],
            end=self.end[chosen],
            launch=self.launch[chosen],
            shape=self.shape[chosen],
            seq=self.seq[chosen],
            shapes=self.shapes,
        )


NO_CALLS = Calls(times(()), times(()), times(()), times(()), times(()), ())


@dataclass(frozen=True, slots=True)
class RankColumns:
    """One rank, or one GPU of a file that holds several. `rank`, `device`, `gpu`, `world_size` None where not said.

    `data_loading`: when the host waited for data, None where the file does not show it. `unanswered`: when the host
    launched a kernel that is not in the file (so it tells whether the last step is whole); empty where the file does
    not say. `cut`: the file ended before it was complete. `foreign`: names of communication kernels that are not NCCL's
    and count as compute, and when each ran. `opaque`: when the GPU ran CUDA graphs that were recorded as one
    block, which counts as compute though collectives may be in it.
    """

    file: str
    events: GpuEvents
    steps: StepMarks = NO_STEPS
    calls: Calls = NO_CALLS
    rank: int | None = None
    device: int | None = None
    gpu: str | None = None
    world_size: int | None = None
    data_loading: Spans | None = None
    unanswered: Times = field(default_factory=lambda: times(()))
    cut: bool = False
    foreign: tuple[tuple[str, Spans], ...] = ()
    opaque: Spans = NOTHING
    notes: tuple[Message, ...] = ()


def rank_in_name(file: str) -> int | None:
    """The rank of `/traces/rank-34.Jul_15.pt.trace.json`; a folder that is named so says nothing."""
    named = _RANK.search(file)
    return None if named is None else int(named[1])
