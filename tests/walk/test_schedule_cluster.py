"""`healthcheck schedule slurm` and `k8s`: what is written where, what is refused, and that nothing is submitted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from tests.unit.reporting.kubernetes_objects import documents, problems
from tests.walk.cli import Shell

SLURM = ("schedule", "slurm", "--nodes", "4")
K8S = ("schedule", "k8s", "--image", "registry.example.org/healthcheck:1", "--workers", "4")


def test_scripts_of_slurm_are_written_named_and_may_be_written_again(shell: Shell, tmp_path: Path) -> None:
    said = shell(*SLURM, "--to", "jobs")
    assert said.code == 0, said.err
    names = ["healthcheck-monthly.sbatch", "healthcheck-monthly-gate.sbatch"]
    names += ["healthcheck-monthly-prolog.sh", "healthcheck-monthly-node-health.sh"]
    assert said.out.splitlines() == [f"jobs/{name}" for name in names]
    assert "nothing was submitted" in said.err and "sbatch jobs/healthcheck-monthly.sbatch" in said.err
    assert f"-o {tmp_path}/reports" in Path("jobs/healthcheck-monthly.sbatch").read_text()
    assert shell(*SLURM, "--to", "jobs", "--partition", "gpu").code == 0
    assert "--partition=gpu" in Path("jobs/healthcheck-monthly.sbatch").read_text()


def test_a_script_of_somebody_else_is_not_overwritten(shell: Shell) -> None:
    Path("healthcheck-monthly-prolog.sh").write_text("#!/bin/sh\nexit 0\n")
    said = shell(*SLURM)
    assert said.code == 2 and "was not written by healthcheck schedule" in said.err
    assert not Path("healthcheck-monthly.sbatch").exists()


def test_a_playbook_and_a_machine_type_of_ones_own_go_along_into_kubernetes(shell: Shell) -> None:
    mine = (
        "name: mine\nnccl_tests: {path: /opt/nccl tests}\nstages: [{name: probe}, {name: single_node, timeout: 1m}]\n"
    )
    Path("my playbook.yaml").write_text(mine)
    said = shell(*K8S, "my playbook.yaml", "--platform", "a100-sxm4-4gpu-4x200", "--json")
    assert said.code == 0, said.err
    document = json.loads(said.out)
    assert document["written"] == ["healthcheck-mine.mpijob.yaml", "healthcheck-mine.cronjob.yaml"]
    config, job = documents(Path("healthcheck-mine.mpijob.yaml").read_text())
    assert config["data"]["playbook.yaml"] == mine  # type: ignore[index]
    assert yaml.safe_load(config["data"]["platform.yaml"])["name"] == "a100-sxm4-4gpu-4x200"  # type: ignore[index]
    assert job["spec"]["slotsPerWorker"] == 4, "the GPUs of the machine type"  # type: ignore[index]
    assert [one for file in document["files"] for each in documents(file["text"]) for one in problems(each)] == []
    assert "no RDMA resource" in said.err and "nothing was applied" in said.err


@pytest.mark.parametrize(
    ("words", "names", "says"),
    [
        ((*SLURM, "--partition", "gpu --wrap=x"), "--partition", "no name of Slurm"),
        ((*SLURM, "--name", "A b"), "--name", "small letters"),
        ((*SLURM, "--budget", "5"), "--budget", "not a duration"),
        ((*SLURM, "--limit", "1s"), "--limit", "between 1m"),
        ((*SLURM, "--every", "sometimes"), "--every", "sometimes"),
        ((*SLURM, "--launcher", "ssh"), "--launcher", "none of"),
        ((*SLURM, "-o", "a\nb"), "schedule", "one line"),
        (("schedule", "slurm"), "--nodes", "is missing"),
        (("schedule", "k8s", "--workers", "2"), "--image", "is missing"),
        ((*K8S[:3], "a b", *K8S[4:]), "--image", "no image"),
        ((*K8S, "--rdma", "rdma=8"), "--rdma", "no resource"),
        ((*K8S, "--namespace", "Ops"), "--namespace", "small letters"),
        ((*K8S, "--results-path", "here"), "--results-path", "must be absolute"),
        ((*K8S, "--results-path", "/a", "--results-claim", "b"), "--results-path", "two places"),
        ((*K8S, "--name", "x" * 41), "--name", "40 at most"),
    ],
)
def test_what_is_wrong_is_one_sentence_and_nothing_is_written(
    words: tuple[str, ...], names: str, says: str, shell: Shell, tmp_path: Path
) -> None:
    said = shell(*words)
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
    assert names in said.err and says in said.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ("baseline: b.json", "no container has"),
        ("nccl_tests: {push: build}", "the image has to hold them"),
        ("launcher: srun", "in an MPIJob it is mpirun"),
    ],
)
def test_a_playbook_that_needs_what_no_pod_has_is_refused(keys: str, says: str, shell: Shell) -> None:
    Path("p.yaml").write_text(f"name: p\n{keys}\nstages: [{{name: probe}}]\n")
    said = shell(*K8S, "p.yaml")
    assert (said.code, said.out) == (2, "") and says in said.err
