"""`healthcheck schedule slurm` and `k8s`: what is written where, what is refused, and that nothing is submitted."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

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


def test_both_scripts_of_slurm_send_alerts_by_a_file_and_hold_no_address(shell: Shell, tmp_path: Path) -> None:
    Path("my alerts.conf").write_text("json://secret-token@example.org\n")
    Path("my alerts.conf").chmod(0o600)
    said = shell(*SLURM, "--notify", "@my alerts.conf")
    assert said.code == 0, said.err
    for name in ("healthcheck-monthly.sbatch", "healthcheck-monthly-gate.sbatch"):
        (line,) = [line for line in Path(name).read_text().splitlines() if "--notify" in line]
        words = shlex.split(line.removesuffix(" \\"))
        at = words.index("--notify")
        assert words[at : at + 4] == ["--notify", f"@{tmp_path}/my alerts.conf", "--notify-on", "not-pass"]
    assert not [path for path in tmp_path.glob("healthcheck-*") if "secret-token" in path.read_text()]


def test_the_launcher_reads_the_addresses_from_a_secret_that_no_manifest_holds(shell: Shell, tmp_path: Path) -> None:
    for name in ("chat.conf", "pager.conf"):
        Path(name).write_text("json://secret-token@example.org\n")
    asked = ("--notify", "@chat.conf", "--notify", "@pager.conf", "--notify-on", "change", "--namespace", "ops")
    said = shell(*K8S, *asked, "--json")
    document = json.loads(said.out)
    assert "secret-token" not in said.out + said.err
    make = "kubectl -n ops create secret generic healthcheck-monthly-notify"
    files = f"--from-file=addresses={tmp_path}/chat.conf --from-file=addresses2={tmp_path}/pager.conf"
    assert document["install"][0] == f"{make} {files}"
    assert [one for file in document["files"] for each in documents(file["text"]) for one in problems(each)] == []
    _, job = documents(Path("healthcheck-monthly.mpijob.yaml").read_text())
    roles: Any = job["spec"]["mpiReplicaSpecs"]  # type: ignore[index]
    launcher = roles["Launcher"]["template"]["spec"]
    (mounted,) = [one for one in launcher["containers"][0]["volumeMounts"] if one["name"] == "notify"]
    (volume,) = [one for one in launcher["volumes"] if one["name"] == "notify"]
    assert volume["secret"] == {"secretName": "healthcheck-monthly-notify", "defaultMode": 0o400, "optional": True}
    words = shlex.split(launcher["containers"][0]["command"][2].splitlines()[1])
    places = [f"@{mounted['mountPath']}/{name}" for name in ("addresses", "addresses2")]
    assert words[-6:] == ["--notify", places[0], "--notify", places[1], "--notify-on", "change"]
    assert "notify" not in json.dumps(roles["Worker"])


def test_the_gate_is_told_what_the_playbook_says_of_the_machine(shell: Shell, tmp_path: Path) -> None:
    keys = "launcher: srun:pmi2\nplatform: a100-sxm4-4gpu-4x200\nstages: [{name: probe}]\n"

    def playbook(nccl_tests: str) -> None:
        Path("p.yaml").write_text(f"name: p\nnccl_tests: {{{nccl_tests}}}\n{keys}")

    def gate(*words: str) -> list[str]:
        assert shell(*SLURM, "p.yaml", *words).code == 0
        (line,) = [
            line for line in Path("healthcheck-p-gate.sbatch").read_text().splitlines() if " gate slurm-gate" in line
        ]
        return shlex.split(line.removesuffix(" \\"))

    playbook("path: /opt/my tests")
    told = gate()
    for option, value in (
        ("--platform", "a100-sxm4-4gpu-4x200"),
        ("--launcher", "srun:pmi2"),
        ("--nccl-tests", "/opt/my tests"),
    ):
        assert told[told.index(option) + 1] == value
    again = gate("--launcher", "srun:pmix", "--nccl-tests", "/opt/others")
    assert again.count("--launcher") == again.count("--nccl-tests") == 1
    assert again[again.index("--launcher") + 1] == "srun:pmix"
    playbook("push: build")
    told = gate()
    assert told[told.index("--push") + 1] == f"{tmp_path}/build"
    assert "--push" not in Path("healthcheck-p.sbatch").read_text(), "the check-up reads the playbook itself"


def test_without_alerts_there_is_no_secret(shell: Shell) -> None:
    said = shell(*K8S, "--notify-on", "always")
    assert said.code == 0 and "ecret" not in said.err
    assert "notify" not in Path("healthcheck-monthly.mpijob.yaml").read_text()


@pytest.mark.parametrize(
    ("words", "names", "says"),
    [
        ((*SLURM, "--notify", "json://example.org"), "--notify", "takes @FILE here"),
        ((*SLURM, "--notify", "@nowhere"), "--notify", "there is no file nowhere"),
        ((*K8S, "--notify", "json://example.org"), "--notify", "takes @FILE here"),
        ((*K8S, "--notify-on", "never"), "--notify-on", "must be one of change, always, not-pass"),
        ((*SLURM, "--partition", "gpu --wrap=x"), "--partition", "no name of Slurm"),
        ((*SLURM, "--name", "A b"), "--name", "small letters"),
        ((*SLURM, "--budget", "5"), "--budget", "not a duration"),
        ((*SLURM, "--budget", "5s"), "--budget", "must lie between 30s and 7d"),
        ((*SLURM, "--limit", "1s"), "--limit", "between 1m"),
        ((*SLURM, "--every", "sometimes"), "--every", "sometimes"),
        ((*SLURM, "--launcher", "ssh"), "--launcher", "there is no launcher"),
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
