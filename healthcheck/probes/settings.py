"""Which versions and settings of a node should be the same on every other one?"""

from __future__ import annotations

from healthcheck.model.fleet import Settings
from healthcheck.model.node import NodeFacts
from healthcheck.probes import fabric, gpu_state, gpudirect, hcas, iommu, pcie, topology
from healthcheck.probes.nccl_settings import effective


def settings(facts: NodeFacts) -> Settings:
    """What this node tells, by stable names; what it does not tell is left out. Several values are joined by `+`."""
    found: dict[str, set[str]] = {
        "driver": {gpu.driver for gpu in facts.gpus.value or () if gpu.driver},
        "gpu_model": {gpu.name for gpu in facts.gpus.value or ()},
    }
    if facts.mpi.value is not None:
        found["mpi"] = {f"{facts.mpi.value.family} {facts.mpi.value.version}"}
    software, cpu, variables = facts.software.value, facts.cpu.value, facts.nccl_settings.value
    if software is not None:
        said = {
            "os": software.os,
            "kernel": software.kernel,
            "cuda": software.cuda,
            "libnccl": software.nccl,
            "ofed": software.ofed,
            "nvidia_modules": software.modules,
            "container": software.container,
        }
        found.update((name, {value}) for name, value in said.items() if value)
    if cpu is not None:
        found["cpu"] = {cpu.model or ""} - {""}
        found["numa_nodes"] = {str(cpu.numa_nodes)} if cpu.numa_nodes is not None else set()
        found["numa_balancing"] = {cpu.numa_balancing or ""} - {""}
        found["cpu_governor"] = {name for name, _ in cpu.governors}
    if variables is not None:
        taken = sorted(f"{setting.name}={setting.value}" for setting in effective(variables).values())
        found["nccl_settings"] = {" ".join(taken) or "none"}
    for look in (gpu_state, fabric, hcas, topology, pcie, gpudirect, iommu):
        found.update((name, {value}) for name, value in look.settings(facts))
    return tuple((name, "+".join(sorted(values))) for name, values in found.items() if values)
