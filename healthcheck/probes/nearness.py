"""Which NICs are near a GPU?

A NIC of the compute network sits below the PCIe switch of a GPU; those of the storage and of the management network
sit behind the processor. `nvidia-smi topo -m` says so; where it gave no answer, the bridges above the cards do: what
shares one of them shares a switch. A virtual machine makes its bus up, so there nothing is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from msgspec import Struct

from healthcheck.model.fabric_facts import NEAR, PciDevice, Topology, distance
from healthcheck.model.node import NodeFacts


class Nearness(Struct, frozen=True):
    """`near`: how far each NIC that is near a GPU is from it, 0 the nearest; `far`: the NICs that are near none.

    A NIC that was not seen is in neither. `uneven`: not all GPUs have equally many near NICs. All of it is empty where
    no NIC is near: then the machine is built that way, and nothing tells its networks apart.
    """

    near: Mapping[str, int] = {}
    far: frozenset[str] = frozenset()
    uneven: bool = False


UNKNOWN = Nearness()


def nearness(facts: NodeFacts) -> Nearness:
    """What the matrix of a node says about its NICs, or else its bridges."""
    if is_virtual(facts):
        return UNKNOWN
    found = UNKNOWN if facts.topology.value is None else _by_matrix(facts.topology.value)
    return found if found.near or facts.pcie.value is None else _by_bridges(facts.pcie.value)


def is_virtual(facts: NodeFacts) -> bool:
    """Whether the node is known to be a virtual machine."""
    return facts.iommu.value is not None and facts.iommu.value.virtual


# Nodes of one kind print the same, and equal answers are read into one value.
@lru_cache(maxsize=256)
def _by_matrix(matrix: Topology) -> Nearness:
    first = len(matrix.gpus)
    columns = {
        device: [cells[first + place] for cells in matrix.cells] for place, (_, device) in enumerate(matrix.nics)
    }
    return _nearness({device: [distance(cell) for cell in cells] for device, cells in columns.items()})


@lru_cache(maxsize=256)
def _by_bridges(devices: tuple[PciDevice, ...]) -> Nearness:
    gpus = [set(device.above) for device in devices if device.hca is None]
    return _nearness(
        {
            device.hca: [0 if above.intersection(device.above) else len(NEAR) for above in gpus]
            for device in devices
            if device.hca is not None
        }
    )


def _nearness(distances: Mapping[str, list[int]]) -> Nearness:
    """From the distance of each NIC to each GPU."""
    nearest = {device: min(steps) for device, steps in distances.items() if steps}
    near = {device: steps for device, steps in nearest.items() if steps < len(NEAR)}
    if not near:
        return UNKNOWN
    owned = {sum(step < len(NEAR) for step in steps) for steps in zip(*distances.values(), strict=True)}
    return Nearness(near, frozenset(nearest.keys() - near.keys()), len(owned) > 1)
