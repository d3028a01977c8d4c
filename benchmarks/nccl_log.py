"""How fast the log of NCCL is read, and how much memory that takes, beside grep and beside a plain reader.

    python -m benchmarks.nccl_log [MB]

One rank's log of 200 MB: what NCCL_DEBUG=INFO prints for a large job (connections, trees, GPUDirect decisions, tuning),
and the same with a training log, TRACE lines and warnings between it; 2 MB of the first to compare memory. One process
a measurement, all on one core, interleaved. Bars: 20 MB/s on each log; memory that does not grow with the file.
"""

from __future__ import annotations

import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.parse import BAR_MB_S, MOST_GROWTH_MB, PART, RUNS, SMALL, asked_megabytes, grep, other_lines, run

MEGABYTES = 200
HEAD = "gpu-001:17010:17044 [0] NCCL "
SETUP = (
    "INFO Bootstrap : Using eth0:10.0.0.1<0>",
    "INFO NCCL version 2.21.5+cuda12.4",
    "INFO NET/IB : Using " + " ".join(f"[{n}]mlx5_{n}:1/IB" for n in range(8)) + " [RO]; OOB eth0:10.0.0.1<0>",
    "INFO Using network IB",
    "INFO ncclCommInitRank comm 0x1 rank 0 nranks 4096 cudaDev 0 nvmlDev 0 busId 7000 commId 0x1 - Init COMPLETE",
)

# The straightforward reader: one pattern a fact, every pattern on every line.
PLAIN = r"""
import re, resource, sys
head = re.compile(r"^(?:\[[^\]]+\] )?([^:\s]+):(\d+):\d+ \[-?\d+\] (?:\S+:\d+ )?NCCL (INFO|WARN) (.*)$")
facts = [re.compile(text) for text in (
    r"NCCL version (\S+)", r"Using network (\S+)", r"(NCCL_\w+) set by environment to (.*)",
    r"Channel (\d+)(?:/\d+)? ?: (\d+)\[\w+\] -> (\d+)\[\w+\].* via (\S+)", r"rank (\d+) nranks (\d+)",
    r"GPU Direct RDMA (\w+) for GPU (\S+) / HCA (\d+)", r"(\w+): (\d+) Bytes -> Algo (\w+) proto (\w+)",
    r"NVLS multicast support is (not )?available", r"Connected all rings.*GDR (\d)")]
links, warnings = {}, []
with open(sys.argv[1], encoding="utf-8", errors="replace") as file:
    for line in file:
        match = head.match(line)
        if match is None:
            continue
        if match[3] == "WARN":
            warnings.append(match[4])
        for number, fact in enumerate(facts):
            found = fact.search(match[4])
            if found and number == 3:
                links[found[4]] = links.get(found[4], 0) + 1
print(sum(links.values()), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
OURS = r"""
import resource, sys
from healthcheck.parsing.nccl_log import read_nccl_log
with open(sys.argv[1], encoding="utf-8", errors="replace") as file:
    log = read_nccl_log(file)
print(sum(n for _, n in log.links), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def rank_lines(rng: random.Random) -> Iterator[str]:
    """What one rank of a large job says, in about the shares of a real log."""
    kinds = (
        "INFO Channel {a:02d}/0 : {b}[{c}] -> {d}[{c}] [send] via NET/IB/{c}/GDRDMA",
        "INFO Channel {a:02d}/1 : {b}[{c}] -> {d}[{c}] [receive] via NET/IB/{c}({b})/GDRDMA/Shared",
        "INFO Channel {a:02d}/0 : {c}[{c}] -> {c}[{c}] via P2P/CUMEM/read",
        "INFO Trees [0] {a}/-1/-1->{b}->{c} [1] {a}/-1/-1->{b}->{c}",
        "INFO NET/IB: GPU Direct RDMA Enabled for GPU 0/{c}000 / HCA {c} (distance 4 <= 4), read 1 mode Default",
        "INFO AllReduce: {d} Bytes -> Algo RING proto SIMPLE channel{{Lo..Hi}}={{0..{c}}}",
    )
    while True:
        a, b, c, d = rng.randint(0, 31), rng.randint(0, 4095), rng.randint(0, 7), rng.randint(0, 4095)
        yield HEAD + rng.choice(kinds).format(a=a, b=b, c=c, d=d) + "\n"


def mixed_lines(rng: random.Random) -> Iterator[str]:
    """Half of it; the rest is of everybody else."""
    said, others = rank_lines(rng), other_lines(rng)
    while True:
        yield next(said)
        yield rng.choice(
            (
                next(others),
                f"{HEAD}TRACE proxy.cc:12 op 0x7f\n",
                f"{HEAD}CALL ncclAllReduce(0x7f,0x7f,1024,7,0,0x1,0x2)\n",
                f"[2026-01-02 03:04:{rng.randint(10, 59)}] gpu-001:17010:17044 [0] misc/socket.cc:49 NCCL WARN "
                f"socketProgress: Connection closed by remote peer gpu-{rng.randint(0, 999)}\n",
            )
        )


def write_log(path: Path, megabytes: int, lines: Callable[[random.Random], Iterator[str]]) -> None:
    """A log of that size."""
    source = lines(random.Random(7))
    written = 0
    with path.open("w", encoding="utf-8") as file:
        written += file.write("".join(f"{HEAD}{line}\n" for line in SETUP))
        while written < megabytes * 1_000_000:
            written += file.write("".join(next(source) for _ in range(PART)))


def main() -> int:
    """Print the table; exit 1 when a bar is missed."""
    megabytes = asked_megabytes(__doc__ or "")
    begin = time.perf_counter()
    missed = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log"
        print(
            f"{'log':<10} {'MB':>4} {'healthcheck':>12} {'plain regex':>12} {'grep -c':>9}  MB/s   peak MB ours / plain"
        )
        for name, lines in {"one rank": rank_lines, "mixed": mixed_lines}.items():
            write_log(path, megabytes, lines)
            ours, plain, greps = [], [], []
            for _ in range(RUNS):
                ours.append(run(OURS, path))
                plain.append(run(PLAIN, path))
                greps.append(grep(path))
            speed, other = (statistics.median(one[0] for one in of) for of in (ours, plain))
            print(
                f"{name:<10} {megabytes:>4} {speed:12.1f} {other:12.1f} {statistics.median(greps):9.0f}"
                f"         {ours[0][2]:6.1f} / {plain[0][2]:.1f}   connections {ours[0][1]} / {plain[0][1]}"
            )
            if speed < BAR_MB_S:
                missed.append(f"{name}: {speed:.1f} MB/s")
        write_log(path, megabytes, rank_lines)
        large = run(OURS, path)[2]
        write_log(path, SMALL, rank_lines)
        small = run(OURS, path)[2]
    print(f"peak memory: {SMALL} MB {small:.1f} MB, {megabytes} MB {large:.1f} MB")
    if large - small > MOST_GROWTH_MB:
        missed.append(f"memory grows by {large - small:.1f} MB")
    print(f"bar {BAR_MB_S:.0f} MB/s on one core: {'met' if not missed else 'MISSED, ' + '; '.join(missed)}", end="")
    print(f" ({RUNS} interleaved runs each, {time.perf_counter() - begin:.0f} s)")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
