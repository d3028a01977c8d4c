"""The jobs that tell which GPU of one node is slow: pairs around the ring of its GPUs, and both halves. Pure."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from healthcheck.model.collective import Collective
from healthcheck.model.command import CollectiveJob
from healthcheck.model.host import Host
from healthcheck.model.playbook import Playbook, Stage
from healthcheck.planning.stages import single_node_jobs

STAGE = "localise"
PAIR_BYTES = 1 << 30
ITERATIONS = 20


class GpuJob(Struct, frozen=True):
    """A job over some GPUs of one host, by their numbers."""

    gpus: tuple[int, ...]
    job: CollectiveJob


def gpu_jobs(playbook: Playbook, stage: Stage, host: Host) -> tuple[GpuJob, ...]:
    """Every GPU with its two neighbours, then both halves; `stage` is the one in which the node was slow alone.

    They run one after the other: NVLink and the switches are shared. None for a node of fewer than three GPUs.
    """
    count = host.slots or 1
    if count < 3:
        return ()
    pairs = [(place, (place + 1) % count) for place in range(count)]
    halves = [tuple(range(count // 2)), tuple(range(count // 2, count))] if count > 3 else []
    once = replace(stage, collectives=(Collective.ALL_REDUCE,), repeats=1)
    found = []
    for gpus in (*pairs, *halves):
        (whole,) = single_node_jobs(playbook, once, (replace(host, slots=len(gpus)),))
        size = min(int(stage.sizes.max), PAIR_BYTES)
        visible = ",".join(map(str, gpus))
        job = replace(
            whole,
            id=f"{STAGE}-gpus-{host.name}-{'_'.join(map(str, gpus))}",
            stage=STAGE,
            min_bytes=size,
            max_bytes=size,
            iterations=min(stage.iterations, ITERATIONS),
            env=tuple(sorted({**dict(whole.env), "CUDA_VISIBLE_DEVICES": visible}.items())),
        )
        found.append(GpuJob(gpus, job))
    return tuple(found)
