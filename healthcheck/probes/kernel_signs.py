"""What lines of the kernel log mean for the parts of a node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct

from healthcheck.model.component import Component, gpu, hca, node
from healthcheck.model.finding import CheckResult
from healthcheck.model.message import Message, say
from healthcheck.model.node import Hca, NodeFacts
from healthcheck.model.system_facts import EventKind, KernelEvent
from healthcheck.model.verdict import Verdict
from healthcheck.parsing.kernel_log import pci_place
from healthcheck.probes.compute_ports import compute_of
from healthcheck.probes.nearness import is_virtual
from healthcheck.probes.probe import Needs
from healthcheck.probes.trouble import quote
from healthcheck.probes.xids import RECOVERY, SXID_HARMLESS, UNKNOWN, URGENCY, XIDS, Weight, is_repaired, weight_of

FLOOD = 10
"""So many corrected errors within one run are no accident."""
_FIRST_PLACE, _LAST_PLACE = -1, len(URGENCY)


class Sign(Struct, frozen=True):
    """One line and what it says. `place`: the smaller, the more it explains, within one verdict."""

    component: Component
    verdict: Verdict
    rule: str
    message: Message
    event: KernelEvent
    place: int = _LAST_PLACE


def results(check: str, source: str, signs: Iterable[Sign]) -> tuple[CheckResult, ...]:
    """One result for each component: its worst sign, with the lines of all of them."""
    by_component: dict[Component, list[Sign]] = {}
    for sign in signs:
        by_component.setdefault(sign.component, []).append(sign)
    found = []
    for component, own in by_component.items():
        ordered = sorted(own, key=lambda sign: (-sign.verdict, sign.place))
        worst = ordered[0]
        lines = dict.fromkeys(sign.event.text for sign in ordered)
        found.append(
            CheckResult(
                check,
                component,
                worst.verdict,
                worst.message,
                worst.rule,
                stage="probe",
                evidence=quote(source, lines),
            )
        )
    return tuple(found)


def logged_before(events: Sequence[KernelEvent], facts: NodeFacts, needs: Needs) -> list[Sign]:
    """Only what takes a GPU or the fabric out of service, and cards in a slot too narrow for their network.

    A call for a reset that was followed by one is no longer true.
    """
    signs = []
    repaired_at = {
        pci_place(event.bus_id): place
        for place, event in enumerate(events)
        if event.kind is EventKind.XID and is_repaired(event.code or 0, event.text)
    }
    for place, event in enumerate(events):
        if event.kind is EventKind.XID and event.code is not None:
            if event.code == RECOVERY and place < repaired_at.get(pci_place(event.bus_id), 0):
                continue
            if weight_of(event.code, event.fatal, event.text) is Weight.FATAL:
                message = say("probe.kernel.xid_before", code=event.code, meaning=_meaning(event.code))
                where, urgency = _gpu(event, facts), URGENCY.get(event.code, _LAST_PLACE)
                signs.append(Sign(where, Verdict.DEGRADED, "xid.before", message, event, urgency))
        elif event.kind is EventKind.SXID and event.fatal and event.code not in SXID_HARMLESS:
            message = say("probe.kernel.sxid_before", code=event.code or 0)
            signs.append(Sign(node(facts.host), Verdict.DEGRADED, "sxid.before", message, event))
        elif event.kind is EventKind.PCIE_LIMITED:
            signs += _limited(event, facts, needs)
    return signs


def logged_meanwhile(events: Sequence[KernelEvent], facts: NodeFacts, needs: Needs) -> list[Sign]:
    """Everything that was logged while the benchmarks ran."""
    signs: list[Sign] = []
    times = Counter((event.code, pci_place(event.bus_id)) for event in events if event.kind is EventKind.XID)
    for event in events:
        if event.kind is EventKind.XID:
            signs += _xid(event, facts, times[event.code, pci_place(event.bus_id)])
        elif event.kind is EventKind.LINK_DOWN:
            signs += _link_down(event, facts, needs)
        elif event.kind is EventKind.AER and event.fatal is not None:
            verdict, rule = (
                (Verdict.FAIL, "kernel.pcie_fatal") if event.fatal else (Verdict.DEGRADED, "kernel.pcie_uncorrected")
            )
            message = say("probe.kernel.pcie", device=event.bus_id or "")
            signs.append(Sign(_part(event, facts), verdict, rule, message, event))
        elif event.kind in _OF_NODE:
            signs.append(_of_node(event, facts))
    return [*signs, *_floods(events, facts)]


_OF_NODE = (EventKind.OOM, EventKind.HUNG, EventKind.PEERMEM)


def _of_node(event: KernelEvent, facts: NodeFacts) -> Sign:
    where = node(facts.host)
    if event.kind is EventKind.OOM:
        return Sign(where, Verdict.DEGRADED, "kernel.oom", say("probe.kernel.oom"), event)
    if event.kind is EventKind.PEERMEM:
        return Sign(where, Verdict.DEGRADED, "kernel.peermem", say("probe.kernel.peermem"), event)
    if event.fatal:
        return Sign(where, Verdict.FAIL, "kernel.hung_driver", say("probe.kernel.hung_driver"), event)
    return Sign(where, Verdict.DEGRADED, "kernel.hung", say("probe.kernel.hung"), event)


def _xid(event: KernelEvent, facts: NodeFacts, times: int) -> list[Sign]:
    code = event.code or 0
    weight = weight_of(code, event.fatal, event.text)
    if weight is None:
        return []
    row = XIDS.get(code, UNKNOWN)
    verdict = Verdict.FAIL if weight is Weight.FATAL else Verdict.DEGRADED
    if weight is Weight.APPLICATION:
        rule = "xid.app"
    elif row.own and weight is row.weight:
        rule = row.name
    else:
        rule = "xid.fatal" if weight is Weight.FATAL else "xid.warning"
    message = say("probe.kernel.xid", code=code, meaning=_meaning(code), times=times)
    return [Sign(_gpu(event, facts), verdict, rule, message, event, URGENCY.get(code, _LAST_PLACE))]


def _floods(events: Sequence[KernelEvent], facts: NodeFacts) -> list[Sign]:
    """What is harmless alone and not in numbers: corrected errors of one PCIe device, non-fatal ones of NVSwitches."""
    signs = []
    corrected: dict[str, list[KernelEvent]] = {}
    switches: list[KernelEvent] = []
    for event in events:
        if event.kind is EventKind.AER and event.fatal is None:
            corrected.setdefault(event.bus_id or "", []).append(event)
        elif event.kind is EventKind.SXID and event.code not in SXID_HARMLESS:
            if event.fatal:
                message = say("probe.kernel.sxid", code=event.code or 0)
                signs.append(Sign(node(facts.host), Verdict.FAIL, "sxid.fatal", message, event, _FIRST_PLACE))
            else:
                switches.append(event)
    for device, many in corrected.items():
        if len(many) >= FLOOD:
            message = say("probe.kernel.aer", device=device, times=len(many))
            signs.append(Sign(_part(many[0], facts), Verdict.DEGRADED, "kernel.pcie_corrected", message, many[0]))
    if len(switches) >= FLOOD:
        message = say("probe.kernel.sxid_many", times=len(switches))
        signs.append(Sign(node(facts.host), Verdict.DEGRADED, "sxid.many", message, switches[0]))
    return signs


def _link_down(event: KernelEvent, facts: NodeFacts, needs: Needs) -> list[Sign]:
    """A port of the network that was measured: storage ports may come and go. DEGRADED where it may be either."""
    port, compute = _port(event, facts), compute_of(facts, needs.platform)
    if port is None or port not in compute.likely:
        return []
    message = say("probe.kernel.link_down", device=port.device)
    verdict = Verdict.FAIL if needs.platform is None or port in compute.sure else Verdict.DEGRADED
    return [Sign(hca(facts.host, port.device), verdict, "kernel.link_down", message, event)]


def _limited(event: KernelEvent, facts: NodeFacts, needs: Needs) -> list[Sign]:
    """Every card in a slot below its own best logs this; it only matters where the slot is below the network, and is
    real: a virtual machine makes its slots up."""
    port, found = _port(event, facts), event.available_gbit_s
    if port is None or found is None or needs.platform is None or is_virtual(facts):
        return []
    if port not in compute_of(facts, needs.platform).likely:
        return []
    promised = needs.platform.nics.rate_gbit_s
    if found >= promised:
        return []
    message = say("probe.kernel.pcie_limited", device=port.device, found=found, expected=promised)
    return [Sign(hca(facts.host, port.device), Verdict.DEGRADED, "kernel.pcie_limited", message, event)]


def _meaning(code: int) -> Message:
    return say(XIDS.get(code, UNKNOWN).name)


def _gpu(event: KernelEvent, facts: NodeFacts) -> Component:
    place = pci_place(event.bus_id)
    for one in facts.gpus.value or ():
        if place is not None and pci_place(one.bus_id) == place:
            return gpu(facts.host, one.index)
    return node(facts.host)


def _port(event: KernelEvent, facts: NodeFacts) -> Hca | None:
    """The two ports of a card differ only in the function of their address."""
    place, function = pci_place(event.bus_id), (event.bus_id or "")[-2:]
    if place is None:
        return None
    return next(
        (
            port
            for port in facts.hcas.value or ()
            if port.pci_address is not None
            and pci_place(port.pci_address) == place
            and port.pci_address.endswith(function)
        ),
        None,
    )


def _part(event: KernelEvent, facts: NodeFacts) -> Component:
    port = _port(event, facts)
    return hca(facts.host, port.device) if port is not None else _gpu(event, facts)
