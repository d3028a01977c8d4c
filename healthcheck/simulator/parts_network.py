"""What a simulated node says about its HCAs: ports, counters, and the way to them from user space.

A HCA planted with a lower rate is a bad cable: its port trained low, and its error counters grow. One planted as down
is silent and sends nothing.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from functools import lru_cache

from healthcheck.model.platform import NicSpec
from healthcheck.simulator.cluster import SimCluster, SimNode
from healthcheck.simulator.nics import address, is_efa

FIRMWARE = "20.41.1000"
BOARD, CARD_TYPE = "MT_0000000223", "MT4123"
RATE_TEXTS = {10: "4X SDR", 25: "1X EDR", 50: "1X HDR", 100: "2X HDR", 200: "4X HDR", 400: "4X NDR", 800: "4X XDR"}
DOWN_RATE_GBIT_S = 10.0
LOAD = 0.25
"""Share of its line rate that a port carries on average, benchmark or not."""
SICK_SINCE = 1_700_000_000.0
SYMBOL_ERRORS_A_SECOND, DAMAGED_PACKETS_A_SECOND = 3.0, 1.0
_NO_CARD = "#none\n"
_FIRST_LIDS = 2, 40_000


def hcas(cluster: SimCluster, node: SimNode, text: str) -> str:
    """Lines `device port key value` as read below /sys/class/infiniband."""
    nics = cluster.platform.nics
    if is_efa(nics):
        return _efa(nics, node)
    layer = nics.link_layer
    ethernet = layer.lower() != "infiniband"
    lines = [] if node.hcas else [_NO_CARD]
    for index, (device, share) in enumerate(zip(node.hcas, node.capability.rails, strict=True)):
        down = share == 0.0
        rate = DOWN_RATE_GBIT_S if down else nics.rate_gbit_s * share
        lid = 0 if ethernet or down else _lid(node.name, index)
        lines.append(
            f"{device} 0 fw_ver {FIRMWARE}\n"
            f"{device} 0 hca_type {CARD_TYPE}\n"
            f"{device} 0 board_id {BOARD}\n"
            f"{device} 0 pci {address(nics, index)}\n"
            f"{device} 1 state {'1: DOWN' if down else '4: ACTIVE'}\n"
            f"{device} 1 phys_state {'2: Polling' if down else '5: LinkUp'}\n"
            f"{device} 1 rate {rate:g} Gb/sec ({RATE_TEXTS.get(round(rate), '4X HDR')})\n"
            f"{device} 1 link_layer {layer}\n"
            f"{device} 1 lid {lid:#x}\n"
            f"{device} 1 sm_lid {0 if ethernet or down else 1:#x}\n"
            f"{device} 1 netdev {'eth' if ethernet else 'ib'}{index}\n"
            f"{device} 1 mtu {9000 if ethernet else 4092}\n"
        )
    return "".join(lines)


def _efa(nics: NicSpec, node: SimNode) -> str:
    """The adapters of Amazon: a driver of their own, no subnet manager, and a link layer without a name."""
    lines = []
    for index, (device, share) in enumerate(zip(node.hcas, node.capability.rails, strict=True)):
        down = share == 0.0
        rate = DOWN_RATE_GBIT_S if down else nics.rate_gbit_s * share
        lines.append(
            f"{device} 0 fw_ver 0.0.0.0\n"
            f"{device} 0 pci {address(nics, index)}\n"
            f"{device} 0 driver efa\n"
            f"{device} 1 state {'1: DOWN' if down else '4: ACTIVE'}\n"
            f"{device} 1 phys_state {'2: Polling' if down else '5: LinkUp'}\n"
            f"{device} 1 rate {rate:g} Gb/sec ({RATE_TEXTS.get(round(rate), '4X HDR')})\n"
            f"{device} 1 link_layer Unspecified\n"
            f"{device} 1 lid 0x0\n"
            f"{device} 1 sm_lid 0x0\n"
        )
    return "".join(lines)


def hca_counters(cluster: SimCluster, node: SimNode, text: str) -> str:
    """Lines `device port counter value`. Every port that is up moves the same: each ring waits for its slowest.

    The adapters of Amazon have counters of other names, which the part does not ask for.
    """
    if is_efa(cluster.platform.nics):
        return ""
    now = cluster.now()
    words = int(now * cluster.platform.nics.rate_gbit_s * 1e9 / 8 / 4 * LOAD)
    sick_for_s = max(0.0, now - SICK_SINCE)
    healthy, flat = _counted(words, 0, 0), _counted(0, 0, 0)
    sick = _counted(words, int(sick_for_s * SYMBOL_ERRORS_A_SECOND), int(sick_for_s * DAMAGED_PACKETS_A_SECOND))
    lines = []
    for device, share in zip(node.hcas, node.capability.rails, strict=True):
        counted = flat if share == 0.0 else healthy if share >= 1.0 else sick
        lines += [f"{device} 1 {name} {value}\n" for name, value in counted]
    return "".join(lines)


def _counted(words: int, symbol_errors: int, damaged: int) -> tuple[tuple[str, int], ...]:
    return (
        ("link_downed", 1),
        ("symbol_error", symbol_errors),
        ("link_error_recovery", 0),
        ("port_rcv_errors", damaged),
        ("local_link_integrity_errors", 0),
        ("excessive_buffer_overrun_errors", 0),
        ("port_rcv_remote_physical_errors", 0),
        ("VL15_dropped", 2),
        ("port_xmit_data", words),
        ("port_rcv_data", words),
        ("port_xmit_discards", 0),
        ("port_xmit_wait", words // 400),
        ("local_ack_timeout_err", damaged // 50),
        ("packet_seq_err", damaged // 20),
        ("implied_nak_seq_err", 0),
        ("rnr_nak_retry_err", 0),
        ("req_cqe_error", 12),
        ("resp_cqe_error", 96),
        ("req_cqe_flush_error", 12),
        ("resp_cqe_flush_error", 96),
    )


def verbs(cluster: SimCluster, node: SimNode, text: str) -> str:
    """One uverbs file a card, and the lines of ibv_devinfo that the part keeps."""
    return _verbs(node.hcas, tuple(share == 0.0 for share in node.capability.rails))


@lru_cache(maxsize=64)
def _verbs(devices: tuple[str, ...], down: tuple[bool, ...]) -> str:
    files = "".join(f"node uverbs{index} {device} ok\n" for index, device in enumerate(devices))
    states = ("PORT_DOWN (1)" if one else "PORT_ACTIVE (4)" for one in down)
    ports = "".join(
        f"hca_id:\t{device}\n\t\tport:\t1\n\t\t\tstate:\t\t\t{state}\n\t\t\tactive_mtu:\t\t4096 (5)\n"
        for device, state in zip(devices, states, strict=True)
    )
    return f"{files}#devinfo 0\n{ports}"


def _lid(host: str, index: int) -> int:
    """A LID of the port; two ports of a large fabric may share one, which nobody compares."""
    low, high = _FIRST_LIDS
    return low + zlib.crc32(f"{host}.{index}".encode()) % (high - low)


PARTS: dict[str, Callable[[SimCluster, SimNode, str], str]] = {
    "hcas": hcas,
    "hca_counters": hca_counters,
    "verbs": verbs,
}
"""By name of the part of the probe batch; the last argument is the text of the part."""
