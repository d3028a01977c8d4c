"""Lines of the kernel log about GPUs, NVSwitches, network cards, PCIe and memory.

Shapes as the drivers print them: https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html for Xid, the
sources of mlx5 and of the PCIe error reporting of Linux for the rest. A line may come from `dmesg` (`[  12.345678]
text`, since 5.x also with `[ T123]`) or from `journalctl -o short-monotonic` (`[   12.345678] host kernel: text`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from healthcheck.model.system_facts import EventKind, KernelEvent

# What the node itself filters by, for grep -E: a superset of what is understood here.
WANTED = (
    "NVRM: Xid|SXid [(]|PCIe Bus Error|ut of memory: Kill|blocked for more than|nv_get_p2p|nvidia.peermem|"
    "[Ll]ink (is )?([Dd]own|[Uu]p)|Cable unplugged"
)
LIMITED = "available PCIe bandwidth, limited by"
LINE_LIMIT = 400
"""Characters of a line that count; none of those we know is half as long."""

_STAMP = re.compile(r"\[\s{0,12}(\d{1,10}\.\d{1,9})\]")
_BUS = r"(?P<bus>(?:[0-9A-Fa-f]{4,8}:)?[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}(?:\.[0-7])?)"
_XID = re.compile(rf"NVRM: Xid \((?:PCI:)?{_BUS}\): (?P<code>\d{{1,5}})\b(?P<rest>.*)")
_SXID = re.compile(rf"SXid \((?:PCI:)?{_BUS}\): (?P<code>\d{{1,6}})\b(?P<rest>.*)")
_SAYS_FATAL = re.compile(r"\b(?P<non>non-?)?fatal\b", re.IGNORECASE)
_AER = re.compile(rf"{_BUS}: PCIe Bus Error: severity=(?P<severity>\w+)(?: \((?P<fatal>[\w-]+)\))?")
_LINK = re.compile(
    rf"{_BUS}[: ].{{0,80}}?(?:Link (?:is )?(?P<way>down|up)\b|(?P<cable>Cable unplugged))", re.IGNORECASE
)
_LIMITED = re.compile(rf"{_BUS}: (?P<gbit>\d{{1,5}}\.?\d{{0,3}}) Gb/s {LIMITED}")
_OOM = re.compile(r"ut of memory: Kill")
_HUNG = re.compile(r"task (?P<task>\S{1,64}):\d+ blocked for more than")
_DRIVER_TASK = re.compile(r"nvidia|nv[_-]|irq/\d+-nvidia|UVM", re.IGNORECASE)
_PEERMEM = re.compile(r"nv_get_p2p_free_callback|nvidia.peermem.*(?:fail|error|invalid)", re.IGNORECASE)


def stamp_of(line: str) -> float | None:
    """Seconds since boot at the head of a line; None where the log carries no times."""
    match = _STAMP.match(line)
    return None if match is None else float(match[1])


def read_events(lines: Iterable[str], booted_at: float) -> tuple[KernelEvent, ...]:
    """What is understood of these lines, in their order. `booted_at`: seconds since 1970 by the node's own clock."""
    return tuple(event for line in lines if (event := _event(line[:LINE_LIMIT], booted_at)) is not None)


def _event(line: str, booted_at: float) -> KernelEvent | None:
    stamp = stamp_of(line)
    at = None if stamp is None else booted_at + stamp

    def event(
        kind: EventKind, match: re.Match[str] | None = None, fatal: bool | None = None, gbit: float | None = None
    ) -> KernelEvent:
        found = match.groupdict() if match is not None else {}
        code = found.get("code")
        return KernelEvent(kind, line, None if code is None else int(code), found.get("bus"), stamp, at, fatal, gbit)

    for kind, pattern in ((EventKind.XID, _XID), (EventKind.SXID, _SXID)):
        if match := pattern.search(line):
            word = _SAYS_FATAL.search(match["rest"])
            return event(kind, match, None if word is None else word["non"] is None)
    if match := _AER.search(line):
        corrected = match["severity"].startswith("Correct")
        return event(EventKind.AER, match, None if corrected else match["fatal"] == "Fatal")
    if match := _LIMITED.search(line):
        return event(EventKind.PCIE_LIMITED, match, gbit=float(match["gbit"]))
    if _OOM.search(line):
        return event(EventKind.OOM)
    if match := _HUNG.search(line):
        return event(EventKind.HUNG, fatal=_DRIVER_TASK.match(match["task"]) is not None)
    if _PEERMEM.search(line):
        return event(EventKind.PEERMEM)
    if match := _LINK.search(line):
        down = match["cable"] is not None or match["way"].lower() == "down"
        return event(EventKind.LINK_DOWN if down else EventKind.LINK_UP, match)
    return None


def pci_place(text: str | None) -> tuple[int, int, int] | None:
    """(domain, bus, device) of a PCI address in any spelling: `00000000:07:00.0`, `0000:07:00`, `07:00.0`."""
    parts = (text or "").partition(".")[0].split(":")
    try:
        domain, bus, device = (int(part, 16) for part in (["0", *parts] if len(parts) == 2 else parts))
    except ValueError:
        return None
    return domain, bus, device
