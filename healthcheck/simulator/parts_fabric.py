"""What a simulated node says about the paths inside it: topology, PCIe, GPUDirect, ACS and IOMMU.

Two GPUs and their NICs share a PCIe switch, as in a DGX A100; half of the switches belong to each processor. GPUs of
Grace are joined to the processor itself, beside their NICs.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from healthcheck.model.platform import NicSpec
from healthcheck.simulator.chips import chip_named
from healthcheck.simulator.cluster import SimCluster, SimNode
from healthcheck.simulator.gpu_names import bus_of, gpu_model
from healthcheck.simulator.nics import address, has_cards_of_mellanox, is_efa
from healthcheck.simulator.nvlinks import Cells, cells, links_of_gpu
from healthcheck.simulator.parts_gpus import inactive_links

_GPUS_OF_A_SWITCH = 2
_NUMA_ID_SINCE = 530
"""The first driver that prints the column GPU NUMA ID."""

_LEGEND = """
Legend:

  X    = Self
  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes (e.g., QPI/UPI)
  NODE = Connection traversing PCIe as well as the interconnect between PCIe Host Bridges within a NUMA node
  PHB  = Connection traversing PCIe as well as a PCIe Host Bridge (typically the CPU)
  PXB  = Connection traversing multiple PCIe bridges (without traversing the PCIe Host Bridge)
  PIX  = Connection traversing at most a single PCIe bridge
  NV#  = Connection traversing a bonded set of # NVLinks
"""
_SPEEDS = ((100.0, "8.0"), (200.0, "16.0"), (400.0, "32.0"), (float("inf"), "64.0"))
"""The slowest PCIe generation whose 16 lanes carry a NIC of that rate: (Gb/s, GT/s a lane)."""
_ONE_BRIDGE_SINCE = 5
"""The PCIe generation since which a GPU and its NIC have a single bridge between them on boards."""
_GT_S = {3: "8.0", 4: "16.0", 5: "32.0", 6: "64.0"}


def topology(cluster: SimCluster, node: SimNode, text: str) -> str:
    """`nvidia-smi topo -m`; a GPU whose NVLinks are weak shows fewer of them to every other one."""
    platform, model = cluster.platform, gpu_model(cluster.platform)
    newer = int(node.driver.partition(".")[0]) >= _NUMA_ID_SINCE
    kind = chip_named(model)
    switched = kind.arch == "x86_64"
    near = "PXB" if kind.pcie < _ONE_BRIDGE_SINCE and links_of_gpu(platform) else "PIX"
    joined = _weakened(cells(platform), node.capability.nvlink)
    return _matrix(node.gpus, platform.gpu.count, node.hcas, joined, near if switched else "NODE", newer)


@lru_cache(maxsize=64)
def _weakened(joined: Cells, share: float) -> Cells:
    """Where the NVLinks of GPU 0 are weak it shares fewer of them with the others."""
    if share >= 1.0:
        return joined
    left = [links - inactive_links(links, share) if links else 0 for links in joined[0]]
    return (
        tuple(left),
        *((left[row], *joined[row][1:]) for row in range(1, len(joined))),
    )


@lru_cache(maxsize=64)
def _matrix(gpus: int, places: int, nics: tuple[str, ...], joined: Cells, near: str, newer: bool) -> str:
    gpu_switches = [index // _GPUS_OF_A_SWITCH for index in range(gpus)]
    nic_switches = [index * places // len(nics) // _GPUS_OF_A_SWITCH for index in range(len(nics))]
    switches, halfway = [*gpu_switches, *nic_switches], (places // _GPUS_OF_A_SWITCH + 1) // 2
    labels = [*(f"GPU{index}" for index in range(gpus)), *(f"NIC{index}" for index in range(len(nics)))]
    behind = ["CPU Affinity", "NUMA Affinity", *(["GPU NUMA ID"] if newer else [])]
    lines = ["\t" + "\t".join(f"\x1b[4m{label}\x1b[0m" for label in [*labels, *behind])]
    for row, label in enumerate(labels):
        words = [_cell(row, column, gpus, switches, halfway, joined, near) for column in range(len(labels))]
        numa = switches[row] // halfway
        tail = f"{numa * 64}-{numa * 64 + 63}\t{numa}" + ("\t\tN/A" if newer else "")
        lines.append("\t".join([label, *words, tail if row < gpus else "\t" * (len(behind) - 1)]))
    legend = "".join(f"  NIC{index}: {device}\n" for index, device in enumerate(nics))
    return "\n".join(lines) + f"\n{_LEGEND}" + (f"\nNIC Legend:\n\n{legend}\n" if nics else "")


def _cell(row: int, column: int, gpus: int, switches: list[int], halfway: int, joined: Cells, near: str) -> str:
    if row == column:
        return " X "
    if row < gpus and column < gpus and joined[row][column]:
        return f"NV{joined[row][column]}"
    if switches[row] == switches[column]:
        return near
    return "NODE" if switches[row] // halfway == switches[column] // halfway else "SYS"


def pcie(cluster: SimCluster, node: SimNode, text: str) -> str:
    """GPUs and HCAs in sysfs, every link as wide and fast as it can be."""
    nics, chip = cluster.platform.nics, chip_named(gpu_model(cluster.platform))
    return _devices(node.gpus, cluster.platform.gpu.count, node.hcas, nics, _GT_S[chip.pcie])


@lru_cache(maxsize=64)
def _devices(gpus: int, places: int, devices: tuple[str, ...], nics: NicSpec, gpu_speed: str) -> str:
    speed = next(speed for most, speed in _SPEEDS if nics.each_gbyte_s * 8 <= most)
    lines = [
        _device("gpu", "-", f"0000:{bus_of(index)}:00.0", index // _GPUS_OF_A_SWITCH, gpu_speed)
        for index in range(gpus)
    ]
    for index, device in enumerate(devices):
        switch = index * places // len(devices) // _GPUS_OF_A_SWITCH
        lines.append(_device("hca", device, address(nics, index), switch, speed))
    return "".join(f"{line}\n" for line in lines) + "#end\n"


def _device(kind: str, device: str, bus_id: str, switch: int, speed: str) -> str:
    link = f"{speed} GT/s PCIe|16"
    way = f"/sys/devices/pci0000:{switch:x}0/0000:{switch:x}0:01.1/0000:{switch:x}1:00.0/0000:{switch:x}2:08.0"
    return f"{kind}|{device}|{bus_id}|{link}|{link}|{link}|{way}/{bus_id}"


def gpudirect(cluster: SimCluster, node: SimNode, text: str) -> str:
    """Modules, driver and kernel; where GPUDirect is planted as lost, closed modules without nvidia_peermem."""
    generation, nics = cluster.generation, cluster.platform.nics
    lines = ["module mlx5_ib 389120 16 - Live 0x0000000000000000"] if has_cards_of_mellanox(nics) else []
    lines += ["module efa 94208 0 - Live 0x0000000000000000"] if is_efa(nics) else []
    flavour = "x86_64 Kernel Module "
    if node.gdr and generation.open_modules:
        flavour = "Open Kernel Module for x86_64 "
    elif node.gdr and has_cards_of_mellanox(nics):
        lines += [
            "module nvidia_peermem 16384 0 - Live 0x0000000000000000",
            f"version /sys/module/nvidia_peermem/version {node.driver}",
            f"version /sys/kernel/mm/memory_peers/nv_mem/version {node.driver}",
        ]
    lines += [f"driver NVRM version: NVIDIA UNIX {flavour} {node.driver}", f"kernel {generation.kernel}", "#end\n"]
    return "\n".join(lines)


def acs(cluster: SimCluster, node: SimNode, text: str) -> str:
    """`lspci -vvv` of the bridges, as a user without root sees it."""
    return (
        "0000:01:00.0 PCI bridge: Broadcom / LSI PEX880xx PCIe Gen 4 Switch (rev b0) (prog-if 00 [Normal decode])\n"
        "\tCapabilities: <access denied>\n"
        "0000:02:08.0 PCI bridge: Broadcom / LSI PEX880xx PCIe Gen 4 Switch (rev b0) (prog-if 00 [Normal decode])\n"
        "\tCapabilities: <access denied>\n#end\n"
    )


def iommu(cluster: SimCluster, node: SimNode, text: str) -> str:
    """Passed through; a kernel older than 5.11 does not say in which domain the GPUs are."""
    old = cluster.generation.kernel.startswith("5.4.")
    domains = "" if old else "domain identity\n" * node.gpus
    return f"word iommu=pt\nmachine none\nunit ivhd0\nunit ivhd1\n{domains}groups 214\n"


PARTS: dict[str, Callable[[SimCluster, SimNode, str], str]] = {
    "topology": topology,
    "pcie": pcie,
    "gpudirect": gpudirect,
    "acs": acs,
    "iommu": iommu,
}
"""By name of the part of the probe batch; the last argument is the text of the part."""
