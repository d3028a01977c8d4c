"""What Linux says about the ports of its InfiniBand and RoCE cards: sysfs, ibstat, ibv_devinfo, rdma link.

All readers give the same noun, whatever they could read of it. Texts are kept as printed, so that they can be quoted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from healthcheck.model.network_facts import PortCounters
from healthcheck.model.node import Hca

SYSFS = "/sys/class/infiniband"
IBSTAT, IBV_DEVINFO, RDMA_LINK = "ibstat", "ibv_devinfo", "rdma link"

_Values = dict[tuple[str, int], dict[str, str]]
"""What is known of (device, port); port 0 is the card itself."""

_PORT_KEYS = frozenset({"state", "phys_state", "rate", "link_layer", "lid", "sm_lid", "netdev", "mtu"})
_CARD_KEYS = frozenset({"fw_ver", "hca_type", "board_id", "pci", "driver"})
_DEVICE = re.compile(r"\w[\w.\-]{0,63}", re.ASCII)
_NUMBER = re.compile(r"\d{1,20}", re.ASCII)
_LID = re.compile(r"(?:0x)?[0-9a-f]{1,8}", re.ASCII | re.IGNORECASE)
_PCI = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]", re.ASCII)
_RATE = re.compile(r"(\d{1,4}(?:\.\d{1,3})?)(?: Gb/sec\b.*)?", re.ASCII)
_LANES = re.compile(r"(\d{1,2})X\b.*", re.ASCII)
_LANE_RATE = re.compile(r"(\d{1,4}(?:\.\d{1,3})?) Gbps\b.*", re.ASCII)
_IBSTAT_CARD = re.compile(r"CA '(?P<dev>\w[\w.\-]{0,63})'", re.ASCII)
_IBSTAT_PORT = re.compile(r"\s+Port (?P<port>\d{1,3}):", re.ASCII)
_IBSTAT_KEYS = {
    "ca type": "hca_type",
    "firmware version": "fw_ver",
    "state": "state",
    "physical state": "phys_state",
    "rate": "rate",
    "base lid": "lid",
    "sm lid": "sm_lid",
    "link layer": "link_layer",
}
_DEVINFO_KEYS = {
    "fw_ver": "fw_ver",
    "board_id": "board_id",
    "vendor_part_id": "part",
    "state": "state",
    "phys_state": "phys_state",
    "port_lid": "lid",
    "sm_lid": "sm_lid",
    "link_layer": "link_layer",
    "active_mtu": "active_mtu",
    "active_width": "width",
    "active_speed": "speed",
}
_RDMA_PORT = re.compile(
    r"(?:link|\d{1,5}/\d{1,5}:) (?P<dev>\w[\w.\-]{0,63})/(?P<port>\d{1,3}):? (?P<rest>.+)", re.ASCII
)
_RDMA_KEYS = {
    "state": "state",
    "physical_state": "phys_state",
    "lid": "lid",
    "sm_lid": "sm_lid",
    "netdev": "netdev",
}


def read_sysfs(lines: Iterable[str]) -> tuple[Hca, ...]:
    """Ports from lines `<device> <port> <file> <its first line>`, as the part `hcas` prints them."""
    values: dict[tuple[str, str], dict[str, str]] = {}
    for line in lines:
        words = line.split(" ", 3)
        if len(words) < 4:
            continue
        place = words[0], words[1]
        found = values.get(place)
        if found is None:
            if not _is_port(*place):
                continue
            found = values[place] = {}
        if words[2] in (_CARD_KEYS if words[1] == "0" else _PORT_KEYS):
            found[words[2]] = words[3].strip()[:200]
    return _ports({(device, int(port)): found for (device, port), found in values.items()}, SYSFS)


def read_ibstat(lines: Iterable[str]) -> tuple[Hca, ...]:
    """Ports from the output of `ibstat`."""
    values: _Values = {}
    device, port = "", 0
    for line in lines:
        card, numbered = _IBSTAT_CARD.match(line), _IBSTAT_PORT.match(line)
        if card is not None:
            device, port = card["dev"], 0
        elif numbered is not None:
            port = int(numbered["port"])
        elif device:
            _take(values, device, port, line, _IBSTAT_KEYS)
    return _ports(values, IBSTAT)


def read_ibv_devinfo(lines: Iterable[str]) -> tuple[Hca, ...]:
    """Ports from the output of `ibv_devinfo`; only with `-v` it tells width and speed, so a rate."""
    values: _Values = {}
    device, port = "", 0
    for line in lines:
        key, _, value = line[:400].partition(":")
        key, value = key.strip(), value.strip()
        if key == "hca_id":
            device, port = (value, 0) if _DEVICE.fullmatch(value) else ("", 0)
        elif key == "port" and device and _is_port(device, value):
            port = int(value)
        elif device:
            _take(values, device, port, line, _DEVINFO_KEYS)
    for found in values.values():
        lanes, each = _LANES.fullmatch(found.get("width", "")), _LANE_RATE.fullmatch(found.get("speed", ""))
        if lanes is not None and each is not None:
            found["rate"] = f"{int(lanes[1]) * float(each[1]):g} Gb/sec ({found['width']} x {found['speed']})"
        if "part" in found:
            found["hca_type"] = f"MT{found['part']}"
    return _ports(values, IBV_DEVINFO)


def read_rdma_link(lines: Iterable[str]) -> tuple[Hca, ...]:
    """Ports from the output of `rdma link`. It tells no rate, and InfiniBand only by the LID it prints."""
    values: _Values = {}
    for line in lines:
        match = _RDMA_PORT.fullmatch(line[:400].strip())
        if match is None:
            continue
        words = match["rest"].split()
        found = {
            _RDMA_KEYS[key]: value for key, value in zip(words[::2], words[1::2], strict=False) if key in _RDMA_KEYS
        }
        if "lid" in found:
            found["link_layer"] = "InfiniBand"
        values[match["dev"], int(match["port"])] = found
    return _ports(values, RDMA_LINK)


def read_counters(lines: Iterable[str], known: frozenset[str]) -> tuple[PortCounters, ...]:
    """Counters from lines `<device> <port> <counter> <value>`; what is not a number (`N/A (no PMA)`) is left out."""
    values: dict[tuple[str, str], list[tuple[str, int]]] = {}
    for line in lines:
        words = line.split()
        if len(words) != 4 or words[2] not in known or not _NUMBER.fullmatch(words[3]):
            continue
        place = words[0], words[1]
        counters = values.get(place)
        if counters is None:
            if not _is_port(*place):
                continue
            counters = values[place] = []
        counters.append((words[2], int(words[3])))
    return tuple(PortCounters(device, int(port), tuple(found)) for (device, port), found in values.items())


def _is_port(device: str, port: str) -> bool:
    """Whether these name a port; the digits of other scripts are numbers to Python and none to us."""
    return len(port) <= 3 and port.isascii() and port.isdecimal() and _DEVICE.fullmatch(device) is not None


def _take(values: _Values, device: str, port: int, line: str, keys: dict[str, str]) -> None:
    """Note `key: value` of the card or port the reader is at."""
    key, colon, value = line[:400].partition(":")
    known = keys.get(key.strip().lower()) if colon else None
    if known is not None:
        values.setdefault((device, port), {})[known] = value.strip()


def _ports(values: _Values, source: str) -> tuple[Hca, ...]:
    ports: list[Hca] = []
    for (device, port), found in values.items():
        if port == 0 or not ("state" in found or "rate" in found):
            continue
        card = values.get((device, 0), {})
        rate = found.get("rate", "")
        number = _RATE.fullmatch(rate)
        pci = card.get("pci", "")
        ports.append(
            Hca(
                device=device,
                port=port,
                state=found.get("state", ""),
                physical_state=found.get("phys_state", ""),
                rate_gbit_s=float(number[1]) if number is not None else None,
                rate_text=rate,
                link_layer=found.get("link_layer", ""),
                firmware=card.get("fw_ver") or None,
                board_id=card.get("board_id") or None,
                hca_type=card.get("hca_type") or None,
                lid=_lid(found.get("lid", "")),
                sm_lid=_lid(found.get("sm_lid", "")),
                pci_address=pci if _PCI.fullmatch(pci) else None,
                netdev=found.get("netdev") or None,
                mtu=_number(found.get("mtu", "")),
                active_mtu=_number(found.get("active_mtu", "").partition(" ")[0]),
                driver=card.get("driver") or None,
                source=source,
            )
        )
    return tuple(ports)


def _lid(text: str) -> int | None:
    """sysfs writes 0x1c, the tools 28."""
    if not _LID.fullmatch(text):
        return None
    if text[:2].lower() == "0x":
        return int(text, 16)
    return int(text) if text.isdecimal() else None


def _number(text: str) -> int | None:
    return int(text) if _NUMBER.fullmatch(text) else None
