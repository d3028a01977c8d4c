"""Times no GPU can have taken, out of the events before anything is added up.

Some profilers (ROCm after a long stall) write a kernel as long as all that followed it on its stream. A stream does one
thing after the other, so such an event ended when the next began: as trace viewers draw it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from healthcheck.vitals.columns import UNKNOWN, GpuEvents
from healthcheck.vitals.intervals import Times

LONGEST_NS = 600 * 10**9
"""NCCL's own time-out in PyTorch: what is said to have run longer did not."""


@dataclass(frozen=True, slots=True)
class Sane:
    """`end` of each event as it can have been; `kept` which are events at all; how many of each were not as told."""

    end: Times
    kept: NDArray[np.bool_]
    clipped: int
    negative: int
    endless: int


def sane(events: GpuEvents) -> Sane:
    """The events of one GPU, looked at stream by stream.

    Two kernels of one stream may overlap a little (a dependent launch begins early), and those of one CUDA graph (they
    have one correlation) as they like. One that covers the beginning of the second one after it does not.
    """
    took = events.end - events.begin
    negative, endless = took < 0, took > LONGEST_NS
    end = events.end.copy()
    order = np.lexsort((events.begin, events.stream))
    order = order[~(negative | endless)[order]]
    first, then, after = order[:-2], order[1:-1], order[2:]
    stream, graph = events.stream, events.correlation
    one_stream = (stream[first] == stream[after]) & (stream[first] != UNKNOWN)
    one_graph = (graph[first] == graph[then]) & (graph[first] != UNKNOWN)
    over = one_stream & ~one_graph & (end[first] > events.begin[after]) & (events.begin[after] > events.begin[first])
    end[first[over]] = np.maximum(events.begin[then[over]], events.begin[first[over]])
    return Sane(end, ~(negative | endless), int(over.sum()), int(negative.sum()), int(endless.sum()))
