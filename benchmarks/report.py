"""What a report costs: bytes and seconds of its pages, beside named peers, for 32 nodes and for 1,024 with 20 sick.

    python -m benchmarks.report [--runs 5] [--keep FOLDER]

Each record comes from a true simulated check-up. Every measurement is a process of its own on one core, from the start
of Python to the page on disk, interleaved with its peers: `python -c "import matplotlib.figure"`, which every page with
charts pays, and reading the record plus filling one plain Jinja table with a row a node.
Bars: HTML 250 KB and 2 s for 32 nodes, 1 MB and 10 s for 1,024. The seconds of the bars are those of the processor,
which on a machine that does nothing else are those on the wall, printed beside them.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from msgspec import Struct

from benchmarks.bars import tell_bars
from healthcheck.__main__ import run as healthcheck
from healthcheck.parsing.record_codec import decode_record

RUNS = 5
SICK = (
    *(f"node{number:04d}:hca=mlx5_1,rate=0.5" for number in (13, 14, 200, 201, 202, 333, 400)),
    *(f"node{number:04d}:unreachable" for number in (40, 41, 500, 501)),
    *(f"node{number:04d}:nvlink=0.6" for number in (60, 61, 700, 900, 901)),
    *(f"node{number:04d}:busy" for number in (70, 71)),
    *(f"node{number:04d}:hca=mlx5_3,slow=0.5" for number in (800, 1000)),
)
PEER = "import matplotlib.figure"
PLAIN = """
import sys
from pathlib import Path
from jinja2 import Environment
from healthcheck.parsing.record_codec import decode_record
record = decode_record(Path(sys.argv[1]).read_bytes(), sys.argv[1])
table = '<table>{% for h in hosts %}<tr><td>{{ h.name }}</td><td>{{ h.verdict.name }}</td></tr>{% endfor %}</table>'
Path(sys.argv[2]).write_text(Environment(autoescape=True).from_string(table).render(hosts=record.hosts))
"""
OURS = """
import sys
from pathlib import Path
from healthcheck.parsing.record_codec import decode_record
from healthcheck.reporting.{module} import {render}
record = decode_record(Path(sys.argv[1]).read_bytes(), sys.argv[1])
Path(sys.argv[2]).write_text({render}(record))
"""


class Size(Struct, frozen=True):
    """A cluster and its bars: KB of HTML (1000 bytes) and processor seconds."""

    nodes: int
    faults: tuple[str, ...]
    most_kb: float
    most_s: float


class Cost(Struct, frozen=True):
    """Processor and wall time in seconds, medians."""

    seconds: float
    wall_s: float


SIZES = (
    Size(32, ("node13:hca=mlx5_1,slow=0.5", "node22:unreachable", "node30:busy", "node27:nvlink=0.6"), 250.0, 2.0),
    Size(1024, SICK, 1000.0, 10.0),
)


def make_record(size: Size, folder: Path) -> Path:
    """A simulated check-up with its faults; the path of its record."""
    words = ["run", "full", "--simulate", str(size.nodes), "-o", str(folder), "-q"]
    for fault in size.faults:
        words += ["--fault", fault]
    with contextlib.redirect_stdout(io.StringIO()):
        code = healthcheck(words)
    path = max(folder.glob("*/record.json"))  # run ids begin with their time
    if code not in (1, 4) or decode_record(path.read_bytes(), str(path)).state != "complete":
        raise RuntimeError(f"the simulated check-up of {size.nodes} nodes ended with exit code {code}")
    return path


def one(argv: list[str]) -> Cost:
    """One process on one core, by the clock on the wall and the kernel's account of it."""
    begin = time.perf_counter()
    process = subprocess.Popen(argv)
    with contextlib.suppress(AttributeError, OSError):
        os.sched_setaffinity(process.pid, {min(os.sched_getaffinity(0))})
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(f"{argv[2][:60]!r} ended with exit code {process.returncode}")
    return Cost(usage.ru_utime + usage.ru_stime, time.perf_counter() - begin)


def measure(size: Size, record: Path, runs: int) -> list[str]:
    """Print the table of one size; the bars that were missed."""
    html, markdown = record.with_name("bench.html"), record.with_name("bench.md")
    plain = record.with_name("bench-plain.html")
    python = [sys.executable, "-c"]
    commands = {
        "import matplotlib": [*python, PEER],
        "plain Jinja table": [*python, PLAIN, str(record), str(plain)],
        "report.html": [*python, OURS.format(module="html", render="render_html"), str(record), str(html)],
        "report.md": [*python, OURS.format(module="markdown", render="render_markdown"), str(record), str(markdown)],
    }
    found: dict[str, list[Cost]] = {name: [] for name in commands}
    for _ in range(runs):
        for name, argv in commands.items():
            found[name].append(one(argv))
    costs = {
        name: Cost(statistics.median(c.seconds for c in each), statistics.median(c.wall_s for c in each))
        for name, each in found.items()
    }
    base, table = costs["import matplotlib"], costs["plain Jinja table"]
    pages = {"plain Jinja table": plain, "report.html": html, "report.md": markdown}
    print(f"\n{size.nodes} nodes, {len(size.faults)} faults, record of {record.stat().st_size / 1e6:.1f} MB")
    print(f"{'':<18} {'s':>6} {'x import':>9} {'x plain':>8} {'wall s':>7} {'KB':>8} {'lines':>6}   ({runs} runs)")
    for name, cost in costs.items():
        path = pages.get(name)
        kb = f"{path.stat().st_size / 1e3:8.1f}" if path else " " * 8
        lines = f"{len(path.read_text().splitlines()):6d}" if path else ""
        ratios = f"{cost.seconds / base.seconds:9.2f} {cost.seconds / table.seconds:8.2f}"
        print(f"{name:<18} {cost.seconds:6.2f} {ratios} {cost.wall_s:7.2f} {kb} {lines}")
    missed = []
    kb_of_html = html.stat().st_size / 1e3
    if kb_of_html > size.most_kb:
        missed.append(f"{size.nodes} nodes: {kb_of_html:.0f} KB of {size.most_kb:.0f}")
    if costs["report.html"].seconds > size.most_s:
        missed.append(f"{size.nodes} nodes: {costs['report.html'].seconds:.1f} s of {size.most_s:.0f}")
    return missed


def main() -> int:
    """Print the tables; exit 1 when a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--keep", type=Path, help="put the runs here and leave them")
    options = parser.parse_args()
    missed: list[str] = []
    with tempfile.TemporaryDirectory() as scratch:
        for size in SIZES:
            folder = (options.keep or Path(scratch)) / str(size.nodes)
            folder.mkdir(parents=True, exist_ok=True)
            missed += measure(size, make_record(size, folder), options.runs)
    print()
    return tell_bars(missed)


if __name__ == "__main__":
    sys.exit(main())
