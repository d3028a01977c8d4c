"""How fast a saved log is read, and how much memory that takes, beside grep and beside a plain line-by-line reader.

    python -m benchmarks.parse [MB]

Three logs of 200 MB (95 % NCCL INFO lines; mixed with WARN, TRACE and text of other programs; text that nobody
recognises), and 2 MB of the first to compare memory. One process a measurement, all on one core, interleaved.
Bars: 20 MB/s on each log; memory that does not grow with the file.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

MEGABYTES = 200
SMALL = 2
RUNS = 3
BAR_MB_S = 20.0
MOST_GROWTH_MB = 8.0
TABLES = 200
PART = 200

HEAD = """\
# nccl-tests version 2.17.10 nccl-headers=22907 nccl-library=22907
# Collective test starting: all_reduce_perf
# nThread 1 nGpus 1 minBytes 1048576 maxBytes 8589934592 step: 2(factor) warmup iters: 1 iters: 20 agg iters: 1 \
validation: 1 graph: 0
#
# Using devices
#  Rank  0 Group  0 Pid  17010 on      nodeA device  0 [0000:07:00] NVIDIA A100-SXM4-80GB
#  Rank  1 Group  0 Pid  17012 on      nodeB device  0 [0000:0f:00] NVIDIA A100-SXM4-80GB
#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)
"""
ROWS = 14 * (
    "     1048576        262144     float     sum      -1"
    "   838.86    1.25    1.25       0   599.19    1.75    1.75       0\n"
)
FOOTER = "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 96.9\n#\n\n"

# The straightforward reader: one pattern, every line, nothing recognised but rows.
PLAIN = r"""
import re, resource, sys
row = re.compile(r"^\s*(\d+)\s+(\d+)\s+(\w+)\s+(\w+)\s+(-?\d+)((?:\s+(?:[\d.e+]+|N/A)){8})\s*$")
rows = []
with open(sys.argv[1], encoding="utf-8", errors="replace") as file:
    for line in file:
        if match := row.match(line):
            rows.append((int(match[1]), match[3], match[4], match[6].split()))
print(len(rows), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
OURS = r"""
import resource, sys
from healthcheck.cli.parse import read_stream
with open(sys.argv[1], "rb") as file:
    output = read_stream(file, sys.argv[1]).output
rows = sum(len(table.rows) for table in output.tables)
print(rows, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def info_lines(rng: random.Random) -> Iterator[str]:
    """What NCCL_DEBUG=INFO prints."""
    kinds = (
        "Channel {a:02d}/0 : {b}[{b}000] -> {c}[{c}000] via P2P/IPC/read",
        "Trees [0] {a}/-1/-1->{b}->{c} [1] {a}/-1/-1->{b}->{c}",
        "NET/IB: GPU Direct RDMA Enabled for GPU {b} / HCA {c} (distance 4 <= 4), read 1 mode Default",
        "Connected all rings, use ring PXN 0 GDR 1",
        "NCCL_IB_HCA set by environment to mlx5_{a}",
    )
    while True:
        a, b, c = rng.randint(0, 31), rng.randint(0, 7), rng.randint(0, 7)
        text = rng.choice(kinds).format(a=a, b=b, c=c)
        yield f"gpu-{a:03d}:{17010 + b}:{18000 + c} [{b}] NCCL INFO {text}\n"


def other_lines(rng: random.Random) -> Iterator[str]:
    """A training log, in the words of anybody."""
    while True:
        step = rng.randint(1, 99999)
        yield (
            f"2026-01-02 03:04:05,{step % 1000:03d} INFO trainer.py:{step % 77} step={step} loss=2.345 lr=0.0001 "
            f"tokens/s=123456 rank={step % 8} the quick brown fox jumps\n"
        )


def mixed_lines(rng: random.Random) -> Iterator[str]:
    """Half INFO, the rest of everything."""
    infos, others = info_lines(rng), other_lines(rng)
    while True:
        yield next(infos)
        yield rng.choice(
            (
                next(others),
                "gpu-001:17010:17044 [0] NCCL TRACE proxy.cc:12 op 0x7f\n",
                "gpu-001:17010:17044 [0] NCCL CALL ncclAllReduce(0x7f,0x7f,1024,7,0,0x1,0x2)\n",
                "\ngpu-001:17010:17044 [0] misc/ibvwrap.cc:38 NCCL WARN Failed to open libibverbs.so[.1]\n",
            )
        )


def write_log(path: Path, megabytes: int, lines: Callable[[random.Random], Iterator[str]], tables: int) -> None:
    """A log of that size with so many runs in it, whose rows stand between its lines; 0: none of ours at all."""
    rng = random.Random(7)
    source, others = lines(rng), other_lines(rng)
    size = megabytes * 1_000_000
    written = 0
    with path.open("w", encoding="utf-8") as file:
        for _ in range(max(tables, 1)):
            written += file.write(HEAD if tables else "")
            share = written + size // max(tables, 1)
            while written < share:
                written += file.write("".join(next(source) for _ in range(PART)))
                written += file.write("".join(next(others) for _ in range(PART // 20)))
            written += file.write(ROWS + FOOTER if tables else "")


def run(code: str, path: Path) -> tuple[float, int, float]:
    """(MB/s of user and system time on one core, rows, peak memory in MB)."""
    before = os.times()
    argv = [sys.executable, "-c", code, str(path)]
    rows, peak_kb = map(int, subprocess.run(argv, check=True, capture_output=True, text=True).stdout.split())
    after = os.times()
    spent = after.children_user - before.children_user + after.children_system - before.children_system
    return path.stat().st_size / 1e6 / spent, rows, peak_kb / 1024


def grep(path: Path) -> float:
    """MB/s of `grep -c busbw`, by the same clock."""
    before = os.times()
    subprocess.run(["grep", "-c", "busbw", str(path)], check=False, capture_output=True)
    after = os.times()
    spent = after.children_user - before.children_user + after.children_system - before.children_system
    return path.stat().st_size / 1e6 / max(spent, 1e-3)


def asked_megabytes(told: str, usual: int = MEGABYTES) -> int:
    """The size of the logs by the command line; what is no size is told as usage."""
    parser = argparse.ArgumentParser(description=told.partition("\n")[0])
    parser.add_argument("megabytes", metavar="MB", type=int, nargs="?", default=usual, help="size of each log")
    megabytes: int = parser.parse_args().megabytes
    return megabytes


def main() -> int:
    """Print the table; exit 1 when a bar is missed."""
    megabytes = asked_megabytes(__doc__ or "")
    begin = time.perf_counter()
    missed = []
    with tempfile.TemporaryDirectory() as folder:
        logs = {
            "95 % NCCL INFO": (info_lines, TABLES),
            "mixed": (mixed_lines, TABLES),
            "unrecognised": (other_lines, 0),
        }
        print(
            f"{'log':<16} {'MB':>4} {'healthcheck':>12} {'plain regex':>12} {'grep -c':>9}  MB/s   peak MB ours / plain"
        )
        for name, (lines, tables) in logs.items():
            path = Path(folder) / "log"
            write_log(path, megabytes, lines, tables)
            ours, plain, greps = [], [], []
            for _ in range(RUNS):
                ours.append(run(OURS, path))
                plain.append(run(PLAIN, path))
                greps.append(grep(path))
            speed = statistics.median(one[0] for one in ours)
            other = statistics.median(one[0] for one in plain)
            memory, memory_plain = ours[0][2], plain[0][2]
            print(
                f"{name:<16} {megabytes:>4} {speed:12.1f} {other:12.1f} {statistics.median(greps):9.0f}"
                f"         {memory:6.1f} / {memory_plain:.1f}   rows {ours[0][1]} / {plain[0][1]}"
            )
            if speed < BAR_MB_S:
                missed.append(f"{name}: {speed:.1f} MB/s")
        write_log(path, megabytes, info_lines, 1)
        large = run(OURS, path)[2]
        write_log(path, SMALL, info_lines, 1)
        small = run(OURS, path)[2]
    print(f"peak memory of a log of one run: {SMALL} MB {small:.1f} MB, {megabytes} MB {large:.1f} MB")
    if large - small > MOST_GROWTH_MB:
        missed.append(f"memory grows by {large - small:.1f} MB")
    print(f"bar {BAR_MB_S:.0f} MB/s on one core: {'met' if not missed else 'MISSED, ' + '; '.join(missed)}", end="")
    print(f" ({RUNS} interleaved runs each, {time.perf_counter() - begin:.0f} s)")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
