"""`healthcheck schedule slurm` and `k8s`: a check-up as a job of a cluster manager. They submit nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from healthcheck.cli import options
from healthcheck.cli.schedule_files import Keep, NotifyFile, NotifyOn, Playbook, Stdout, To, hand_over

if TYPE_CHECKING:
    from healthcheck.model.message import Message

EveryText = Annotated[str, typer.Option("--every", help="monthly, weekly, daily, or five fields of cron.")]
Name = Annotated[
    str | None, typer.Option("--name", help="Name of the job and its files. Default: healthcheck-PLAYBOOK.")
]
Limit = Annotated[
    str | None, typer.Option("--limit", help="When the job is ended, such as 2h. Default: what the playbook may take.")
]


SLURM_EXAMPLE = "Example: healthcheck schedule slurm --nodes 64 --gpus 8 --partition batch --to jobs"
K8S_EXAMPLE = (
    "Example: healthcheck schedule k8s --image registry.example.org/healthcheck:1 --workers 16 --rdma rdma/ib=8"
)


def slurm(
    nodes: Annotated[int, typer.Option("--nodes", min=1, max=20_000, help="Nodes of the job.")],
    playbook: Playbook = "monthly",
    spare: Annotated[int, typer.Option("--spare", min=0, help="Nodes the gate may do without.")] = 1,
    budget: Annotated[str, typer.Option(help="Most time the gate may take.")] = "5m",
    gpus: Annotated[int | None, typer.Option("--gpus", min=1, max=64, help="GPUs a node, asked for by --gres.")] = None,
    partition: Annotated[str, typer.Option("--partition", help="Partition of the job.")] = "",
    account: Annotated[str, typer.Option("--account", help="Account it is charged to.")] = "",
    reservation: Annotated[str, typer.Option("--reservation", help="Reservation it runs in.")] = "",
    limit: Limit = None,
    every: EveryText = "monthly",
    keep: Keep = 24,
    name: Name = None,
    platform: options.PlatformName = "auto",
    launcher: Annotated[str | None, typer.Option(help="mpirun, hydra, srun, srun:pmix or srun:pmi2.")] = None,
    nccl_tests: options.NcclTestsFolder = None,
    allow_degraded: options.AllowDegraded = False,
    notify: NotifyFile = None,
    notify_on: NotifyOn = "not-pass",
    results: options.Results = options.DEFAULT_RESULTS,
    to: To = Path(),
    stdout: Stdout = False,
    json: options.Json = False,
    lang: options.Lang = None,
) -> None:
    """Write the sbatch script of a check-up, one of a job behind a gate, and examples for slurmd. Submit nothing.

    The check-up is of the nodes that Slurm gives to its job. Examples: a prolog, and a HealthCheckProgram.
    """
    from healthcheck.cli.schedule_cluster_asked import Cluster, check_slurm, gate_words, slurm_schedule
    from healthcheck.model.message import say as message
    from healthcheck.model.schedule_cluster import UnderSlurm
    from healthcheck.model.units import Seconds
    from healthcheck.reporting.schedule.slurm import checkup_script, gate_script, health_script, prolog_script

    asked = Cluster(
        playbook=playbook,
        every=every,
        keep=keep,
        name=name,
        platform=platform,
        launcher=launcher,
        nccl_tests=nccl_tests,
        allow_degraded=allow_degraded,
        results=results,
        limit=limit,
        notify=tuple(notify or ()),
        notify_on=notify_on,
    )
    made, limit_s = slurm_schedule(asked)
    place = UnderSlurm(
        nodes=nodes,
        limit_s=limit_s,
        gpus=gpus,
        partition=partition,
        account=account,
        reservation=reservation,
        spare=spare,
        budget=budget,
        gate=gate_words(asked),
    )
    check_slurm(place)
    job, gate = f"{made.name}.sbatch", f"{made.name}-gate.sbatch"
    prolog, health = f"{made.name}-prolog.sh", f"{made.name}-node-health.sh"
    files = {
        job: checkup_script(made, place, str(to.absolute() / job)),
        gate: gate_script(made, place),
        prolog: prolog_script(made),
        health: health_script(made),
    }
    told = [
        message("schedule.cluster.limit", nodes=nodes, limit=str(Seconds(limit_s))),
        message("schedule.cluster.gate", file=gate, nodes=nodes + spare, need=nodes),
        message("schedule.cluster.examples", first=prolog, second=health),
        message("schedule.cluster.not_submitted"),
    ]
    _tell(files, to, stdout, json, told, (("sbatch", str(to / job)),))


def k8s(
    image: Annotated[str, typer.Option("--image", help="Holds healthcheck, sshd, mpirun and nccl-tests.")],
    workers: Annotated[int, typer.Option("--workers", min=1, max=20_000, help="Workers, one a node.")],
    playbook: Playbook = "monthly",
    gpus: Annotated[
        int | None,
        typer.Option("--gpus", min=1, max=64, help="GPUs a worker. Default: those of the machine type, or 8."),
    ] = None,
    rdma: Annotated[
        str | None, typer.Option("--rdma", metavar="NAME[=N]", help="RDMA resource of a worker, such as rdma/ib=8.")
    ] = None,
    namespace: Annotated[str, typer.Option("--namespace", help="Namespace of everything.")] = "default",
    claim: Annotated[str, typer.Option("--results-claim", help="PersistentVolumeClaim for the runs.")] = "",
    host_path: Annotated[str, typer.Option("--results-path", help="Folder of the launcher's node, instead.")] = "",
    kubectl_image: Annotated[str, typer.Option("--kubectl-image", help="Holds kubectl. Default: --image.")] = "",
    limit: Limit = None,
    every: EveryText = "monthly",
    keep: Keep = 24,
    name: Name = None,
    platform: options.PlatformName = "auto",
    nccl_tests: options.NcclTestsFolder = None,
    allow_degraded: options.AllowDegraded = False,
    notify: NotifyFile = None,
    notify_on: NotifyOn = "not-pass",
    to: To = Path(),
    stdout: Stdout = False,
    json: options.Json = False,
    lang: options.Lang = None,
) -> None:
    """Write the manifests of a check-up: an MPIJob (Kubeflow v2beta1), and a CronJob that creates one. Apply nothing.

    They are rendered and were not run in a cluster by us: read them first.
    """
    from healthcheck.cli.schedule_cluster_asked import Cluster, check_kubernetes, k8s_schedule, resource, secret_files
    from healthcheck.errors import InputError
    from healthcheck.model.message import say as message
    from healthcheck.model.schedule_cluster import CLAIM, InKubernetes
    from healthcheck.model.units import Seconds
    from healthcheck.reporting.schedule.k8s import cronjob_file, mpijob_file, secret_line, secret_of

    asked = Cluster(
        playbook=playbook,
        every=every,
        keep=keep,
        name=name,
        platform=platform,
        nccl_tests=nccl_tests,
        allow_degraded=allow_degraded,
        limit=limit,
        notify=tuple(notify or ()),
        notify_on=notify_on,
    )
    made, limit_s, inputs, model = k8s_schedule(asked)
    if claim and host_path:
        raise InputError("--results-path", "and --results-claim are two places for the runs; give one of them")
    place = InKubernetes(
        namespace=namespace,
        image=image,
        workers=workers,
        gpus=gpus or (model.gpu.count if model is not None else 8),
        limit_s=limit_s,
        rdma=None if rdma is None else resource(rdma),
        claim=claim or CLAIM,
        host_path=host_path,
        kubectl_image=kubectl_image,
    )
    check_kubernetes(place)
    job, cronjob = f"{made.name}.mpijob.yaml", f"{made.name}.cronjob.yaml"
    files = {job: mpijob_file(made, place, inputs), cronjob: cronjob_file(made, place, inputs)}
    told = [message("schedule.cluster.limit", nodes=workers, limit=str(Seconds(limit_s)))]
    if not place.host_path:
        told.append(message("schedule.cluster.claim", claim=place.claim, namespace=namespace))
    if place.rdma is None:
        told.append(message("schedule.cluster.no_rdma"))
    lines: list[tuple[str, ...]] = [("kubectl", "apply", "-f", str(to / cronjob))]
    if addresses := secret_files(asked):
        told.append(message("schedule.cluster.secret", secret=secret_of(made)))
        lines.insert(0, secret_line(made, place, addresses))
    told.append(message("schedule.cluster.not_applied"))
    _tell(files, to, stdout, json, told, lines)


def _tell(
    files: dict[str, str],
    to: Path,
    stdout: bool,
    json: bool,
    told: list[Message],
    lines: Sequence[tuple[str, ...]],
) -> None:
    """The files, printed or written; on stderr what they are and what comes next."""
    import shlex

    from healthcheck.cli.exits import say

    install = [shlex.join(line) for line in lines]
    hand_over(files, to, install, stdout=stdout, json=json)
    for message in told:
        say(str(message))
    for line in () if stdout else install:
        say(f"  {line}")
