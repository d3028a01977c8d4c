"""The contract of all transports, and what steps promise beyond it, against a real Slurm (tests/contract says what)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from healthcheck.edge import srun_step
from healthcheck.edge.clock import SystemClock
from healthcheck.edge.srun_step import SrunTransport
from healthcheck.model.command import Command, ExitKind
from healthcheck.model.host import Host
from healthcheck.model.slurm import SlurmJob
from tests.contract import test_transport as contract
from tests.contract.test_transport import Subject
from tests.sinks import Kept
from tests.testbed.conftest import MPIS
from tests.testbed.lab import NETLAB, Lab
from tests.testbed.slurm import SlurmLab

pytestmark = pytest.mark.testbed

# Every test of the contract is a test here, with the transport of this file.
globals().update({name: value for name, value in vars(contract).items() if name.startswith("test_")})
# It acts on a process of the far side from there, which a step that has ended has taken along.
del globals()["test_a_child_that_escapes_with_the_output_is_not_waited_for"]

HOSTS = ("n001", "n002", "n003", "n004")


@pytest.fixture(scope="module")
def slurm() -> Iterator[SlurmLab]:
    """Four nodes and a job that holds them, for all tests of this file."""
    lab = Lab(MPIS["ompi4"], n_hosts=len(HOSTS))
    try:
        lab.up()
        slurm = SlurmLab(lab, HOSTS)
        slurm.up()
        yield slurm
    finally:
        lab.down()


@pytest.fixture(scope="module")
def job(slurm: SlurmLab) -> str:
    """Its id, once it runs."""
    job = slurm.script("hold", f"touch {slurm.folder}/held; sleep 600", "--no-kill").id
    while not (slurm.folder / "held").exists():
        time.sleep(0.05)
    return job


def transport_of(slurm: SlurmLab, job: str, home: Path) -> SrunTransport:
    """srun on the head, as the user that has this home."""
    lab = {"LAB": str(slurm.lab.folder), "SLURM_CONF": str(slurm.conf), "HOME": str(home)}
    program = ("env", f"LAB={lab['LAB']}", str(NETLAB), "exec", "head", "env", *(f"{k}={v}" for k, v in lab.items()))
    return SrunTransport(SlurmJob(job, "22.05.8", gpus_per_node=2), HOSTS, SystemClock(), program)


@pytest.fixture
def subject(slurm: SlurmLab, job: str, tmp_path: Path) -> Iterator[Subject]:
    """A node, and a home that all of them share."""
    home = slurm.lab.folder / "homes" / tmp_path.name
    home.mkdir(parents=True)
    transport = transport_of(slurm, job, home)
    yield Subject(transport, Host("n002", "n002"), home)
    transport.close()


def test_four_nodes_are_one_step(subject: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(srun_step, "GATHER_S", 1.0)
    monkeypatch.setattr(srun_step, "LONGEST_GATHER_S", 20.0)
    kept = {host: Kept() for host in HOSTS}

    def one(host: str) -> int | None:
        command = Command(("sh", "-c", "hostname; echo $SLURM_STEP_ID; exit 3"), 30, "contract")
        result = subject.transport.start(Host(host, host), command, kept[host]).wait(120)
        return None if result is None else result.exit_code

    with ThreadPoolExecutor(len(HOSTS)) as pool:
        assert list(pool.map(one, HOSTS)) == [3] * len(HOSTS)
    said = [kept[host].out.decode().split() for host in HOSTS]
    assert [name for name, _ in said] == list(HOSTS)
    assert len({step for _, step in said}) == 1


def test_a_step_that_is_killed_leaves_no_process(slurm: SlurmLab, job: str, subject: Subject) -> None:
    kept = Kept()
    running = subject.transport.start(subject.host, Command(("sh", "-c", "echo up; sleep 300"), 600, "contract"), kept)
    while not kept.out:
        assert running.wait(0.05) is None
    step = slurm.ask("squeue", "-h", "-s", "-j", job, "-o", "%i %j").split("\n")
    (number,) = [line.split()[0] for line in step if line.endswith(" healthcheck")]
    slurm.ask("scancel", number)
    result = running.wait(120)
    assert result is not None
    assert result.kind in (ExitKind.CONNECTION_LOST, ExitKind.EXITED, ExitKind.SIGNALLED)
    assert not slurm.lab.left_after(60)
