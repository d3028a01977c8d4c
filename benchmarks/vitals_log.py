"""How fast the log of a training is read and judged, and how much memory that takes, beside grep and a plain reader.

    python -m benchmarks.vitals_log [MB]

Two logs of 500 MB: nothing but iteration lines of Megatron-LM, and one in which NCCL and others print nine of ten
lines; a tenth of each to compare memory. The plain reader takes step and time of each iteration by one pattern and
keeps them in a list. One process a measurement, interleaved. Bars, of processor time: 20 MB/s where one line in ten is
a step, 10 MB/s where all are; at most 200 bytes of memory a report.
"""

from __future__ import annotations

import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.bars import tell_bars
from benchmarks.parse import PART, asked_megabytes, grep, info_lines, other_lines, run

MEGABYTES = 500
RUNS = 3
BARS_MB_S = {"all steps": 10.0, "one in ten": 20.0}
MOST_BYTES_A_REPORT = 200.0

PLAIN = r"""
import re, resource, statistics, sys
step = re.compile(r"iteration\s+(\d+)/.*elapsed time per iteration \(ms\): ([\d.]+)")
steps = []
with open(sys.argv[1], encoding="utf-8", errors="replace") as file:
    for line in file:
        if match := step.search(line):
            steps.append((int(match[1]), float(match[2])))
statistics.median(time for _, time in steps)
print(len(steps), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
OURS = r"""
import resource, sys
from healthcheck.cli.vitals_log import read_logs
from healthcheck.vitals.log_vitals import Asked, see, vitals_of
seen = see(read_logs([sys.argv[1]], None), Asked())
vitals = vitals_of(seen, Asked())
print(len(seen.training.rows), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def step_lines(rng: random.Random) -> Iterator[str]:
    """Iterations of Megatron-LM, two seconds each."""
    step, at = 0, time.mktime((2026, 1, 14, 2, 0, 0, 0, 0, 0))
    while True:
        step += 1
        took = rng.gauss(2.0, 0.02)
        at += took
        stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at))
        yield (
            f" [{stamp}.{step % 10**6:06d}] iteration {step:8d}/ 5000000 | consumed samples: {step * 512:12d} | "
            f"elapsed time per iteration (ms): {took * 1e3:.1f} | throughput per GPU (TFLOP/s/GPU): 400.1 | "
            "learning rate: 1.500000E-04 | global batch size:   512 | lm loss: 2.345678E+00 | loss scale: 1.0 | "
            "grad norm: 0.412 | number of skipped iterations:   0 | number of nan iterations:   0 |\n"
        )


def mixed_lines(rng: random.Random) -> Iterator[str]:
    """One line in ten is an iteration."""
    steps, infos, others = step_lines(rng), info_lines(rng), other_lines(rng)
    while True:
        yield next(steps)
        for _ in range(6):
            yield next(infos)
        for _ in range(3):
            yield next(others)


def write_log(path: Path, megabytes: int, lines: Callable[[random.Random], Iterator[str]]) -> None:
    """A log of that size."""
    source = lines(random.Random(7))
    written = 0
    with path.open("w", encoding="utf-8") as file:
        while written < megabytes * 1_000_000:
            written += file.write("".join(next(source) for _ in range(PART)))


def measure(megabytes: int) -> list[str]:
    """Print the table; gives the bars that were missed."""
    begin = time.perf_counter()
    missed = []
    print(f"{'log':<12} {'MB':>4} {'healthcheck':>12} {'plain regex':>12} {'grep -c':>9}  MB/s   peak MB ours / plain")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log"
        for name, lines in {"all steps": step_lines, "one in ten": mixed_lines}.items():
            write_log(path, max(1, megabytes // 10), lines)
            small = run(OURS, path)
            write_log(path, megabytes, lines)
            ours, plain, greps = [], [], []
            for _ in range(RUNS):
                ours.append(run(OURS, path))
                plain.append(run(PLAIN, path))
                greps.append(grep(path))
            speed, other = (statistics.median(one[0] for one in of) for of in (ours, plain))
            each = (ours[0][2] - small[2]) * 2**20 / (ours[0][1] - small[1])
            print(
                f"{name:<12} {megabytes:>4} {speed:12.1f} {other:12.1f} {statistics.median(greps):9.0f}"
                f"         {ours[0][2]:6.1f} / {plain[0][2]:.1f}   reports {ours[0][1]} / {plain[0][1]}, "
                f"{each:.0f} bytes each"
            )
            if speed < BARS_MB_S[name]:
                missed.append(f"{name}: {speed:.1f} MB/s")
            if each > MOST_BYTES_A_REPORT:
                missed.append(f"{name}: {each:.0f} bytes a report")
    print(f"({RUNS} interleaved runs each, {time.perf_counter() - begin:.0f} s)")
    return missed


def main() -> int:
    """Print the table; exit 1 when a bar is missed."""
    missed = measure(asked_megabytes(__doc__ or "", MEGABYTES))
    return tell_bars(missed)


if __name__ == "__main__":
    sys.exit(main())
