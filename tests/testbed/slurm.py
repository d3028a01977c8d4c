"""A real Slurm in a lab: slurmctld on the head, a slurmd on some hosts, one munged for all (its socket is a file)."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
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
NodeName={nodes} CPUs=4 State=UNKNOWN
PartitionName=batch Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


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

    def kill_controller(self) -> None:
        """slurmctld is gone, its clients are not."""
        self.lab.run("head", "kill", "-KILL", (self.folder / "slurmctld.pid").read_text().strip())

    def _start(self, host: str, *argv: str) -> None:
        out, err = self.folder / f"{host}-{argv[0]}.out", self.folder / f"{host}-{argv[0]}.err"
        started = self.lab.start(host, "env", f"SLURM_CONF={self.conf}", *argv, stdout=out, stderr=err)
        if started.wait(20) != 0:
            raise RuntimeError(f"{argv[0]} on {host}: {_end_of(err)}")

    def _until(self, done: Callable[[], bool], seconds: float = 20) -> None:
        end = time.monotonic() + seconds
        while not done():
            if time.monotonic() > end:
                raise RuntimeError(f"Slurm did not get ready: {_end_of(self.folder / 'slurmctld.log')}")
            time.sleep(0.1)


def _end_of(file: Path) -> str:
    return file.read_text(errors="replace")[-2000:] if file.exists() else ""
