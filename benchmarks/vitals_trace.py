"""How fast a trace of torch.profiler is read, and in how much memory, beside `json.load` and ijson (where it is there).

    python -m benchmarks.vitals_trace [MB]

One trace as Kineto writes it, of operators, launches, kernels and arrows, 500 MB, and a tenth of it to compare memory.
One process a measurement. The others only count kernels; ours tells the whole answer of `vitals trace`.
Bars: 60 MB/s; memory that grows by less than 100 MB for 450 MB more of trace (its kernels are kept as numbers).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from benchmarks.bars import tell_bars

MEGABYTES = 500
BAR_MB_S = 60.0
MOST_GROWTH_MB = 100.0
KERNELS_A_STEP = 200

OURS = r"""
import resource, sys
from healthcheck.cli.trace_reading import trace_of
found = trace_of([sys.argv[1]])
print(len(found.ranks[0].steps), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
JSON_LOAD = r"""
import json, resource, sys
with open(sys.argv[1], "rb") as file:
    events = json.load(file)["traceEvents"]
steps = sum(event["name"].startswith("ProfilerStep#") for event in events)
print(steps, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
IJSON = r"""
import ijson, resource, sys
with open(sys.argv[1], "rb") as file:
    events = ijson.items(file, "traceEvents.item", use_float=True)
    steps = sum(event["name"].startswith("ProfilerStep#") for event in events)
print(steps, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""

HEAD = """{
  "schemaVersion": 1,
  "deviceProperties": [
    {
      "id": 0, "name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": 85051965440,
      "computeMajor": 9, "computeMinor": 0, "numSms": 132
    }
  ],
  "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 8, "nccl_version": "2.20.5"},
  "displayTimeUnit": "ms",
  "baseTimeNanoseconds": 1727710000000000000,
  "traceEvents": ["""
TAIL = """
  {
    "name": "Record Window End", "ph": "i", "s": "g", "pid": "", "tid": "", "ts": 5261300000000.000
  }
  ],
  "traceName": "trace.json"
}
"""
HOST = """
  {
    "ph": "X", "cat": "%s", "name": "%s", "pid": 1234, "tid": 1234,
    "ts": %.3f, "dur": %.3f,
    "args": {
      "External id": %d,"Record function id": 0, %s
    }
  },"""
ON_GPU = """
  {
    "ph": "X", "cat": "kernel", "name": "%s", "pid": 0, "tid": %d,
    "ts": %.3f, "dur": %.3f,
    "args": {
      "External id": %d,
      "queued": 0, "device": 0, "context": 1,
      "stream": %d, "correlation": %d,%s
      "registers per thread": 168,
      "shared memory": 213248,
      "blocks per SM": 1.939394,
      "warps per SM": 23.272728,
      "grid": [2, 128, 1],
      "block": [384, 1, 1],
      "est. achieved occupancy %%": 19
    }
  },
  {
    "ph": "s", "id": %d, "pid": 1234, "tid": 1234, "ts": %.3f,
    "cat": "ac2g", "name": "ac2g"
  },
  {
    "ph": "f", "id": %d, "pid": 0, "tid": 7, "ts": %.3f,
    "cat": "ac2g", "name": "ac2g", "bp": "e"
  },"""
SAID = """
      "Collective name": "allreduce", "In msg nelems": 104857600, "Out msg nelems": 104857600, "Group size": 8, \
"dtype": "BFloat16", "In split size": "[]", "Out split size": "[]", "Process Group Name": "0", \
"Process Group Description": "default_pg", "Process Group Ranks": "[0, 1, 2, 3, 4, 5, 6, 7]","""
GEMM = "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x"
ALLREDUCE = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"


class Measured(NamedTuple):
    """One process: MB/s of its processor time, steps it saw, peak memory in MB."""

    mb_s: float
    steps: int
    peak_mb: float


def step_text(number: int, at: float) -> Iterator[str]:
    """One step of 4 ms: four operators, a launch and a kernel, again and again; every fortieth is an all-reduce."""
    for nth in range(KERNELS_A_STEP):
        begin, call = at + 20 * nth, 1 + number * KERNELS_A_STEP + nth
        for name in ("aten::linear", "aten::addmm", "aten::empty", "aten::copy_"):
            yield HOST % ("cpu_op", name, begin, 12.345, call, f'"Sequence number": {call}, "Ev Idx": {call}')
        yield HOST % ("cuda_runtime", "cudaLaunchKernel", begin + 2, 5.1, call, f'"cbid": 211, "correlation": {call}')
        shared = nth % 40 == 39
        name, stream, took, said = (ALLREDUCE, 20, 40.0, SAID) if shared else (GEMM, 7, 12.5, "")
        start = begin + 15
        where = (name, stream, start, took, call, stream, call, said)
        yield ON_GPU % (*where, call, begin + 2, call, start)
    yield HOST % ("user_annotation", f"ProfilerStep#{number}", at, 4000.0, number, f'"Ev Idx": {number}')


def write_trace(path: Path, megabytes: int) -> None:
    """A trace of that size."""
    with path.open("w", encoding="utf-8") as file:
        written, number = file.write(HEAD), 0
        while written < megabytes * 1_000_000:
            written += file.write("".join(step_text(number, 5261290813421.0 + 4010 * number)))
            number += 1
        file.write(TAIL)


def run(code: str, path: Path) -> Measured:
    """One process of its own."""
    before = os.times()
    argv = [sys.executable, "-c", code, str(path)]
    steps, peak_kb = map(int, subprocess.run(argv, check=True, capture_output=True, text=True).stdout.split())
    after = os.times()
    spent = after.children_user - before.children_user + after.children_system - before.children_system
    return Measured(path.stat().st_size / 1e6 / spent, steps, peak_kb / 1024)


def measure(megabytes: int) -> list[str]:
    """Print the table; gives the bars that were missed."""
    readers = {"healthcheck": OURS, "json.load": JSON_LOAD, **({"ijson": IJSON} if find_spec("ijson") else {})}
    missed = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        write_trace(path, max(1, megabytes // 10))
        small = {name: run(code, path) for name, code in readers.items()}
        write_trace(path, megabytes)
        print(f"{'reader':<12} {'MB/s':>6}  peak MB of {megabytes} MB (of {max(1, megabytes // 10)} MB)  steps")
        for name, code in readers.items():
            found = run(code, path)
            print(f"{name:<12} {found.mb_s:6.0f}  {found.peak_mb:7.0f} ({small[name].peak_mb:.0f})  {found.steps}")
            if name != "healthcheck":
                continue
            if found.mb_s < BAR_MB_S:
                missed.append(f"trace: {found.mb_s:.0f} MB/s")
            if found.peak_mb - small[name].peak_mb > MOST_GROWTH_MB:
                missed.append(f"trace: memory grows by {found.peak_mb - small[name].peak_mb:.0f} MB")
    return missed


def main() -> int:
    """Print the table; exit 1 when a bar is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("megabytes", metavar="MB", type=int, nargs="?", default=MEGABYTES, help="size of the trace")
    missed = measure(parser.parse_args().megabytes)
    return tell_bars(missed)


if __name__ == "__main__":
    sys.exit(main())
