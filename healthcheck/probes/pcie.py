"""Does the PCIe slot of every card of the compute network carry what the card can?

A card never lowers its link when idle, as a GPU does: fewer lanes or a lower speed than both card and slot can is a
link that trained badly. A slot that cannot carry the rate of the network at all is another matter: the card works as
well as it can, in the wrong place. A virtual machine shows a made-up slot, 2.5 GT/s and one lane often: not judged.
"""

from __future__ import annotations

import re
from functools import lru_cache

from healthcheck.model.component import hca, node
from healthcheck.model.fabric_facts import Iommu, PciDevice, PciLink
from healthcheck.model.finding import CheckResult
from healthcheck.model.fleet import Settings
from healthcheck.model.message import Message, say
from healthcheck.model.node import Hca, NodeFacts
from healthcheck.model.platform import Platform
from healthcheck.model.reading import Evidence, Reading, ReadingState
from healthcheck.model.verdict import Verdict
from healthcheck.probes.batch import Part, PartOutput, one_line
from healthcheck.probes.nearness import UNKNOWN, Nearness
from healthcheck.probes.rails import compute_devices
from healthcheck.probes.trouble import garbled, usable
from healthcheck.probes.unseen import unseen

NAME = "pcie"
CHECK = "hca.pcie"
SYSFS = "/sys/bus/pci/devices"
_FILES = (
    "current_link_speed",
    "current_link_width",
    "max_link_speed",
    "max_link_width",
    "../max_link_speed",
    "../max_link_width",
)
_END = "#end"

# `cd -P` makes `..` the bridge above the device and PWD the way to it; nothing is forked, whatever the number of cards.
_TEXT = one_line(f"""
    show() {{
        cd -P "$3" 2>/dev/null || return 0;
        line="$1|$2|${{PWD##*/}}";
        for file in {" ".join(_FILES)}; do
            value=;
            if [ -r "$file" ]; then read -r value 2>/dev/null <"$file"; fi;
            line="$line|$value";
        done;
        echo "$line|$PWD";
    }};
    if [ -d {SYSFS} ]; then :; else echo "{SYSFS}: not found" >&2; exit 127; fi;
    for dir in {SYSFS}/*; do
        vendor=; class=;
        read -r vendor 2>/dev/null <"$dir/vendor";
        if [ "$vendor" = 0x10de ]; then read -r class 2>/dev/null <"$dir/class"; fi;
        case "$class" in 0x0300*|0x0302*) show gpu - "$dir" ;; esac;
    done;
    for dir in /sys/class/infiniband/*; do
        if [ -d "$dir/device" ]; then show hca "${{dir##*/}}" "$dir/device"; fi;
    done;
    echo "{_END}"
""")
_BUS_ID = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]", re.ASCII)
_DEVICE = re.compile(r"-|\w[\w.\-]{0,63}", re.ASCII)
_SPEED = re.compile(r"(\d{1,3}(?:\.\d)?) GT/s(?: PCIe)?", re.ASCII)
_LANES = {str(lanes): lanes for lanes in (1, 2, 4, 8, 12, 16, 32)}
"""Where there is no link to see the kernel prints 0, 63 or 255."""


def part() -> Part:
    """A line for each NVIDIA GPU and each HCA: kind, device, bus id, what `_FILES` hold, its folder; then `#end`."""
    return Part(NAME, 5, _TEXT)


def read(output: PartOutput | None) -> Reading[tuple[PciDevice, ...]]:
    """Observed and empty: neither a GPU of NVIDIA nor an HCA is on the bus."""
    answer = usable(SYSFS, output)
    if isinstance(answer, Reading):
        return answer
    devices = _devices(answer.stdout)
    if answer.rc != 0 or devices is None:
        return garbled(SYSFS, answer)
    return Reading(ReadingState.OBSERVED, devices)


# Nodes of one kind print the same lines.
@lru_cache(maxsize=256)
def _devices(text: str) -> tuple[PciDevice, ...] | None:
    lines = text.splitlines()
    if not lines or lines[-1] != _END:
        return None
    found = [_device(line.split("|")) for line in lines[:-1]]
    devices = tuple(device for device in found if device is not None)
    return devices if len(devices) == len(found) else None


def _device(fields: list[str]) -> PciDevice | None:
    if len(fields) != 4 + len(_FILES) or fields[0] not in ("gpu", "hca"):
        return None
    if not _DEVICE.fullmatch(fields[1]) or not _BUS_ID.fullmatch(fields[2]):
        return None
    speed, lanes, most_speed, most_lanes, slot_speed, slot_lanes = fields[3:-1]
    return PciDevice(
        bus_id=fields[2],
        hca=fields[1] if fields[0] == "hca" else None,
        link=_link(speed, lanes),
        most=_link(most_speed, most_lanes),
        slot=_link(slot_speed, slot_lanes),
        above=tuple(_BUS_ID.findall(fields[-1]))[:-1],
        printed=tuple(zip(_FILES, fields[3:-1], strict=True)),
    )


def _link(speed: str, lanes: str) -> PciLink:
    number = _SPEED.fullmatch(speed)
    return PciLink(float(number[1]) if number is not None else None, _LANES.get(lanes))


def judge(
    host: str,
    reading: Reading[tuple[PciDevice, ...]],
    hcas: Reading[tuple[Hca, ...]],
    iommu: Reading[Iommu],
    platform: Platform | None,
    ways: Nearness = UNKNOWN,
) -> tuple[CheckResult, ...]:
    """One result for each card that is held back by its slot, or one for the node when none is."""
    if iommu.value is not None and iommu.value.virtual:
        message = say("probe.pcie.virtual")
        return (CheckResult(CHECK, node(host), Verdict.SKIPPED, message, "pcie.does_not_apply", stage="probe"),)
    if reading.value is None:
        return (unseen(CHECK, host, reading, say("probe.pcie.hides")),)
    if hcas.value is None:
        return (unseen(CHECK, host, hcas, say("probe.pcie.hides")),)
    compute = set(compute_devices(hcas.value, platform, ways))
    cards = [card for card in reading.value if card.hca in compute and card.link.rate_gbit_s is not None]
    if not cards:
        message = say("probe.pcie.does_not_apply")
        return (CheckResult(CHECK, node(host), Verdict.SKIPPED, message, "pcie.does_not_apply", stage="probe"),)
    needed = platform.nics.rate_gbit_s if platform is not None else 0.0
    found = [result for card in cards if (result := _held_back(host, card, needed)) is not None]
    if not found:
        message = say("probe.pcie.full")
        return (CheckResult(CHECK, node(host), Verdict.PASS, message, "pcie.full", stage="probe"),)
    return tuple(found)


def _held_back(host: str, card: PciDevice, needed_gbit_s: float) -> CheckResult | None:
    device = card.hca or ""
    lanes, speed = _best(card)
    if card.link.lanes is not None and card.link.lanes < lanes:
        message = say("probe.pcie.narrow", device=device, lanes=card.link.lanes, expected=lanes)
        return _result(host, card, Verdict.FAIL, "pcie.narrow", message, "lanes", card.link.lanes, lanes)
    if card.link.speed_gt_s is not None and card.link.speed_gt_s < speed:
        message = say("probe.pcie.slow", device=device, speed=card.link.speed_gt_s, expected=speed)
        return _result(host, card, Verdict.FAIL, "pcie.slow", message, "GT/s", card.link.speed_gt_s, speed)
    carries = card.link.rate_gbit_s
    if carries is None or carries >= needed_gbit_s:
        return None
    message = say("probe.pcie.slot_too_small", device=device, carries=round(carries), needed=needed_gbit_s)
    return _result(host, card, Verdict.DEGRADED, "pcie.slot_too_small", message, "Gb/s", carries, needed_gbit_s)


def _best(card: PciDevice) -> tuple[int, float]:
    """What card and slot can both do: lanes, and GT/s a lane. 0 where neither tells."""
    lanes = [link.lanes for link in (card.most, card.slot) if link.lanes is not None]
    speeds = [link.speed_gt_s for link in (card.most, card.slot) if link.speed_gt_s is not None]
    return min(lanes, default=0), min(speeds, default=0.0)


def _result(
    host: str,
    card: PciDevice,
    verdict: Verdict,
    rule: str,
    message: Message,
    unit: str,
    observed: float,
    expected: float,
) -> CheckResult:
    evidence = tuple(Evidence(f"{SYSFS}/{card.bus_id}/{name}", text) for name, text in card.printed[:6] if text)
    return CheckResult(
        CHECK,
        hca(host, card.hca or ""),
        verdict,
        message,
        rule,
        stage="probe",
        observed=float(observed),
        expected=float(expected),
        unit=unit,
        evidence=evidence,
    )


def settings(facts: NodeFacts) -> Settings:
    """`nic_count`: how many RDMA devices there are, compute or not."""
    devices = facts.pcie.value
    return () if devices is None else (("nic_count", str(sum(device.hca is not None for device in devices))),)
