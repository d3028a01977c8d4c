"""The jobs of a search: two nodes rail by rail or as a whole, everybody left together, one rail alone. Pure.

With `NCCL_TESTS_SPLIT="MOD g"` and one process a GPU the ranks of GPU i of both nodes are communicator i, and all of
them run at once. `-a 3` prints the time of the slowest rank of all of them: the number is that of the slowest rail.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from healthcheck.model.collective import Collective
from healthcheck.model.command import CollectiveJob
from healthcheck.model.host import Host
from healthcheck.model.playbook import Playbook, Stage
from healthcheck.model.search import Pair
from healthcheck.planning.stages import multi_node_jobs

STAGE = "localise"
SPLIT, ALGORITHM = "NCCL_TESTS_SPLIT", "NCCL_ALGO"
SLOWEST_RANK = ("-a", "3")
SPLITS_FROM = (2, 14)
LEAST_BYTES, PAIR_BYTES = 1 << 30, 2 << 30
MEASURE_S = 6.0
"""A pair measures about this long; NCCL's start-up takes longer."""
LEAST_ITERATIONS = 5
PAIR_TIMEOUT_S, PAIR_STALL_S = 180, 60
"""Two nodes that print no line for a minute hang: the first line comes before the start-up, the second soon after."""

_VERSION = re.compile(r"(\d+)\.(\d+)")


class PairWay(Struct, frozen=True):
    """How the pairs of a search are measured. `rails` communicators a pair, 1: whole nodes.

    `stage` is the one whose job was slow: its environment, sizes and iterations are the most that is used. `expected`
    is what a pair should read, in GB/s of bus bandwidth of one communicator.
    """

    playbook: Playbook
    stage: Stage
    collective: Collective
    rails: int
    expected: float


def rails_apart(hosts: Sequence[Host], tool: str | None, version: str | None) -> int:
    """How many rails of a pair can be measured apart; 1 where they cannot.

    It takes nccl-tests 2.14, which must have printed its version (since 2.17.4), and the same number of GPUs on all
    hosts.
    """
    slots = {host.slots or 1 for host in hosts}
    found = _VERSION.match(version or "")
    if len(slots) != 1 or tool not in (None, "nccl-tests") or found is None:
        return 1
    return slots.pop() if (int(found[1]), int(found[2])) >= SPLITS_FROM else 1


def pair_job(
    round_number: int, pair: Pair, hosts: tuple[Host, Host], launch_host: str | None, way: PairWay
) -> CollectiveJob:
    """Two hosts with each other, with the ring forced: a tree over two nodes hides a lost NIC."""
    job = _pair(f"{STAGE}-r{round_number:02d}-{pair.a}-{pair.b}", hosts, launch_host, way)
    if way.rails == 1:
        return job
    return _with(replace(job, groups=way.rails, arguments=SLOWEST_RANK), {SPLIT: f"MOD {way.rails}"})


def rail_job(
    host: Host, other: Host, rail: int, device: str | None, launch_host: str | None, way: PairWay
) -> CollectiveJob:
    """One GPU of each host, over the HCA `device` where both call it so: what that rail carries by itself."""
    one = (replace(host, slots=1), replace(other, slots=1))
    job = _pair(f"{STAGE}-rail{rail}-{host.name}-{other.name}", one, launch_host, way)
    only = {"NCCL_IB_HCA": f"={device}"} if device is not None else {}
    return _with(job, {"CUDA_VISIBLE_DEVICES": str(rail), **only})


def joint_job(job_id: str, hosts: Sequence[Host], launch_host: str | None, way: PairWay, stage: str) -> CollectiveJob:
    """Many hosts together, in this rank order, measured as the slow job was."""
    once = replace(way.stage, collectives=(way.collective,), repeats=1)
    (job,) = multi_node_jobs(way.playbook, once, hosts, launch_host)
    return replace(job, id=job_id, stage=stage)


def _pair(job_id: str, hosts: tuple[Host, Host], launch_host: str | None, way: PairWay) -> CollectiveJob:
    job = joint_job(job_id, hosts, launch_host, way, STAGE)
    size = min(max(int(way.stage.sizes.max), LEAST_BYTES if not way.stage.unsaturated_ok else 0), PAIR_BYTES)
    ranks = job.n_ranks // way.rails if job.n_ranks >= 2 * way.rails else job.n_ranks
    algbw = way.expected / max(way.collective.factor(ranks), 0.01)
    fitting = round(MEASURE_S / (2 * size / (algbw * 1e9)))
    return replace(
        job,
        min_bytes=size,
        max_bytes=size,
        iterations=max(LEAST_ITERATIONS, min(fitting, way.stage.iterations)),
        warmup=min(way.stage.warmup, LEAST_ITERATIONS),
        timeout_s=float(min(way.stage.timeout, PAIR_TIMEOUT_S)),
    )


def pair_stage(stage: Stage) -> Stage:
    """The stage with the patience that a pair deserves."""
    return replace(stage, stall=min(stage.stall, type(stage.stall)(PAIR_STALL_S)))


def _with(job: CollectiveJob, variables: dict[str, str]) -> CollectiveJob:
    """What the job is for wins over the playbook."""
    return replace(job, env=tuple(sorted({**dict(job.env), **variables}.items())))
