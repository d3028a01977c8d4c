"""What a simulated node says about its HCAs: ports, counters, and the way to them from user space.

A HCA planted with a lower rate is a bad cable: its port trained low, and its error counters grow. One planted as down
is silent and sends nothing.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable

from healthcheck.simulator.cluster import SimCluster, SimNode

FIRMWARE = "20.41.1000"
BOARD, CARD_TYPE = "MT_0000000223", "MT4123"
HCA_PLACES = (
    ("0000:0c:00.0", 3),
    ("0000:12:00.0", 3),
    ("0000:4b:00.0", 1),
    ("0000:54:00.0", 1),
    ("0000:8d:00.0", 7),
    ("0000:94:00.0", 7),
    ("0000:ba:00.0", 5),
    ("0000:cc:00.0", 5),
)
"""PCI address and NUMA node of each compute card, as in a DGX A100; repeated where a platform has more."""
RATE_TEXTS = {10: "4X SDR", 25: "1X EDR", 50: "1X HDR", 100: "2X HDR", 200: "4X HDR", 400: "4X NDR", 800: "4X XDR"}
DOWN_RATE_GBIT_S = 10.0
_FIRST_LIDS = 2, 40_000


def hcas(cluster: SimCluster, node: SimNode, text: str) -> str:
    """Lines `device port key value` as read below /sys/class/infiniband."""
    nics = cluster.platform.nics
    ethernet = nics.link_layer.lower() == "ethernet"
    lines = []
    for index, (device, share) in enumerate(zip(node.hcas, node.capability.rails, strict=True)):
        down = share == 0.0
        rate = DOWN_RATE_GBIT_S if down else nics.rate_gbit_s * share
        address, numa = HCA_PLACES[index % len(HCA_PLACES)]
        lid = 0 if ethernet or down else _lid(node.name, index)
        lines.append(
            f"{device} 0 fw_ver {FIRMWARE}\n"
            f"{device} 0 hca_type {CARD_TYPE}\n"
            f"{device} 0 board_id {BOARD}\n"
            f"{device} 0 numa_node {numa}\n"
            f"{device} 0 pci {address}\n"
            f"{device} 1 state {'1: DOWN' if down else '4: ACTIVE'}\n"
            f"{device} 1 phys_state {'2: Polling' if down else '5: LinkUp'}\n"
            f"{device} 1 rate {rate:g} Gb/sec ({RATE_TEXTS.get(round(rate), '4X HDR')})\n"
            f"{device} 1 link_layer {nics.link_layer}\n"
            f"{device} 1 lid {lid:#x}\n"
            f"{device} 1 sm_lid {0 if ethernet or down else 1:#x}\n"
            f"{device} 1 netdev {'eth' if ethernet else 'ib'}{index}\n"
            f"{device} 1 mtu {9000 if ethernet else 4092}\n"
        )
    return "".join(lines)


def _lid(host: str, index: int) -> int:
    """A LID of the port; two ports of a large fabric may share one, which nobody compares."""
    low, high = _FIRST_LIDS
    return low + zlib.crc32(f"{host}.{index}".encode()) % (high - low)


PARTS: dict[str, Callable[[SimCluster, SimNode, str], str]] = {"hcas": hcas}
"""By name of the part of the probe batch; the last argument is the text of the part."""
