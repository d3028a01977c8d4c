"""Manifests of Kubernetes: a check-up as an MPIJob of Kubeflow (v2beta1), and a CronJob that creates one. Pure.

Nothing is applied, and nothing of it was run in a cluster by us: what is checked is that the objects are well formed.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence

from healthcheck.model.schedule import Schedule
from healthcheck.model.schedule_cluster import InKubernetes
from healthcheck.reporting.figures import one_line

INPUTS = "/etc/healthcheck"
HOSTFILE = "/etc/mpi/hostfile"
"""Written by the operator for the launcher: a worker a line, with its slots."""
RESULTS = "/results"
SECRETS = "/etc/healthcheck-notify"
"""Where the launcher finds the addresses of alerts: files of a Secret, which no manifest of ours holds."""
SSH_FOLDER = "/root/.ssh"
KNOWN_HOSTS = "/tmp/known_hosts"  # noqa: S108 - inside the container of the launcher, which nobody else shares
_SSH_PORT = 22
_WORKER = {"healthcheck/role": "worker"}
# The operator mounts its keys where nothing can be written, and the keys of the workers are new each time.
_SSH_CONFIG = f"Host *\n  IdentityFile {SSH_FOLDER}/id_rsa\n  UserKnownHostsFile {KNOWN_HOSTS}\n"
_KEPT_FINISHED_S = 7 * 86400

Tree = Mapping[str, object]


def run_script(schedule: Schedule) -> str:
    """What the launcher does: the check-up, then old runs away; it ends as the check-up did."""
    lines = ["umask 077", shlex.join(schedule.run()), "code=$?"]
    if schedule.prune():
        lines.append(shlex.join(schedule.prune()))
    return "\n".join((*lines, 'exit "$code"')) + "\n"


def ssh_options() -> tuple[str, ...]:
    """Options of `healthcheck run` that fit to what is mounted."""
    return ("--ssh-config", f"{INPUTS}/ssh_config", "--accept-new-host-keys")


def secret_of(schedule: Schedule) -> str:
    """The name of the Secret with the addresses of alerts."""
    return f"{schedule.name}-notify"


def secret_line(schedule: Schedule, place: InKubernetes, files: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """The words that make it, of (name in it, file here)."""
    what = ("kubectl", "-n", place.namespace, "create", "secret", "generic", secret_of(schedule))
    return (*what, *(f"--from-file={name}={file}" for name, file in files))


def mpijob_file(schedule: Schedule, place: InKubernetes, inputs: Mapping[str, str]) -> str:
    """One check-up, to be created by hand. `inputs` are the files it reads, by name."""
    told = (
        "Written by `healthcheck schedule k8s`: one check-up as an MPIJob (kubeflow.org/v2beta1). Nothing was applied.",
        f"kubectl apply -f THIS_FILE; kubectl -n {place.namespace} logs -f job/{schedule.name}-launcher",
    )
    return _documents(told, [_inputs(schedule, place, inputs), _mpijob(schedule, place, {"name": schedule.name})])


def cronjob_file(schedule: Schedule, place: InKubernetes, inputs: Mapping[str, str]) -> str:
    """A CronJob that creates an MPIJob each time, and what it needs to be allowed that.

    A CronJob makes Jobs, not MPIJobs: its own container is kubectl, with a role that may create them and nothing else.
    """
    manifest = _yaml(_mpijob(schedule, place, {"generateName": f"{schedule.name}-"}))
    told = (
        f"Written by `healthcheck schedule k8s`: a check-up, {one_line(schedule.every.words)}. Nothing was applied.",
        "kubectl apply -f THIS_FILE",
    )
    meta = _meta(schedule, place)
    subject = {"kind": "ServiceAccount", "name": schedule.name, "namespace": place.namespace}
    rule = {"apiGroups": ["kubeflow.org"], "resources": ["mpijobs"], "verbs": ["create"]}
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": schedule.name}
    rbac = "rbac.authorization.k8s.io/v1"
    return _documents(
        told,
        [
            {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta},
            {"apiVersion": rbac, "kind": "Role", "metadata": meta, "rules": [rule]},
            {"apiVersion": rbac, "kind": "RoleBinding", "metadata": meta, "roleRef": role, "subjects": [subject]},
            _inputs(schedule, place, {**inputs, "mpijob.yaml": manifest}),
            _cronjob(schedule, place),
        ],
    )


def _cronjob(schedule: Schedule, place: InKubernetes) -> Tree:
    container = {
        "name": "create",
        "image": place.kubectl_image or place.image,
        "command": ["kubectl", "create", "-f", f"{INPUTS}/mpijob.yaml"],
        "volumeMounts": [{"name": "inputs", "mountPath": INPUTS, "readOnly": True}],
    }
    pod = {
        "serviceAccountName": schedule.name,
        "restartPolicy": "Never",
        "containers": [container],
        "volumes": [{"name": "inputs", "configMap": {"name": schedule.name}}],
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": _meta(schedule, place),
        "spec": {
            "schedule": schedule.every.cron,
            "concurrencyPolicy": "Forbid",
            "startingDeadlineSeconds": 3600,
            "successfulJobsHistoryLimit": 3,
            "failedJobsHistoryLimit": 3,
            "jobTemplate": {"spec": {"backoffLimit": 2, "template": {"spec": pod}}},
        },
    }


def _mpijob(schedule: Schedule, place: InKubernetes, name: Mapping[str, str]) -> Tree:
    return {
        "apiVersion": "kubeflow.org/v2beta1",
        "kind": "MPIJob",
        "metadata": {**name, "namespace": place.namespace, "labels": _labels(schedule)},
        "spec": {
            "slotsPerWorker": place.gpus,
            "sshAuthMountPath": SSH_FOLDER,
            "launcherCreationPolicy": "WaitForWorkersReady",
            "mpiImplementation": "OpenMPI",
            "runPolicy": {
                "cleanPodPolicy": "Running",
                "backoffLimit": 0,
                "activeDeadlineSeconds": math.ceil(place.limit_s),
                "ttlSecondsAfterFinished": _KEPT_FINISHED_S,
            },
            "mpiReplicaSpecs": {
                "Launcher": {"replicas": 1, "restartPolicy": "Never", "template": _launcher(schedule, place)},
                "Worker": {"replicas": place.workers, "restartPolicy": "Never", "template": _worker(schedule, place)},
            },
        },
    }


def _launcher(schedule: Schedule, place: InKubernetes) -> Tree:
    kept: Tree = (
        {"hostPath": {"path": place.host_path, "type": "DirectoryOrCreate"}}
        if place.host_path
        else {"persistentVolumeClaim": {"claimName": place.claim}}
    )
    mounts: list[Tree] = [
        {"name": "inputs", "mountPath": INPUTS, "readOnly": True},
        {"name": "results", "mountPath": RESULTS},
    ]
    volumes: list[Tree] = [{"name": "inputs", "configMap": {"name": schedule.name}}, {"name": "results", **kept}]
    if schedule.notify:
        mounts.append({"name": "notify", "mountPath": SECRETS, "readOnly": True})
        # Optional: where it is missing the launcher says so at once, instead of holding all workers while it waits.
        secret = {"secretName": secret_of(schedule), "defaultMode": 0o400, "optional": True}
        volumes.append({"name": "notify", "secret": secret})
    container = {
        "name": "healthcheck",
        "image": place.image,
        "command": ["/bin/sh", "-c", run_script(schedule)],
        "resources": {"requests": {"cpu": "2", "memory": "4Gi"}},
        "volumeMounts": mounts,
    }
    return {
        "metadata": {"labels": _labels(schedule)},
        "spec": {"automountServiceAccountToken": False, "containers": [container], "volumes": volumes},
    }


def _worker(schedule: Schedule, place: InKubernetes) -> Tree:
    needed = {"nvidia.com/gpu": str(place.gpus)}
    container: dict[str, object] = {
        "name": "worker",
        "image": place.image,
        "command": ["/usr/sbin/sshd", "-De"],
        "readinessProbe": {"tcpSocket": {"port": _SSH_PORT}, "periodSeconds": 2},
        "volumeMounts": [{"name": "shared-memory", "mountPath": "/dev/shm"}],  # noqa: S108 - NCCL's, 64 MiB by default
    }
    if place.rdma is not None:
        needed[place.rdma[0]] = str(place.rdma[1])
        # RDMA locks memory, more than a container may by default.
        container["securityContext"] = {"capabilities": {"add": ["IPC_LOCK"]}}
    container["resources"] = {"limits": needed}
    # One worker a node, also beside those of another check-up: two on one node would measure each other.
    apart = {"labelSelector": {"matchLabels": dict(_WORKER)}, "topologyKey": "kubernetes.io/hostname"}
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [apart]}}
    return {
        "metadata": {"labels": {**_labels(schedule), **_WORKER}},
        "spec": {
            "automountServiceAccountToken": False,
            "affinity": affinity,
            "containers": [container],
            "volumes": [{"name": "shared-memory", "emptyDir": {"medium": "Memory"}}],
        },
    }


def _inputs(schedule: Schedule, place: InKubernetes, inputs: Mapping[str, str]) -> Tree:
    data = {**inputs, "ssh_config": _SSH_CONFIG}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": _meta(schedule, place), "data": data}


def _meta(schedule: Schedule, place: InKubernetes) -> Tree:
    return {"name": schedule.name, "namespace": place.namespace, "labels": _labels(schedule)}


def _labels(schedule: Schedule) -> dict[str, str]:
    return {"app.kubernetes.io/name": "healthcheck", "app.kubernetes.io/instance": schedule.name}


def _documents(told: Sequence[str], documents: Sequence[Tree]) -> str:
    head = "".join(f"# {line}\n" for line in told)
    return head + "".join(f"---\n{_yaml(document)}" for document in documents)


def _yaml(document: Tree) -> str:
    """As people write it: in the order given, texts of several lines as blocks. Every value is data."""
    from yaml import SafeDumper, dump
    from yaml.nodes import ScalarNode

    class Blocks(SafeDumper):
        """No anchors: kubectl reads them, people do not."""

        def ignore_aliases(self, data: object) -> bool:
            return True

    def text(dumper: SafeDumper, value: str) -> ScalarNode:
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|" if "\n" in value else None)

    Blocks.add_representer(str, text)
    made: str = dump(document, Dumper=Blocks, sort_keys=False, width=120, allow_unicode=True)
    return made
