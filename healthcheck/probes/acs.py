"""Do the PCIe switches send traffic between devices up to the processor?

Access control services (ACS) on the downstream ports of a switch make every request between a GPU and a NIC below it
go through the root complex: slow at best, corrupt or stuck at worst. Only ports on the way to a GPU or an HCA count;
the backplane of the disks has switches too. Without root the registers are hidden, which is said and not guessed.
"""

from __future__ import annotations

import re

from healthcheck.model.component import node
from healthcheck.model.fabric_facts import AcsPort, Iommu, PciDevice
from healthcheck.model.finding import CheckResult
from healthcheck.model.message import Message, say
from healthcheck.model.reading import Evidence, Reading, ReadingState
from healthcheck.model.verdict import Verdict
from healthcheck.probes.batch import Part, PartOutput, one_line
from healthcheck.probes.trouble import garbled, quote, usable
from healthcheck.probes.unseen import unseen

NAME = "acs"
CHECK = "pcie.acs"
SOURCE = "lspci -vvv"
NAMED_PORTS = 6
_END = "#end"

# Class 0604 is PCI to PCI bridges: a port of a switch is one.
_TEXT = one_line(f"""
    if command -v lspci >/dev/null 2>&1; then :; else echo "lspci: not found" >&2; exit 127; fi;
    text=$(lspci -D -vvv -d ::0604);
    code=$?;
    if [ "$code" -ne 0 ]; then exit "$code"; fi;
    printf "%s\\n" "$text" | grep -E "^[0-9a-f]+:|Express \\(v|ACSCtl:|access denied";
    echo "{_END}"
""")
_BRIDGE = re.compile(r"([0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) \S.*", re.ASCII)
_HIDDEN = "<access denied>"


def part() -> Part:
    """Of every bridge its heading, its kind and its `ACSCtl` line, or that these are hidden; then `#end`."""
    return Part(NAME, 10, _TEXT)


def read(output: PartOutput | None) -> Reading[tuple[AcsPort, ...]]:
    """The downstream ports of switches that have an ACS register. DENIED where the registers are hidden."""
    answer = usable(SOURCE, output)
    if isinstance(answer, Reading):
        return answer
    lines = answer.stdout.splitlines()
    if answer.rc != 0 or not lines or lines[-1] != _END:
        return garbled(SOURCE, answer)
    ports: list[AcsPort] = []
    hidden: list[str] = []
    bus_id, downstream = "", False
    for line in lines[:-1]:
        text = line.strip()
        heading = _BRIDGE.fullmatch(line.rstrip())
        if heading is not None:
            bus_id, downstream = heading[1], False
        elif not bus_id or not text.startswith(("Capabilities:", "ACSCtl:")):
            return garbled(SOURCE, answer)
        elif _HIDDEN in text:
            hidden.append(text)
        elif text.startswith("Capabilities:"):
            downstream = "Downstream Port" in text
        elif downstream:
            ports.append(AcsPort(bus_id, text))
    if hidden and not ports:
        return Reading(ReadingState.DENIED, evidence=quote(SOURCE, hidden[:1]))
    return Reading(ReadingState.OBSERVED, tuple(ports))


def judge(
    host: str, reading: Reading[tuple[AcsPort, ...]], pcie: Reading[tuple[PciDevice, ...]], iommu: Reading[Iommu]
) -> tuple[CheckResult, ...]:
    """One result for the node."""
    if iommu.value is not None and iommu.value.virtual:
        return (_result(host, Verdict.SKIPPED, "acs.does_not_apply", say("probe.acs.virtual")),)
    if reading.value is None:
        return (unseen(CHECK, host, reading, say("probe.acs.hides"), needed=False),)
    if pcie.value is None:
        return (unseen(CHECK, host, pcie, say("probe.acs.hides"), needed=False),)
    on_the_way = {bus_id for device in pcie.value for bus_id in device.above}
    ports = [port for port in reading.value if port.bus_id in on_the_way]
    if not ports:
        return (_result(host, Verdict.SKIPPED, "acs.does_not_apply", say("probe.acs.no_switch")),)
    redirecting = [port for port in ports if port.redirects]
    if not redirecting:
        return (_result(host, Verdict.PASS, "acs.off", say("probe.acs.off")),)
    names = ", ".join(port.bus_id for port in redirecting[:NAMED_PORTS])
    message = say("probe.acs.on", count=len(redirecting), total=len(ports), ports=names)
    evidence = tuple(Evidence(f"{SOURCE} -s {port.bus_id}", port.control) for port in redirecting[:2])
    return (_result(host, Verdict.DEGRADED, "pcie.acs_on", message, evidence),)


def _result(
    host: str, verdict: Verdict, rule: str, message: Message, evidence: tuple[Evidence, ...] = ()
) -> CheckResult:
    return CheckResult(CHECK, node(host), verdict, message, rule, stage="probe", evidence=evidence)
