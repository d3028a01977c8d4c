"""From the questions to ask a node to the facts about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from healthcheck.model.collective import Collective
from healthcheck.model.node import NodeFacts
from healthcheck.probes import (
    PROBES,
    acs,
    binary,
    clock,
    cpu,
    fabric,
    gpu_memory,
    gpu_processes,
    gpu_state,
    gpudirect,
    gpus,
    hca_counters,
    hcas,
    identity,
    iommu,
    kernel_log,
    leftovers,
    limits,
    mpi,
    nccl_settings,
    nvlink,
    pcie,
    software,
    topology,
    verbs,
)
from healthcheck.probes.batch import Part, PartOutput


def probe_parts(
    nccl_tests: str | None, collectives: Iterable[Collective] = (), wrapper: Sequence[str] = ()
) -> tuple[Part, ...]:
    """All questions for one node, quick ones first, those that ask the GPU driver last.

    `nccl_tests` is the folder of the binaries on the node (absolute path); None asks nothing about them. With a
    `wrapper` they may be somewhere else, and only its own program is asked for.
    """
    parts = [
        clock.part(),
        identity.part(),
        limits.part(),
        cpu.part(),
        nccl_settings.part(),
        hcas.part(),
        hca_counters.part(),
        verbs.part(),
        pcie.part(),
        gpudirect.part(),
        iommu.part(),
        fabric.part(),
        mpi.part(),
        leftovers.part(),
        kernel_log.part(),
        acs.part(),
    ]
    if nccl_tests is not None:
        wanted = tuple(dict.fromkeys(collectives)) or (Collective.ALL_REDUCE,)
        paths = [f"{nccl_tests.rstrip('/')}/{collective.binary}" for collective in wanted]
        parts.append(binary.wrapped_part(paths, wrapper[0]) if wrapper else binary.part(paths))
    return (
        *parts,
        gpus.part(),
        gpu_processes.part(),
        gpu_state.part(),
        gpu_memory.part(),
        nvlink.part(),
        software.part(),
        # Last of those that ask the driver: it may be late by itself.
        topology.part(),
        clock.end_part(),
    )


def after_parts() -> tuple[Part, ...]:
    """The questions of the look after the benchmarks: who answers, and everything that may have grown meanwhile."""
    again = {name for name, probe in PROBES.items() if probe.judge_after is not None} | {identity.NAME}
    again |= {clock.NAME, clock.END_NAME}
    return tuple(part for part in probe_parts(None) if part.name in again)


def read_node(host: str, parts: Mapping[str, PartOutput], asked_at: tuple[float, float] | None = None) -> NodeFacts:
    """The facts in the answer of one node (`batch.split`). Never raises: what cannot be read says why.

    `asked_at` is when the question left and when the answer was there, in seconds since 1970 by our own clock.
    """
    listed = gpus.read(parts.get(gpus.NAME))
    return NodeFacts(
        host=host,
        gpus=listed,
        hcas=hcas.read(parts.get(hcas.NAME)),
        gpu_processes=gpu_processes.read(parts.get(gpu_processes.NAME), listed),
        binary=binary.read(parts.get(binary.NAME)),
        mpi=mpi.read(parts.get(mpi.NAME)),
        identity=identity.read(parts.get(identity.NAME)),
        leftovers=leftovers.read(parts.get(leftovers.NAME)),
        asked_at=asked_at,
        clock=clock.read(parts.get(clock.NAME), parts.get(clock.END_NAME)),
        kernel_log=kernel_log.read(parts.get(kernel_log.NAME)),
        limits=limits.read(parts.get(limits.NAME)),
        cpu=cpu.read(parts.get(cpu.NAME)),
        software=software.read(parts.get(software.NAME)),
        nccl_settings=nccl_settings.read(parts.get(nccl_settings.NAME)),
        hca_counters=hca_counters.read(parts.get(hca_counters.NAME)),
        verbs=verbs.read(parts.get(verbs.NAME)),
        gpu_state=gpu_state.read(parts.get(gpu_state.NAME)),
        gpu_memory=gpu_memory.read(parts.get(gpu_memory.NAME)),
        nvlink=nvlink.read(parts.get(nvlink.NAME)),
        fabric=fabric.read(parts.get(fabric.NAME)),
        topology=topology.read(parts.get(topology.NAME)),
        pcie=pcie.read(parts.get(pcie.NAME)),
        gpudirect=gpudirect.read(parts.get(gpudirect.NAME)),
        iommu=iommu.read(parts.get(iommu.NAME)),
        acs=acs.read(parts.get(acs.NAME)),
    )
