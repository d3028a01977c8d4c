"""Small traces of torch.profiler whose truth is known, as its exporter writes them.

benchmarks/hta_values.py reads them, too. Whole µs, because HolisticTraceAnalysis cuts what is behind the point.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable

GEMM = "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn"
ALLREDUCE = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
ALLGATHER = "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
PROCESS = 4242
BASE = 5_000_000  # µs: what the clock of a trace begins at

Json = str | int | float | None | list[int] | dict[str, "Json"]
Event = dict[str, Json]


class Trace:
    """One rank, written event by event; times in µs from the beginning."""

    def __init__(self, rank: int | None = 0, world: int = 2, gpu: str = "NVIDIA A100-SXM4-80GB") -> None:
        self.rank, self.world, self.gpu = rank, world, gpu
        self.events: list[Event] = []
        self._correlation = 0

    def add(self, cat: str, name: str, begin: float, dur: float, tid: int = PROCESS, **args: Json) -> None:
        """Any event with a length."""
        pid = PROCESS if tid == PROCESS else 0
        head: Event = {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid}
        self.events.append({**head, "ts": BASE + begin, "dur": dur, "args": dict(args)})

    def step(self, number: int, begin: float, end: float) -> None:
        self.add("user_annotation", f"ProfilerStep#{number}", begin, end - begin)

    def loading(self, begin: float, end: float) -> None:
        name = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
        self.add("user_annotation", name, begin, end - begin)

    def kernel(
        self, begin: float, dur: float, name: str = GEMM, launch: float | None = None, stream: int = 7, **args: Json
    ) -> None:
        """A kernel and its launch (just before it, where none is given)."""
        self._correlation += 1
        at = begin - 1 if launch is None else launch
        self.add("cuda_runtime", "cudaLaunchKernel", at, 1, cbid=211, correlation=self._correlation)
        where: Event = {"device": 0, "context": 1, "stream": stream, "correlation": self._correlation}
        self.add("kernel", name, begin, dur, stream, **where, **args)

    def collective(self, begin: float, dur: float, nelems: int | None = None, **args: Json) -> None:
        """An all-reduce of BFloat16; a new trace says what it carries, an old one does not."""
        said: Event = {}
        if nelems is not None:
            ranks = list(range(self.world))
            said = {"Collective name": "allreduce", "In msg nelems": nelems, "Out msg nelems": nelems}
            said |= {"Group size": self.world, "dtype": "BFloat16", "Process Group Name": "0"}
            said |= {"Process Group Ranks": str(ranks), "In split size": "[]", "Out split size": "[]"}
        self.kernel(begin, dur, ALLREDUCE, None, 20, **{**said, **args})

    def copy(self, begin: float, dur: float, stream: int = 14) -> None:
        self._correlation += 1
        self.add("cuda_runtime", "cudaMemcpyAsync", begin - 1, 1, cbid=41, correlation=self._correlation)
        where: Event = {"device": 0, "context": 1, "stream": stream, "correlation": self._correlation}
        self.add("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", begin, dur, stream, **where, bytes=4096)

    def document(self) -> dict[str, object]:
        """As the exporter has it."""
        info = {"backend": "nccl", "rank": self.rank, "world_size": self.world}
        return {
            "schemaVersion": 1,
            "deviceProperties": [{"id": 0, "name": self.gpu, "computeMajor": 8, "computeMinor": 0, "numSms": 108}],
            **({} if self.rank is None else {"distributedInfo": info}),
            "displayTimeUnit": "ms",
            "baseTimeNanoseconds": 1727710000000000000,
            "traceEvents": self.events,
            "traceName": "trace.json",
        }

    def text(self, indent: int | None = 2) -> str:
        return json.dumps(self.document(), indent=indent)


def overlaps(rank: int = 0) -> Trace:
    """Two steps of 1000 µs: compute on two streams, a collective half hidden, a copy, data loading, gaps."""
    trace = Trace(rank)
    for number, at in ((3, 0), (4, 1000)):
        trace.step(number, at, at + 1000)
        trace.loading(at, at + 90)
        trace.copy(at + 50, 100)  # 50-150, compute from 100 on
        trace.kernel(at + 100, 200)  # 100-300
        trace.kernel(at + 250, 250, stream=8)  # 250-500
        trace.collective(at + 400, 300 + 20 * rank, nelems=1_000_000)  # 400-700: 200 of it alone
        trace.kernel(at + 800, 100)  # 800-900
    return trace


def busy(rank: int = 0) -> Trace:
    """One step without any gap: collectives wholly hidden, touching kernels, nested kernels."""
    trace = Trace(rank)
    trace.step(1, 0, 600)
    trace.kernel(0, 300, launch=0)
    trace.kernel(300, 300)
    trace.kernel(50, 20, stream=8)
    trace.collective(100, 100, nelems=1000)
    trace.collective(550, 50, nelems=1000)
    return trace


def crowd(rank: int = 0) -> Trace:
    """Three steps of some hundred events anywhere on five streams, in names of several versions of NCCL."""
    trace, dice = Trace(rank), random.Random(7 + rank)
    names = (GEMM, GEMM, GEMM, ALLREDUCE, ALLGATHER, "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWorkElem)")
    for number in range(3):
        begin = 4000 * number
        trace.step(number, begin, begin + 4000)
        streams = dict.fromkeys(range(7, 12), begin)
        for _ in range(150):
            stream = dice.choice(list(streams))
            at, took = streams[stream] + dice.randrange(1, 90), dice.randrange(1, 60)
            if at + took > begin + 4000:
                continue
            streams[stream] = at + took
            if stream == 11:
                trace.copy(at, took, stream)
            else:
                trace.kernel(at, took, dice.choice(names), stream=stream)
    return trace


def old(rank: int = 0) -> Trace:
    """As before 2021 and 2024: capitals in categories, no sizes, names of that time, no marks of steps."""
    trace = Trace(rank)
    trace.add("Kernel", "volta_sgemm_128x64_nn", 100, 50, 7, device=0, stream=7, correlation=1)
    name = "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)"
    trace.add("Kernel", name, 120, 80, 20, device=0, stream=20, correlation=2)
    trace.add("Memcpy", "Memcpy DtoH (Device -> Pageable)", 250, 10, 7, device=0, stream=7, correlation=3)
    trace.add("Memset", "Memset (Device)", 270, 5, 7, device=0, stream=7, correlation=4)
    trace.add("Runtime", "cudaLaunchKernel", 90, 5, correlation=1, cbid=211)
    return trace


WORLDS: dict[str, Callable[[int], Trace]] = {"overlaps": overlaps, "busy": busy, "crowd": crowd}
"""Those HolisticTraceAnalysis can read."""
