"""Which versions and settings of a node should be the same on every other one?"""

from __future__ import annotations

from healthcheck.model.fleet import Settings
from healthcheck.model.node import NodeFacts


def settings(facts: NodeFacts) -> Settings:
    """What this node tells, by stable names; what it does not tell is left out. Several values are joined by `+`."""
    found: dict[str, set[str]] = {
        "driver": {gpu.driver for gpu in facts.gpus.value or () if gpu.driver},
        "gpu_model": {gpu.name for gpu in facts.gpus.value or ()},
    }
    if facts.mpi.value is not None:
        found["mpi"] = {f"{facts.mpi.value.family} {facts.mpi.value.version}"}
    return tuple((name, "+".join(sorted(values))) for name, values in found.items() if values)
