"""Which NIC is next to which GPU?

A NIC below the same PCIe switch as a GPU (PIX, PXB) takes its data without help of the processor. A node where no GPU
has such a NIC is built that way: not a fault. A GPU without one *beside* others that have theirs is one: a card in the
wrong slot, or a switch that lost its card. Where a node has fewer NICs than GPUs, a GPU may well have none of its own;
then only a NIC that is next to no GPU tells of a fault. A virtual machine shows a bus that was made up.
"""

from __future__ import annotations

from collections.abc import Iterable

from healthcheck.model.component import Component, gpu, node
from healthcheck.model.fabric_facts import NEAR, Topology, distance
from healthcheck.model.finding import CheckResult
from healthcheck.model.message import Message, say
from healthcheck.model.node import Hca
from healthcheck.model.platform import Platform
from healthcheck.model.reading import Reading
from healthcheck.model.verdict import Verdict
from healthcheck.probes.compute_ports import compute_ports
from healthcheck.probes.nearness import UNKNOWN, Nearness
from healthcheck.probes.topology import SOURCE
from healthcheck.probes.trouble import quote
from healthcheck.probes.unseen import unseen

CHECK = "rail.map"


def judge(
    host: str,
    topology: Reading[Topology],
    hcas: Reading[tuple[Hca, ...]],
    platform: Platform | None,
    ways: Nearness = UNKNOWN,
    *,
    virtual: bool = False,
) -> tuple[CheckResult, ...]:
    """One result for the node, or one for each GPU whose NIC is far away; in a `virtual` machine nothing is far."""
    if topology.value is None:
        return (unseen(CHECK, host, topology, say("probe.rail.hides")),)
    if hcas.value is None:
        return (unseen(CHECK, host, hcas, say("probe.rail.hides")),)
    matrix = topology.value
    cards = _columns(matrix, compute_devices(hcas.value, platform, ways))
    if not cards:
        return (_result(node(host), Verdict.SKIPPED, "rail.does_not_apply", say("probe.rail.does_not_apply")),)
    near = {row: [device for device, cells in cards.items() if cells[row] in NEAR] for row in range(len(matrix.gpus))}
    far = [row for row, devices in near.items() if not devices]
    if not far:
        return (_result(node(host), Verdict.PASS, "rail.near", say("probe.rail.near")),)
    if len(far) == len(near):
        return (_result(node(host), Verdict.PASS, "rail.flat", say("probe.rail.flat")),)
    if virtual:
        return (_result(node(host), Verdict.PASS, "rail.flat", say("probe.rail.virtual")),)
    lonely = set(cards).difference(*near.values())
    if len(cards) < len(near) and not lonely:
        return (_result(node(host), Verdict.PASS, "rail.shared", say("probe.rail.shared", far=len(far))),)
    return tuple(_far(host, matrix, cards, row) for row in far)


def compute_devices(hcas: tuple[Hca, ...], platform: Platform | None, ways: Nearness) -> tuple[str, ...]:
    """The cards of the compute network, where it is not certain all that may be; `compute_ports.py` says which."""
    return tuple(dict.fromkeys(port.device for port in compute_ports(hcas, platform, ways).possible))


def _columns(topology: Topology, hcas: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The column of each of these devices that the matrix has: its cell for every GPU."""
    wanted, first = set(hcas), len(topology.gpus)
    return {
        device: tuple(cells[first + place] for cells in topology.cells)
        for place, (_, device) in enumerate(topology.nics)
        if device in wanted
    }


def _far(host: str, topology: Topology, cards: dict[str, tuple[str, ...]], row: int) -> CheckResult:
    device = min(cards, key=lambda name: distance(cards[name][row]))
    message = say("probe.rail.far", gpu=topology.gpus[row], device=device, way=cards[device][row])
    component = gpu(host, topology.index(row))
    return _result(component, Verdict.DEGRADED, "rail.far", message, (topology.rows[row],))


def _result(
    component: Component, verdict: Verdict, rule: str, message: Message, rows: tuple[str, ...] = ()
) -> CheckResult:
    evidence = quote(SOURCE, rows)
    return CheckResult(CHECK, component, verdict, message, rule, stage="probe", evidence=evidence)
