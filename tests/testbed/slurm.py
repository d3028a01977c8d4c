"""A real Slurm in a lab: slurmctld on the head, a slurmd on some hosts, one munged for all (its socket is a file)."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.testbed.lab import Lab

PROGRAMS = ("munged", "slurmctld", "slurmd", "squeue", "sbatch")
# No cgroups, no database, no accounting: what allocates nodes to jobs, and nothing else.
CONF = """\
ClusterName=lab
SlurmctldHost=head
SlurmUser=root
SlurmctldPort=16817
SlurmdPort=16818
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
SlurmdParameters=config_overrides
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
MessageTimeout=5
KillWait=15
GresTypes=gpu
NodeName={nodes} CPUs=4 Gres=gpu:2 State=UNKNOWN
PartitionName=batch Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""
# Without cgroups nobody opens them: empty files count as GPUs.
GRES = """\
AutoDetect=off
Name=gpu File={folder}/gpu[0-1]
"""
# What a user submits: its exit code and what it said are left beside it. A shell that a scancel ends takes along what
# it started, so it is told to wait.
SCRIPT = """\
#!/bin/bash
trap : TERM
cd /
{{
{body}
}} >{name}.out 2>{name}.err
echo $? >{name}.code
"""


@dataclass(frozen=True)
class Job:
    """A script that was submitted, and where its output goes."""

    id: str
    files: Path

    @property
    def out(self) -> str:
        """What it printed."""
        return self.files.with_suffix(".out").read_text(errors="replace")

    @property
    def err(self) -> str:
        """What it complained about, and the story of a check-up."""
        return self.files.with_suffix(".err").read_text(errors="replace")

    def code(self, seconds: float = 300) -> int:
        """Its exit code, once it has ended."""
        file, end = self.files.with_suffix(".code"), time.monotonic() + seconds
        while not (file.exists() and file.read_text().strip()):
            if time.monotonic() > end:
                raise AssertionError(f"job {self.id} did not end within {seconds} s:\n{self.err}")
            time.sleep(0.1)
        return int(file.read_text())


class SlurmLab:
    """Everything of it lives in the namespaces of the lab, and ends with them."""

    def __init__(self, lab: Lab, nodes: Sequence[str]) -> None:
        self.lab = lab
        self.nodes = tuple(nodes)
        self.folder = lab.folder / "slurm"
        self.conf = self.folder / "slurm.conf"

    def up(self) -> None:
        """Start it, and wait until every node is idle."""
        munge = self.folder / "munge"
        for folder in (self.folder / "state", munge, *(self.folder / f"spool-{node}" for node in self.nodes)):
            folder.mkdir(parents=True)
        munge.chmod(0o711)
        self.folder.chmod(0o755)
        key = munge / "key"
        key.write_bytes(b"healthcheck" * 100)
        key.chmod(0o400)
        for gpu in range(2):
            (self.folder / f"gpu{gpu}").touch()
        (self.folder / "gres.conf").write_text(GRES.format(folder=self.folder))
        self.conf.write_text(CONF.format(folder=self.folder, nodes=",".join(self.nodes)))
        files = [word for name in ("key", "pid", "seed", "log") for word in (f"--{name}-file", str(munge / name))]
        self._start("head", "munged", "--force", "--socket", str(munge / "socket"), *files)
        self._start("head", "slurmctld", "-c")
        for node in self.nodes:
            self._start(node, "slurmd")
        self._until(lambda: self.ask("sinfo", "-h", "-N", "-t", "idle", "-o", "%N").split() == list(self.nodes))

    def ask(self, *argv: str) -> str:
        """What a client prints on the head."""
        return self.lab.run("head", "env", f"SLURM_CONF={self.conf}", *argv).stdout

    def submit(self, node: str) -> str:
        """A job that holds one node and does nothing on it; its id."""
        words = ("-w", node, "--exclusive", "-o", "/dev/null", "--chdir", "/", "--wrap", "sleep 600")
        job = self.ask("sbatch", "--parsable", *words).strip()
        self._until(lambda: self.ask("squeue", "-h", "-j", job, "-t", "RUNNING", "-o", "%i").strip() == job)
        return job

    def script(self, name: str, body: str, *words: str) -> Job:
        """Submit a script for all nodes, whole, with the environment of the head."""
        file = self.folder / f"{name}.sh"
        file.write_text(SCRIPT.format(body=body, name=self.folder / name))
        size = ("--nodes", str(len(self.nodes)), "--exclusive", "--gpus-per-node=2", "-o", "/dev/null", "--chdir", "/")
        job = self.ask("sbatch", "--parsable", *size, *words, str(file)).strip()
        assert job.isdecimal(), f"sbatch said {job!r}"
        return Job(job, self.folder / name)

    def cancel(self, job: Job) -> None:
        """`scancel`, until nothing of the job holds a node."""
        self.ask("scancel", job.id)
        self._until(lambda: not self.ask("squeue", "-h", "-j", job.id, "-o", "%i").strip(), 60)

    def kill_controller(self) -> None:
        """slurmctld is gone, its clients are not."""
        self.lab.run("head", "kill", "-KILL", (self.folder / "slurmctld.pid").read_text().strip())

    def _start(self, host: str, *argv: str) -> None:
        out, err = self.folder / f"{host}-{argv[0]}.out", self.folder / f"{host}-{argv[0]}.err"
        started = self.lab.start(host, "env", f"SLURM_CONF={self.conf}", *argv, stdout=out, stderr=err)
        if started.wait(60) != 0:
            raise RuntimeError(f"{argv[0]} on {host}: {_end_of(err)}")

    def _until(self, done: Callable[[], bool], seconds: float = 60) -> None:
        end = time.monotonic() + seconds
        while not done():
            if time.monotonic() > end:
                raise RuntimeError(f"Slurm did not get ready: {_end_of(self.folder / 'slurmctld.log')}")
            time.sleep(0.1)


def _end_of(file: Path) -> str:
    return file.read_text(errors="replace")[-2000:] if file.exists() else ""
