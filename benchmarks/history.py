"""What two years of a fleet cost: its history, the comparison of two runs, and the index, beside named peers.

    python -m benchmarks.history [--nodes 1024] [--runs 24] [--keep FOLDER]

Run directories of a fleet (`benchmarks.fleet`) are written, then each command runs as its own process, interleaved
with its peers: `python -c "import pandas"`, which every command on frames pays, and reading the records without any of
ours. The index in its file is measured beside the same content in SQLite: see docs/adr/0008.
Bars: `history --host` 1 s, `compare` 3 s, 300 MB. The seconds of the bars are those of the processor (user and system),
which on a machine that does nothing else are those on the wall, printed beside them.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import msgspec
from msgspec import Struct

from benchmarks.bars import tell_bars
from benchmarks.fleet import Fleet, make_fleet
from healthcheck.edge.history_index import INDEX, DirectoryIndex
from healthcheck.model.history import PastRun
from healthcheck.parsing.run_history import read_past_run

RUNS = 5
MOST_MB = 300.0
PANDAS = "import pandas"
ONE_RECORD = "import json, sys; json.load(open(sys.argv[1]))"
ALL_RECORDS = "import json, sys\nfor name in sys.argv[1:]: json.load(open(name))"


class Cost(Struct, frozen=True):
    """Processor and wall time in seconds (medians), peak memory in MB (largest), exit code."""

    seconds: float
    wall_s: float
    peak_mb: float
    code: int


def one(argv: list[str]) -> Cost:
    """One process, by the clock on the wall and the kernel's account of it."""
    begin = time.perf_counter()
    process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    wall_s = time.perf_counter() - begin
    return Cost(usage.ru_utime + usage.ru_stime, wall_s, usage.ru_maxrss / 1024, process.returncode)


def interleaved(commands: dict[str, list[str]], runs: int) -> dict[str, Cost]:
    """All of them in turn, so that a busy machine is busy for each."""
    found: dict[str, list[Cost]] = {name: [] for name in commands}
    for _ in range(runs):
        for name, argv in commands.items():
            found[name].append(one(argv))
    return {
        name: Cost(
            statistics.median(cost.seconds for cost in costs),
            statistics.median(cost.wall_s for cost in costs),
            max(cost.peak_mb for cost in costs),
            costs[-1].code,
        )
        for name, costs in found.items()
    }


def took(work: Callable[[], object]) -> float:
    """Processor seconds of the best of three calls."""
    times = []
    for _ in range(3):
        begin = time.process_time()
        work()
        times.append(time.process_time() - begin)
    return min(times)


def commands_table(results: Path, fleet: Fleet) -> list[str]:
    """Print what the commands cost; the bars that were missed."""
    ours = [sys.executable, "-m", "healthcheck"]
    records = [str(results / run / "record.json") for run in fleet.runs]
    before, after = (str(results / run) for run in fleet.runs[-2:])
    commands = {
        'python -c "import pandas"': [sys.executable, "-c", PANDAS],
        "json.load of one record": [sys.executable, "-c", ONE_RECORD, records[-1]],
        "history --host": [*ours, "history", "-o", str(results), "--host", fleet.worse],
        "history": [*ours, "history", "-o", str(results)],
        "compare": [*ours, "compare", before, after],
    }
    costs = interleaved(commands, RUNS)
    bars = {"history --host": 1.0, "compare": 3.0}
    # A node that was excluded in one of both runs makes the jobs over all nodes differ: not everything is comparable.
    wanted = {"history --host": (0,), "history": (0,), "compare": (0, 3, 4)}
    pandas, record = costs['python -c "import pandas"'], costs["json.load of one record"]
    head = f"{'command':<28} {'s':>6} {'x pandas':>9} {'x json':>7} {'wall s':>7} {'peak MB':>8} {'exit':>5}"
    print(f"{head}   ({RUNS} interleaved runs)")
    missed = []
    for name, cost in costs.items():
        print(
            f"{name:<28} {cost.seconds:6.2f} {cost.seconds / pandas.seconds:9.2f} "
            f"{cost.seconds / record.seconds:7.2f} {cost.wall_s:7.2f} {cost.peak_mb:8.0f} {cost.code:5d}"
        )
        if cost.code not in wanted.get(name, (0,)):
            missed.append(f"{name} ended with exit code {cost.code}")
        if cost.seconds > bars.get(name, float("inf")):
            missed.append(f"{name} {cost.seconds:.2f} s of {bars[name]:.0f}")
        if name in wanted and cost.peak_mb > MOST_MB:
            missed.append(f"{name} {cost.peak_mb:.0f} MB of {MOST_MB:.0f}")
    (results / INDEX).unlink()
    rebuilt = one(commands["history --host"])
    peer = one([sys.executable, "-c", ALL_RECORDS, *records])
    print(
        f"{'history --host, no index':<28} {rebuilt.seconds:6.2f}  {rebuilt.peak_mb:.0f} MB; "
        f"{rebuilt.seconds / peer.seconds:.2f} of json.load of all {len(records)} records ({peer.seconds:.1f} s)"
    )
    if rebuilt.peak_mb > MOST_MB:
        missed.append(f"rebuilding takes {rebuilt.peak_mb:.0f} MB")
    return missed


def index_table(results: Path, fleet: Fleet) -> None:
    """Print the two ways to keep the same content."""
    index, file = DirectoryIndex(results), results / INDEX
    runs = index.past().runs
    base = results / "peer.sqlite"
    size = sum((results / run / "record.json").stat().st_size for run in fleet.runs)
    print(f"\n{'index':<28} {'one file':>9} {'SQLite':>9}   ({len(runs)} runs, {size / 1e6:.0f} MB of records)")

    def row(name: str, ours: float, other: float, unit: str = "s") -> None:
        print(f"{name:<28} {ours:9.4f} {other:9.4f} {unit}")

    lines = file.read_bytes()
    last, newest = results / fleet.runs[-1] / "record.json", (fleet.runs[-1],)

    def add() -> None:
        _sqlite(base, (read_past_run(last.read_bytes(), str(last), newest[0]),), add=True)

    built = took(lambda: _sqlite(base, runs))
    row("write all", took(lambda: _write(results / "peer.index", lines)), built)
    row("size", len(lines) / 1e6, base.stat().st_size / 1e6, "MB")
    row("all runs", took(index.past), took(lambda: _select(base, "")))
    row("one host", took(lambda: index.past({fleet.worse})), took(lambda: _select(base, "where host = ?", fleet.worse)))
    row("newest run", took(index.past), took(lambda: _select(base, "where run = ?", *newest)))
    row("read and add one run", took(lambda: index.add(last.parent)), took(add))


def _write(path: Path, data: bytes) -> None:
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _sqlite(path: Path, runs: tuple[PastRun, ...], add: bool = False) -> None:
    """The same content: one row a run, a host of a run, and a job of a run, with an index by host."""
    if not add:
        path.unlink(missing_ok=True)
    base = sqlite3.connect(path)
    with base:
        base.execute("create table if not exists run (id text primary key, data blob)")
        base.execute("create table if not exists host (run text, host text, data blob)")
        base.execute("create table if not exists job (run text, host text, data blob)")
        for table in ("host", "job"):
            base.execute(f"create index if not exists {table}_by_host on {table} (host)")
            base.execute(f"create index if not exists {table}_by_run on {table} (run)")
    encode = msgspec.json.encode
    with base:
        for run in runs:
            for table in ("run where id", "host where run", "job where run"):
                base.execute(f"delete from {table} = ?", (run.run_id,))
            bare = msgspec.structs.replace(run, hosts=(), jobs=())
            base.execute("insert into run values (?, ?)", (run.run_id, encode(bare)))
            base.executemany("insert into host values (?, ?, ?)", [(run.run_id, h.name, encode(h)) for h in run.hosts])
            jobs = [(run.run_id, job.hosts[0] if len(job.hosts) == 1 else "", encode(job)) for job in run.jobs]
            base.executemany("insert into job values (?, ?, ?)", jobs)
    base.close()


def _select(path: Path, where: str, *values: str) -> int:
    base = sqlite3.connect(path)
    found = [
        msgspec.json.decode(data)
        for table in ("host", "job")
        for (data,) in base.execute(f"select data from {table} {where}", values)
    ]
    base.close()
    return len(found)


def main() -> int:
    """Print the tables; exit 1 when a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=1024)
    parser.add_argument("--runs", type=int, default=24)
    parser.add_argument("--keep", type=Path, help="make the fleet here and leave it")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        results = options.keep or Path(folder)
        begin = time.perf_counter()
        # In a process of its own: what a process takes counts for those it starts, too.
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as apart:
            fleet = apart.submit(make_fleet, results, options.nodes, options.runs).result()
        print(f"{len(fleet.runs)} runs of {len(fleet.hosts)} nodes made in {time.perf_counter() - begin:.0f} s\n")
        one([sys.executable, "-m", "healthcheck", "history", "-o", str(results)])
        missed = commands_table(results, fleet)
        index_table(results, fleet)
    print()
    return tell_bars(missed)


if __name__ == "__main__":
    sys.exit(main())
