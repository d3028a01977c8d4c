"""What healthcheck itself costs when very many jobs run at once.

    python -m benchmarks.many_jobs

Two cases, each in a process of its own: 1,000 nodes in the process with jobs of 20 simulated seconds, and 256 nodes
behind real SSH on loopback (their server in another process) with jobs of 20 real seconds. Own time is the CPU time of
the workflow without rendering pages, in three parts: the jobs (start, watch, read, judge), the looks before and after
them (25 questions and a dozen a node), and the record with NCCL's logs; what the simulator's answers take is told apart
where they come from this process. Bars for the 1,000: jobs under 5 s, memory under 300 MB. "All at once" is read from
the record: the jobs of single_node overlap at one instant.

Results are written to memory where Linux has a folder in it: how long ext4 looks for a place for thousands of small
files depends on how many were deleted in the last minutes, by whomever (1 s or 3 s of processor time, the same run).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

JOB_SECONDS = 20
BAR_CPU_S = 5.0
BAR_MB = 300
IN_MEMORY = Path("/dev/shm")

CHILD = """
import json, resource, sys, time
from pathlib import Path, PosixPath
from healthcheck.cli.asked import Asked, new_request, read_inputs
from healthcheck.cli.console import Console
from healthcheck.edge.store import DirectoryStore
from healthcheck.simulator import transport
from healthcheck.workflows import judging, ledger, run
from healthcheck.workflows.engine import Engine

spent = {{"simulator": 0.0}}

def timed(where, name, part, clock=time.process_time):
    inner = getattr(where, name)
    def outer(*args, **options):
        begin = clock()
        try:
            return inner(*args, **options)
        finally:
            spent[part] = spent.get(part, 0.0) + clock() - begin
    setattr(where, name, outer)

timed(transport, "answer", "simulator", time.thread_time)
timed(run, "run_stage", "stages")
timed(run, "probe_before", "looks")
timed(run, "probe_after", "looks")
timed(judging, "judge_logs", "logs")
timed(ledger.Ledger, "save", "record")

asked = Asked(**{options!r}, results={results!r})
begin_wall, begin = time.monotonic(), time.process_time()
inputs, outside = read_inputs(asked)
store = DirectoryStore.create(Path({results!r}), outside.clock)
request = new_request(asked, inputs, store.folder.name)
engine = Engine(outside.transport, outside.local, outside.clock, Console(outside.clock, quiet=True), store)
record = run.check_up(request, engine, {{}})
cpu, wall = time.process_time() - begin, time.monotonic() - begin_wall
outside.close()
print(json.dumps(dict(spent, cpu=cpu, wall=wall, mb=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
                      verdict=record.verdict.name, folder=str(store.folder))))
"""


def measured(options: dict[str, object], results: str) -> dict[str, object]:
    """Run the child with these `Asked` fields; its measurements."""
    code = CHILD.format(options=options, results=results)
    done = subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, object] = json.loads(done.stdout)
    return found


def most_at_once(folder: str) -> int:
    """The largest number of single-node jobs that ran at one instant, from begin and length in the record."""
    record = json.loads((Path(folder) / "record.json").read_text())
    from datetime import datetime

    edges = []
    for job in record["jobs"]:
        if job["stage"] == "single_node":
            begin = datetime.fromisoformat(job["started_at"]).timestamp()
            edges += [(begin, 1), (begin + job["duration_s"], -1)]
    running = most = 0
    for _, step in sorted(edges, key=lambda edge: (edge[0], edge[1])):
        running += step
        most = max(most, running)
    return most


def through_ssh(nodes: int, results: str) -> dict[str, object]:
    """The same against `healthcheck simulate` in another process."""
    with tempfile.TemporaryDirectory() as folder:
        argv = [sys.executable, "-m", "healthcheck", "simulate", str(nodes), "--job-seconds", str(JOB_SECONDS)]
        server = subprocess.Popen([*argv, "-o", folder], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            assert server.stdout is not None
            for line in server.stdout:
                if "healthcheck run" in line:
                    break
            options: dict[str, object] = {"hosts": f"{folder}/cluster.hosts", "ssh_config": Path(folder, "ssh_config")}
            return measured(options, results)
        finally:
            server.terminate()
            server.wait(30)


def main() -> int:
    """Print the table; exit 1 when a bar is missed."""
    argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0]).parse_args()
    with tempfile.TemporaryDirectory(dir=IN_MEMORY if IN_MEMORY.is_dir() else None) as results:
        thousand = measured({"hosts": None, "simulate": 1000, "job_seconds": float(JOB_SECONDS)}, results)
        cases = {"1,000 in the process": thousand, "256 through SSH": through_ssh(256, results)}
        titles = f"{'CPU s':>6} {'jobs':>5} {'looks':>6} {'record':>7} {'simul.':>7} {'wall s':>7} {'MB':>5} at once"
        print(f"{'case':<22} {titles}")
        for name, found in cases.items():
            number = {key: float(str(value)) for key, value in found.items() if key not in ("verdict", "folder")}
            jobs, rest = number["stages"] - number["logs"], number["record"] + number["logs"]
            parts = f"{number['cpu']:6.2f} {jobs:5.2f} {number['looks']:6.2f} {rest:7.2f} {number['simulator']:7.2f}"
            at_once = most_at_once(str(found["folder"]))
            print(f"{name:<22} {parts} {number['wall']:7.1f} {number['mb']:5.0f} {at_once} {found['verdict']}")
    jobs_s = float(str(thousand["stages"])) - float(str(thousand["logs"]))
    met = jobs_s < BAR_CPU_S and float(str(thousand["mb"])) < BAR_MB
    print(f"bars for 1,000: jobs under {BAR_CPU_S:g} s, {BAR_MB} MB: {'met' if met else 'MISSED'}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
