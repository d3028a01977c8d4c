"""What a simulated node says about its operating system."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from healthcheck.model.platform import NicSpec
from healthcheck.simulator.chips import chip_named
from healthcheck.simulator.cluster import SimCluster, SimNode
from healthcheck.simulator.generations import Generation
from healthcheck.simulator.gpu_names import gpu_model
from healthcheck.simulator.nics import address, has_cards_of_mellanox
from healthcheck.simulator.nvlinks import is_switched

UPTIME_S = 1_209_600.25
"""Two weeks, on every node."""


def clock(cluster: SimCluster, node: SimNode, text: str) -> str:
    """The time of day, and that it is kept by a time server."""
    return f"now {cluster.now():.9f}\nsynchronised yes\n"


def kernel_log(cluster: SimCluster, node: SimNode, text: str) -> str:
    """A log in which every link came up, or did not, long ago, and nothing happened since."""
    return (
        f"now {cluster.now():.9f} {UPTIME_S:.2f}\nsource dmesg\n{_links(node.capability.rails, cluster.platform.nics)}"
    )


@lru_cache(maxsize=64)
def _links(rails: tuple[float, ...], nics: NicSpec) -> str:
    lines = ["last [1209322.118204] systemd-journald[1042]: Sent WATCHDOG=1 notification."]
    for place, share in enumerate(rails if has_cards_of_mellanox(nics) else ()):
        card = f"mlx5_core {address(nics, place)} ib{place}"
        lines.append(f"[   {30 + place}.482913] {card}: Link {'up' if share else 'down'}")
    return "\n".join([*lines, ""])


def limits(cluster: SimCluster, node: SimNode, text: str) -> str:
    """What an HPC image sets."""
    return _LIMITS


_LIMITS = """\
memlock unlimited
files 1048576
stack 8192
cap 0000000000000000
nccl 0
shm tmpfs 1056485376 0 1056485376 0% /dev/shm
"""


def cpu(cluster: SimCluster, node: SimNode, text: str) -> str:
    """Two sockets at full speed."""
    return f"{_CPU}model {chip_named(gpu_model(cluster.platform)).cpu}\n"


_CPU = """\
online 0-127
governor 128 performance
driver acpi-cpufreq
numa 8
balancing 0
"""


def software(cluster: SimCluster, node: SimNode, text: str) -> str:
    """The versions of the cluster's generation, with the driver of this node and the modules that fit it."""
    chip, cards = chip_named(gpu_model(cluster.platform)), has_cards_of_mellanox(cluster.platform.nics)
    return _software(cluster.generation, node.driver, node.gdr, chip.arch, is_switched(cluster.platform), cards)


@lru_cache(maxsize=64)
def _software(generation: Generation, driver: str, gdr: bool, arch: str, switched: bool, cards: bool) -> str:
    # Without GPUDirect the modules are the closed ones, which offer no DMA-BUF.
    flavour = f"Open Kernel Module for {arch}" if generation.open_modules and gdr else f"{arch} Kernel Module"
    return (
        f"kernel {generation.kernel}\n"
        f"os {generation.os}\n"
        f"nccl /usr/lib/{arch}-linux-gnu/libnccl.so.{generation.nccl}\n"
        + (f"ofed {generation.ofed}\n" if cards else "")
        + (f"fabricmanager ii {driver}-1\n" if switched else "")
        + f"modules NVIDIA UNIX {flavour}  {driver}  Release Build\n"
        f"cuda {generation.cuda}\n"
    )


def nccl_settings(cluster: SimCluster, node: SimNode, text: str) -> str:
    """No NCCL variable is set anywhere."""
    return "settings\n"


PARTS: dict[str, Callable[[SimCluster, SimNode, str], str]] = {
    "clock": clock,
    "clock_end": clock,
    "kernel_log": kernel_log,
    "limits": limits,
    "cpu": cpu,
    "software": software,
    "nccl_settings": nccl_settings,
}
"""By name of the part of the probe batch; the last argument is the text of the part."""
