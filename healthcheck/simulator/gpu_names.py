"""What the GPUs of a simulated node are called: model, identity and place on the PCIe bus."""

from __future__ import annotations

import uuid
from functools import lru_cache

from healthcheck.model.platform import Platform
from healthcheck.simulator.chips import chip_named

_BUSES = ("07", "0f", "47", "4e", "87", "90", "b7", "bd", "c1", "c7", "cd", "d1", "d7", "dd", "e1", "e7")


def gpu_model(platform: Platform) -> str:
    """The name nvidia-smi prints for the GPUs of a platform."""
    name = platform.gpu.names[0]
    return name if name.startswith(("NVIDIA", "Tesla")) else f"{chip_named(name).brand} {name}"


def bus_of(index: int) -> str:
    """The PCIe bus of a GPU, two hexadecimal digits in lower case."""
    return _BUSES[index % len(_BUSES)]


@lru_cache(maxsize=1 << 14)
def gpu_uuid(host: str, index: int) -> str:
    """`GPU-...`: the same GPU of the same node answers with the same one in every run."""
    return f"GPU-{uuid.uuid5(uuid.NAMESPACE_DNS, f'{host}.gpu{index}.simulated')}"
