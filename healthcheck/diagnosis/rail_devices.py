"""Which HCA carries which rail of a node, by the matrix of `nvidia-smi topo -m`."""

from __future__ import annotations

from healthcheck.model.fabric_facts import Topology, distance


def rail_devices(topology: Topology | None) -> tuple[str, ...]:
    """The device of each GPU in order: the nearest one; GPUs that share their nearest ones take them in turn.

    Nothing where the matrix was not read or shows no cards.
    """
    if topology is None or not topology.nics:
        return ()
    size = len(topology.gpus)
    taken: dict[tuple[int, ...], int] = {}
    devices = []
    for cells in topology.cells[:size]:
        far = [distance(cell) for cell in cells[size : size + len(topology.nics)]]
        if not far:
            return ()
        near = tuple(place for place, steps in enumerate(far) if steps == min(far))
        turn = taken.get(near, 0)
        taken[near] = turn + 1
        devices.append(topology.nics[near[turn % len(near)]][1])
    return tuple(devices)
