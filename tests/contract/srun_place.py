"""A stand-in for srun, for machines without Slurm: tasks are processes of this machine. It says so where it is asked.

It reads --nodelist, gives stdin to every task and hands on their lines whole, as srun does; a node called `gone` is one
it cannot reach. tests/testbed runs the same contract against a real Slurm.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from healthcheck.edge.clock import SystemClock
from healthcheck.edge.srun_step import SrunTransport
from healthcheck.model.slurm import SlurmJob

NODES = ("here", "there", "gone")
PROGRAM = """\
#!{python}
import itertools, os, subprocess, sys, threading
if sys.argv[1:] in (["--version"], ["--mpi=list"]):
    sys.exit(print("slurm 22.05.8" if sys.argv[1] == "--version" else "pmix"))
options = list(itertools.takewhile(lambda word: word.startswith("--"), sys.argv[1:]))
argv = sys.argv[1 + len(options):]
nodes = next(word for word in options if word.startswith("--nodelist=")).partition("=")[2].split(",")
with open({log!r}, "a") as log:
    print(*nodes, file=log)
tasks = [
    subprocess.Popen(argv, env=os.environ | {{"SLURMD_NODENAME": node}}, stdin=subprocess.PIPE,
                     stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True)
    for node in nodes if node != "gone"
]
out = threading.Lock()

def bring():
    while data := os.read(0, 65536):
        for task in tasks:
            try:
                task.stdin.write(data)
                task.stdin.flush()
            except OSError:
                pass
    for task in tasks:
        try:
            task.stdin.close()
        except OSError:
            pass

def hand_on(task):
    for line in task.stdout:
        with out:
            os.write(1, line)

threading.Thread(target=bring, daemon=True).start()
threads = [threading.Thread(target=hand_on, args=(task,), daemon=True) for task in tasks]
for thread in threads:
    thread.start()
for task in tasks:
    task.wait()
for thread in threads:
    thread.join()
if "gone" in nodes:
    print("srun: error: Task launch for StepId=1.0 failed on node gone: Connection refused", file=sys.stderr)
    sys.stderr.flush()
    os._exit(1)
os._exit(0)
"""


class SrunPlace:
    """A folder with the stand-in, and what it was asked to start."""

    def __init__(self, folder: Path, home: Path) -> None:
        self._log = folder / "steps"
        self._program = folder / "bin" / "srun"
        self._home = home
        self._program.parent.mkdir(parents=True)
        self._program.write_text(PROGRAM.format(python=sys.executable, log=str(self._log)))
        self._program.chmod(0o755)

    @property
    def bin(self) -> Path:
        """The folder of the stand-in, for a PATH."""
        return self._program.parent

    def transport(self) -> SrunTransport:
        """The transport, with the stand-in in its PATH."""
        path = f"PATH={self._program.parent}:{os.environ['PATH']}"
        program = ("env", path, f"HOME={self._home}")
        return SrunTransport(SlurmJob("4711", "22.05.8"), NODES, SystemClock(), program)

    def steps(self) -> list[list[str]]:
        """The nodes of every step so far."""
        return [line.split() for line in self._log.read_text().splitlines()] if self._log.exists() else []
