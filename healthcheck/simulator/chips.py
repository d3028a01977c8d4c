"""What GPUs of one architecture have in common, as the driver tells it. Another architecture is another row.

Clocks: data sheets of the vendor; PCI ids: https://pci-ids.ucw.cz/v2.2/pci.ids; speeds of links as `nvidia-smi nvlink
-s` prints them (test data of https://github.com/leptonai/gpud).
"""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec import Struct


class Chip(Struct, frozen=True):
    """One row. `pattern` is looked for in the name of a GPU; clocks in MHz, `pcie` is a generation.

    `vbios` empty: the one of the software of the cluster. `oldest_driver`: the first one with which such machines do
    what they can (NVLS needs NCCL 2.17 or newer, which came with it). `switches`: PCI addresses and id of the
    NVSwitches of a full board. `reads_peers`: NCCL reads over NVLink instead of writing. `cpu` is what the machines of
    this time have around it.
    """

    pattern: str
    pcie: int
    sm_mhz: int
    idle_mhz: int
    pci_id: str
    link_gbyte_s: str = ""
    vbios: str = ""
    brand: str = "NVIDIA"
    mig: str = "Disabled"
    remaps: bool = True
    joins_fabric: bool = False
    reads_peers: bool = False
    oldest_driver: int = 0
    switches: tuple[str, ...] = ()
    switch_id: str = ""
    arch: str = "x86_64"
    cpu: str = "AMD EPYC 7742 64-Core Processor"


_A100_SWITCHES = ("c4", "c5", "c6", "c7", "c8", "c9")
_HOPPER_SWITCHES = ("05", "06", "07", "08")
_DGX2_SWITCHES = ("34", "36", "39", "3b", "57", "59", "5c", "5e", "b7", "b9", "bc", "be")
_XEON, _XEON_4 = "Intel(R) Xeon(R) CPU E5-2698 v4 @ 2.20GHz", "Intel(R) Xeon(R) Platinum 8480C"

CHIPS = (
    Chip(
        r"\b(P100|V100)\b",
        3,
        1530,
        135,
        "1db5",
        "25.781",
        vbios="88.00.9D.00.01",
        brand="Tesla",
        mig="[N/A]",
        remaps=False,
        switches=_DGX2_SWITCHES,
        switch_id="1ac2",
        cpu=_XEON,
    ),
    Chip(r"\bL40S?\b", 4, 2520, 210, "26b9", vbios="95.02.66.00.02", mig="[N/A]"),
    Chip(
        r"\b(H100|H200)\b.*\b(PCIe|NVL)\b",
        5,
        1755,
        345,
        "2331",
        "26.562",
        vbios="96.00.74.00.11",
        oldest_driver=525,
        cpu=_XEON_4,
    ),
    Chip(
        r"\b(H100|H200|H800|H20)\b",
        5,
        1980,
        345,
        "2330",
        "26.562",
        vbios="96.00.74.00.01",
        joins_fabric=True,
        oldest_driver=550,
        switches=_HOPPER_SWITCHES,
        switch_id="22a3",
        cpu=_XEON_4,
    ),
    # Its switches are none of the PCI devices of the machine.
    Chip(
        r"\bGB[23]00\b",
        5,
        2062,
        120,
        "2941",
        "53.125",
        vbios="97.00.82.00.18",
        joins_fabric=True,
        oldest_driver=570,
        arch="aarch64",
        cpu="Neoverse-V2",
    ),
    Chip(
        r"\bB[123]00\b",
        5,
        1965,
        120,
        "2901",
        "53.125",
        vbios="97.00.82.00.12",
        joins_fabric=True,
        oldest_driver=570,
        cpu=_XEON_4,
    ),
    Chip(r"", 4, 1410, 210, "20b2", "25", reads_peers=True, switches=_A100_SWITCHES, switch_id="1af1"),
)
"""The first row that fits holds; the last one, of A100 and A800, fits all."""


@lru_cache(maxsize=256)
def chip_named(name: str) -> Chip:
    """The row of a GPU by its name or a part of it."""
    return next(row for row in CHIPS if re.search(row.pattern, name, re.IGNORECASE))
