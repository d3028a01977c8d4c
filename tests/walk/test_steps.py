"""`probe` and `clean` by steps of a Slurm job, with a stand-in for srun whose tasks are processes of this machine."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.contract.srun_place import SrunPlace
from tests.walk.cli import Shell


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SrunPlace:
    """A shell inside of job 4711 over `here` and `there`; nobody can log in anywhere."""
    place = SrunPlace(tmp_path / "slurm", tmp_path)
    monkeypatch.setenv("PATH", f"{place.bin}:{os.environ['PATH']}")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SLURM_JOB_ID", "4711")
    monkeypatch.setenv("SLURM_JOB_NODELIST", "here,there")
    return place


def killed_run(shell: Shell, *hosts: str, **flags: str) -> tuple[str, str]:
    """A run over hosts that was killed; its id and the token of what it started."""
    assert shell("run", "--simulate", "2", "-q").code == 0
    folder = shell.folders()[-1]
    record = json.loads((folder / "record.json").read_text())
    record |= {"state": "incomplete", "simulated": False}
    record["inventory"] = [record["inventory"][0] | {"name": host, "address": host} for host in hosts]
    record["owner"] |= {"pid_started": "1"}
    (folder / "record.json").write_text(json.dumps(record))
    options = json.loads((folder / "inputs" / "options.json").read_text())
    (folder / "inputs" / "options.json").write_text(json.dumps(options | {"simulate": None} | flags))
    return folder.name, record["owner"]["token"]


def test_probe_looks_by_steps(shell: Shell, job: SrunPlace) -> None:
    said = shell("probe", "--transport", "srun", "--launcher", "srun", "-q", "--json")
    record = json.loads(said.out)
    assert [host["name"] for host in record["hosts"]] == ["here", "there"]
    assert not any("could not be reached" in str(host) for host in record["hosts"])
    assert {node for step in job.steps() for node in step} == {"here", "there"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("probe", "--transport", "srun"), "--transport srun: starts no mpirun on the nodes; it goes together with"),
        (("probe", "--launcher", "srun"), "--launcher: srun needs a Slurm job"),
        (("clean", "RUN", "--transport", "srun"), "--transport: srun needs a Slurm job to start steps in"),
    ],
)
def test_steps_need_a_job(shell: Shell, words: tuple[str, ...], said: str) -> None:
    run, _ = killed_run(shell, "here", launcher="srun")
    told = shell(*(run if word == "RUN" else word for word in words), *(() if "clean" in words else ("-H", "here")))
    assert (told.code, told.err.count("\n")) == (2, 1) and said in told.err


def test_a_killed_run_whose_folder_was_renamed_is_cleaned_where_it_lies(shell: Shell, job: SrunPlace) -> None:
    killed_run(shell, "here", launcher="srun")
    moved = shell.folders()[-1].rename(shell.results / "before the move")
    said = shell("clean")
    assert said.code == 0, said.err
    assert json.loads((moved / "record.json").read_text())["state"] == "interrupted"


def test_a_run_that_looked_by_steps_is_cleaned_by_steps(shell: Shell, job: SrunPlace) -> None:
    run, token = killed_run(shell, "here", "there", launcher="srun")
    left = subprocess.Popen(["env", "--default-signal", "sleep", "600"], env=os.environ | {"HEALTHCHECK_TOKEN": token})
    try:
        said = shell("clean", run)
        assert left.wait(60) < 0, said.err
    finally:
        left.kill()
        left.wait()
    assert said.code == 0, said.err
    assert f"run {run}: nothing is left on here,there" in said.err
    assert shell.record().state == "interrupted"


def test_nodes_the_job_does_not_have_are_named_with_what_helps(shell: Shell, job: SrunPlace) -> None:
    run, _ = killed_run(shell, "here", "elsewhere", launcher="srun")
    said = shell("clean", run)
    assert said.code == 3
    assert f"salloc --nodelist=elsewhere healthcheck clean {run}" in said.err
    assert shell.record().state == "incomplete"


@pytest.mark.parametrize(
    ("flags", "words"), [({"launcher": "srun", "transport": "ssh"}, ()), ({}, ()), ({"launcher": "srun"}, ("ssh",))]
)
def test_a_run_that_logged_in_is_cleaned_by_ssh(
    shell: Shell, job: SrunPlace, flags: dict[str, str], words: tuple[str, ...]
) -> None:
    run, _ = killed_run(shell, "here.invalid", **flags)
    said = shell("clean", run, *(("--transport", *words) if words else ()))
    assert said.code == 3 and job.steps() == []
    assert ("inside a job" in said.err) is bool(words), "steps are advised where the run made them"


def test_outside_of_a_job_it_says_what_helps(shell: Shell) -> None:
    run, _ = killed_run(shell, "here.invalid", launcher="srun")
    said = shell("clean", run)
    assert said.code == 3
    assert f"inside a job that has them, such as salloc --nodelist=here.invalid healthcheck clean {run}" in said.err
