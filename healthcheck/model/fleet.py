"""What is installed and set on the nodes of a run, side by side."""

from __future__ import annotations

from msgspec import Struct

Settings = tuple[tuple[str, str], ...]
"""What one node has: (name, value). A name may carry its subject in brackets: `hca_firmware[MT_0000000223]`."""

PINNABLE = ("driver", "cuda", "nccl", "libnccl", "vbios", "hca_firmware", "ofed", "mpi", "kernel", "os")
"""What a playbook or a platform may pin, by the name without brackets."""


class FleetValue(Struct, frozen=True):
    """One value and who has it: `nodes` is a folded node set, `count` how many nodes that is."""

    value: str
    nodes: str
    count: int


class FleetSetting(Struct, frozen=True):
    """One version or setting over all nodes that told it; the most common value first."""

    name: str
    values: tuple[FleetValue, ...]
