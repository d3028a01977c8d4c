"""What the network cards of a simulated node are called, and where they are on its PCIe bus."""

from __future__ import annotations

from functools import lru_cache

from healthcheck.model.platform import EFA, NicSpec

HCA_PLACES = (
    "0000:0c:00.0",
    "0000:12:00.0",
    "0000:4b:00.0",
    "0000:54:00.0",
    "0000:8d:00.0",
    "0000:94:00.0",
    "0000:ba:00.0",
    "0000:cc:00.0",
)
"""PCI address of each compute card, as in a DGX A100; more of them are further ports of the same cards."""
_EFA_BUSES = (16, 32, 144, 160)
"""Of the four adapters of a p4d; more of them stand four, or two, on one PCIe switch, as in a p5."""
_EFA_SLOT = 27
_EFA_SWITCHES = (79, 96, 113, 130, 147, 164, 181, 198)


def is_efa(nics: NicSpec) -> bool:
    """Are they the adapters of Amazon, which no driver of Mellanox drives?"""
    return nics.link_layer.lower() == EFA


def has_cards_of_mellanox(nics: NicSpec) -> bool:
    """InfiniBand or RoCE cards, as far as there are any."""
    return nics.count > 0 and not is_efa(nics)


@lru_cache(maxsize=64)
def device_names(nics: NicSpec) -> tuple[str, ...]:
    """The names in /sys/class/infiniband, rail by rail: `mlx5_0`, of EFA by bus and slot `rdmap16s27`."""
    if not is_efa(nics):
        return tuple(f"mlx5_{index}" for index in range(nics.count))
    return tuple(f"rdmap{bus}s{slot}" for bus, slot in (_efa_place(nics.count, index) for index in range(nics.count)))


def address(nics: NicSpec, index: int) -> str:
    """The PCI address of a card by its number."""
    if is_efa(nics):
        bus, slot = _efa_place(nics.count, index)
        return f"0000:{bus:02x}:{slot:02x}.0"
    return f"{HCA_PLACES[index % len(HCA_PLACES)][:-1]}{index // len(HCA_PLACES) % 8}"


def _efa_place(count: int, index: int) -> tuple[int, int]:
    if count <= len(_EFA_BUSES):
        return _EFA_BUSES[index], _EFA_SLOT
    each = max(1, -(-count // len(_EFA_SWITCHES)))
    return _EFA_SWITCHES[index // each % len(_EFA_SWITCHES)] + index % each, 0
