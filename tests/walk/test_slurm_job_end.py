"""A run in a Slurm job that was killed is known to be over from any machine of that Slurm, and holds no node up."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from healthcheck.edge.clock import SystemClock
from healthcheck.edge.host_locks import FolderLocks
from healthcheck.edge.owner import current_owner
from healthcheck.edge.slurm_job_end import is_over, job_of
from healthcheck.model.slurm import InJob
from tests.walk.cli import Shell

IN_JOB = {"SLURM_JOB_ID": "4711", "SLURM_CLUSTER_NAME": "lab", "SLURMD_NODENAME": "gpu01"}
GONE = 'echo "slurm_load_jobs error: Invalid job id specified" >&2; exit 1'


class Slurm:
    """A squeue that answers as told, and a scontrol that names the cluster."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir()
        self.says("exit 1")
        self.is_called("lab")

    def says(self, answer: str) -> None:
        self._program("squeue", answer)

    def is_called(self, name: str, private: str | None = None) -> None:
        lines = [f"ClusterName             = {name}", *([f"PrivateData             = {private}"] if private else [])]
        self._program("scontrol", "; ".join(f'echo "{line}"' for line in lines))

    def _program(self, name: str, line: str) -> None:
        (self._folder / name).write_text(f"#!/bin/sh\n{line}\n")
        (self._folder / name).chmod(0o755)


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Slurm:
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    is_over.cache_clear()
    return Slurm(tmp_path / "bin")


@pytest.mark.parametrize(
    ("answer", "over"),
    [
        (GONE, True),
        ("exit 0", True),
        ("echo 0", False),
        ("echo 2", True),
        ("echo 0; echo 2", False),
        ("echo 'N/A'", False),
        ('echo "slurm_load_jobs error: Unable to contact slurm controller" >&2; exit 1', False),
    ],
)
def test_a_job_is_over_where_slurm_says_so_or_began_it_anew(slurm: Slurm, answer: str, over: bool) -> None:
    slurm.says(answer)
    assert is_over(InJob("lab", "4711", 1 if "2" in answer else 0)) is over


def test_a_job_of_another_slurm_is_not_asked_for(slurm: Slurm) -> None:
    slurm.says(GONE)
    slurm.is_called("other")
    assert not is_over(InJob("lab", "4711"))


def test_what_salloc_started_is_no_part_of_its_job() -> None:
    assert job_of(IN_JOB) == InJob("lab", "4711")
    assert job_of(IN_JOB | {"SLURM_RESTART_COUNT": "3"}) == InJob("lab", "4711", 3)
    assert job_of({name: text for name, text in IN_JOB.items() if name != "SLURMD_NODENAME"}) is None


@pytest.fixture
def killed(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run that was killed with its job, on another machine."""
    with monkeypatch.context() as inside:
        for name, text in IN_JOB.items():
            inside.setenv(name, text)
        assert shell("run", "--simulate", "2", "-q").code == 0
    (folder,) = shell.folders()
    record = json.loads((folder / "record.json").read_text())
    assert record["owner"]["in_job"] == {"cluster": "lab", "job": "4711", "restarts": 0}
    record |= {"state": "incomplete", "exit_code": None, "inventory": []}
    record["owner"] |= {"machine": "gpu01"}
    (folder / "record.json").write_text(json.dumps(record))
    return folder


def test_it_can_be_cleaned_once_its_job_is_over_and_not_before(shell: Shell, slurm: Slurm, killed: Path) -> None:
    slurm.says("echo 0")
    said = shell("clean", killed.name)
    assert said.code == 2 and "may still be running: process" in said.err
    assert "on gpu01, which cannot be seen from this machine" in said.err
    is_over.cache_clear()
    slurm.says(GONE)
    assert shell("clean", killed.name).code == 0
    assert shell.record().state == "interrupted"


def test_a_run_of_somebody_else_is_left_alone(shell: Shell, slurm: Slurm, killed: Path) -> None:
    record = json.loads((killed / "record.json").read_text())
    record["owner"] |= {"user": "somebody-else"}
    (killed / "record.json").write_text(json.dumps(record))
    slurm.says(GONE)
    assert shell("clean", killed.name).code == 2


@pytest.mark.parametrize(
    ("answer", "user", "private", "taken"),
    [
        (GONE, "", None, True),
        ("echo 0", "", None, False),
        (GONE, "somebody-else", "none", True),
        (GONE, "somebody-else", "accounts,usage", True),
        ("echo 0", "somebody-else", "none", False),
        (GONE, "somebody-else", "accounts,jobs", False),
        (GONE, "somebody-else", None, False),
    ],
)
def test_its_nodes_are_free_for_the_next_gate_of_whoever_can_know(
    slurm: Slurm,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    answer: str,
    user: str,
    private: str | None,
    taken: bool,
) -> None:
    with monkeypatch.context() as inside:
        for name, text in IN_JOB.items():
            inside.setenv(name, text)
        owner = current_owner()
    FolderLocks(tmp_path, "20260314T021503Z-aaaa", owner, SystemClock()).take(["gpu01"])
    (lock,) = tmp_path.glob("locks/*.lock")
    holder = json.loads(lock.read_text())
    lock.unlink()
    lock.write_text(json.dumps(holder | {"machine": "gpu01"} | ({"user": user} if user else {})))
    slurm.says(answer)
    slurm.is_called("lab", private)
    found = FolderLocks(tmp_path, "20260314T031503Z-bbbb", current_owner(), SystemClock()).take(["gpu01"])
    assert (not found.refused) is taken
    if taken:
        assert "ended without letting go of 1 host" in str(found.notes[0])
