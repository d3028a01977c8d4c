"""The scripts of `schedule slurm`, submitted to a real Slurm as they were written."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from tests.testbed.checkup import PLAYBOOK, SIZES, CheckUp
from tests.testbed.lab import HERE, Lab
from tests.testbed.slurm import SlurmLab

pytestmark = pytest.mark.testbed

HOSTS = ("n001", "n002", "n003", "n004")


class Jobs:
    """Scripts written on the head, and what became of the jobs they are."""

    def __init__(self, lab: Lab) -> None:
        self.slurm = SlurmLab(lab, HOSTS)
        self.slurm.up()
        self.lab = lab
        self.here = CheckUp(lab, "", environment=(f"SLURM_CONF={self.slurm.conf}",))
        self.folder = lab.folder / "job scripts"
        playbook = lab.folder / "small playbook.yaml"
        binaries = f"path: {lab.mpi.build()}"
        playbook.write_text(PLAYBOOK.format(binaries=binaries, sizes=SIZES, timeout_s=40, stall_s=8))
        words = (str(playbook), "--platform", str(HERE / "platform.yaml"), "--nccl-tests", str(lab.mpi.build()))
        self.here.command(
            *("schedule", "slurm", *words, "--nodes", "3", "--spare", "1", "--budget", "3m", "--keep", "0"),
            *("--name", "hc", "-o", str(self.here.results), "--to", str(self.folder)),
        ).wait()
        assert self.here.exit_code == 0, self.here.stderr

    def ended(self, script: str, seconds: float = 400) -> tuple[str, str]:
        """(exit code as Slurm tells it, what the job printed)."""
        output = self.lab.folder / "job.out"
        job = self.slurm.ask("sbatch", "--parsable", "-o", str(output), str(self.folder / script)).strip()
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            told = self.slurm.ask("scontrol", "show", "job", job)
            if re.search(r"JobState=(COMPLETED|FAILED|TIMEOUT|CANCELLED)", told):
                code = re.search(r"ExitCode=(\S+)", told)
                assert code is not None
                return code[1], output.read_text()
            time.sleep(0.2)
        raise AssertionError(f"job {job} did not end: {output.read_text()}")


def test_a_check_up_runs_as_a_job_on_the_nodes_it_was_given(lab: Lab) -> None:
    jobs = Jobs(lab)
    code, printed = jobs.ended("hc.sbatch")
    assert code == "0:0", printed
    assert printed.splitlines()[-1].startswith("PASS 3/3 ready")
    assert jobs.here.record.healthy_hosts == HOSTS[:3]


def test_a_job_behind_its_gate_starts_without_the_sick_node(lab: Lab) -> None:
    jobs = Jobs(lab)
    lab.fault("n002", "sim:corrupt")
    code, printed = jobs.ended("hc-gate.sbatch")
    assert code == "0:0", printed
    first, *ran = printed.splitlines()
    assert first.startswith("PASS 3/4 ready")
    assert sorted(ran) == ["n001", "n003", "n004"]
    (lists,) = jobs.here.results.glob("gate-*")
    assert (Path(lists) / "exclude.slurm").read_text() == "n002\n"
