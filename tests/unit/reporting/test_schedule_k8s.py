"""Manifests of Kubernetes: every field exists, what a user names is data, the launcher ends as the run did."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from healthcheck.model.schedule import Every, Schedule
from healthcheck.model.schedule_cluster import InKubernetes
from healthcheck.reporting.schedule.k8s import RESULTS, cronjob_file, mpijob_file, run_script, ssh_options
from tests.unit.reporting.kubernetes_objects import documents, problems

MONTHLY = Every("monthly", "monthly", "17 2 1 * *", named=True)
SCHEDULE = Schedule(
    "hc-monthly",
    ("healthcheck",),
    "/etc/healthcheck/playbook.yaml",
    "/etc/mpi/hostfile",
    RESULTS,
    MONTHLY,
    0,
    24,
    options=ssh_options(),
)
PLACE = InKubernetes("gpu-ops", "registry.example.org/healthcheck:1", 4, 8, 5400.0)
INPUTS = {"playbook.yaml": "name: monthly\n"}
ODD = 'it\'s "odd" $(touch pwned); `touch pwned`: #{yes} %d\\'


def mpijob(schedule: Schedule = SCHEDULE, place: InKubernetes = PLACE) -> Any:
    return next(one for one in documents(mpijob_file(schedule, place, INPUTS)) if one["kind"] == "MPIJob")


@pytest.mark.parametrize(
    "place",
    [
        PLACE,
        replace(PLACE, rdma=("rdma/hca_shared_devices_a", 8), host_path="/srv/results"),
        replace(PLACE, kubectl_image="registry.example.org/kubectl:1"),
    ],
)
def test_kubernetes_knows_every_field(place: InKubernetes) -> None:
    found = documents(mpijob_file(SCHEDULE, place, INPUTS)) + documents(cronjob_file(SCHEDULE, place, INPUTS))
    assert [one["kind"] for one in found] == [
        *("ConfigMap", "MPIJob"),
        *("ServiceAccount", "Role", "RoleBinding", "ConfigMap", "CronJob"),
    ]
    assert [problem for one in found for problem in problems(one)] == []


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("spec", "slotsPerWorkers"), 8),
        (("spec", "slotsPerWorker"), "8"),
        (("spec", "launcherCreationPolicy"), "Later"),
        (("spec", "mpiReplicaSpecs", "Worker", "template", "spec", "container"), []),
        (("spec", "mpiReplicaSpecs", "Boss"), {}),
    ],
)
def test_a_field_that_does_not_exist_would_be_seen(path: tuple[str, ...], value: object) -> None:
    job = mpijob()
    inner = job
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    assert problems(job)


def test_the_cronjob_creates_the_mpijob_of_the_other_file_under_a_new_name_each_time() -> None:
    found: Any = {str(one["kind"]): one for one in documents(cronjob_file(SCHEDULE, PLACE, INPUTS))}
    (created,) = documents(found["ConfigMap"]["data"]["mpijob.yaml"])
    job = mpijob()
    name = job["metadata"].pop("name")
    assert created == {**job, "metadata": {"generateName": f"{name}-", **job["metadata"]}}
    assert found["CronJob"]["spec"]["schedule"] == "17 2 1 * *"
    assert found["Role"]["rules"] == [{"apiGroups": ["kubeflow.org"], "resources": ["mpijobs"], "verbs": ["create"]}]
    pod = found["CronJob"]["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    assert pod["serviceAccountName"] == found["ServiceAccount"]["metadata"]["name"]
    assert pod["containers"][0]["image"] == PLACE.image


def test_workers_have_the_gpus_the_cards_and_nodes_of_their_own() -> None:
    job = mpijob(place=replace(PLACE, rdma=("rdma/ib", 4)))
    worker = job["spec"]["mpiReplicaSpecs"]["Worker"]
    (container,) = worker["template"]["spec"]["containers"]
    assert (worker["replicas"], job["spec"]["slotsPerWorker"]) == (4, 8)
    assert container["resources"]["limits"] == {"nvidia.com/gpu": "8", "rdma/ib": "4"}
    assert container["securityContext"]["capabilities"]["add"] == ["IPC_LOCK"]
    (apart,) = worker["template"]["spec"]["affinity"]["podAntiAffinity"][
        "requiredDuringSchedulingIgnoredDuringExecution"
    ]
    assert apart["labelSelector"]["matchLabels"].items() <= worker["template"]["metadata"]["labels"].items()
    bare = mpijob()["spec"]["mpiReplicaSpecs"]["Worker"]["template"]["spec"]["containers"][0]
    assert "securityContext" not in bare and bare["resources"]["limits"] == {"nvidia.com/gpu": "8"}


def test_results_are_kept_in_a_claim_or_on_the_node() -> None:
    def kept(place: InKubernetes) -> Any:
        volumes = mpijob(place=place)["spec"]["mpiReplicaSpecs"]["Launcher"]["template"]["spec"]["volumes"]
        return next(volume for volume in volumes if volume["name"] == "results")

    assert kept(PLACE)["persistentVolumeClaim"] == {"claimName": "healthcheck-results"}
    assert kept(replace(PLACE, host_path="/srv/hc"))["hostPath"]["path"] == "/srv/hc"


def test_the_launcher_is_not_tried_again_and_ends_in_time() -> None:
    policy = mpijob()["spec"]["runPolicy"]
    assert (policy["backoffLimit"], policy["activeDeadlineSeconds"]) == (0, 5400)


@pytest.mark.parametrize("code", [0, 1, 4])
def test_the_launcher_ends_as_the_run_did_whatever_the_words_hold(code: int, tmp_path: Path) -> None:
    program = tmp_path / ODD.replace("/", "")
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >>"{tmp_path}/asked"\n[ "$1" = run ] && exit {code}\nexit 9\n')
    program.chmod(0o755)
    schedule = replace(SCHEDULE, command=(str(program),), options=("--nccl-tests", ODD), results=ODD)
    launcher = mpijob(schedule)["spec"]["mpiReplicaSpecs"]["Launcher"]["template"]["spec"]["containers"][0]
    assert launcher["command"] == ["/bin/sh", "-c", run_script(schedule)]
    done = subprocess.run(launcher["command"], cwd=tmp_path, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (code, "")
    asked = (tmp_path / "asked").read_text().splitlines()
    assert asked.count(ODD) == 3 and "prune" in asked
    assert not (tmp_path / "pwned").exists()


def test_what_a_playbook_says_is_read_as_it_was_written() -> None:
    text = "name: x # a: b\ndescription: |\n  {{ odd }} --- \t\n  'é'\n---\n"
    config = next(
        one for one in documents(mpijob_file(SCHEDULE, PLACE, {"playbook.yaml": text})) if one["kind"] == "ConfigMap"
    )
    assert config["data"]["playbook.yaml"] == text  # type: ignore[index]
