"""What a check-up has to find of a planted fault: where, and under which causes of the catalogue."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from healthcheck.diagnosis.causes import FOLLOWS
from healthcheck.model import component as components
from healthcheck.model.component import Component
from healthcheck.model.finding import Finding
from healthcheck.simulator.faults import (
    BusyFault,
    CorruptFault,
    DriverFault,
    FabricFault,
    GdrFault,
    GpusFault,
    HangFault,
    HcaFault,
    IntermittentFault,
    LeafFault,
    LinkFault,
    NodeFault,
    NvlinkFault,
    NvlsFault,
    SlowHcaFault,
    SocketFault,
    UnreachableFault,
)

_CAUSES: dict[type[NodeFault], frozenset[str]] = {
    CorruptFault: frozenset({"cause.wrong_results"}),
    HangFault: frozenset({"cause.job_hung"}),
    UnreachableFault: frozenset({"cause.unreachable"}),
    GpusFault: frozenset({"cause.gpu_fewer"}),
    BusyFault: frozenset({"cause.busy_foreign"}),
    NvlinkFault: frozenset({"cause.nvlink_inactive"}),
    NvlsFault: frozenset({"cause.nvls_unavailable"}),
    GdrFault: frozenset({"cause.gdr_missing"}),
    SocketFault: frozenset({"cause.tcp_fallback"}),
    DriverFault: frozenset({"cause.drift_driver"}),
}


class Expected(Struct, frozen=True):
    """Where a fault shows itself, and the causes that are its own; none where only the search finds it, which says who
    and not why."""

    component: Component
    causes: frozenset[str]

    def met_by(self, finding: Finding) -> bool:
        """Whether a finding is this one; a part of the node counts for the node."""
        same = finding.component == self.component or finding.component.host == self.component.text
        return same and (not self.causes or finding.cause.code in self.causes)


def expected(fault: NodeFault | FabricFault) -> Expected:
    """The finding that belongs to a fault."""
    if isinstance(fault, LinkFault):
        return Expected(components.link(fault.host_a, fault.host_b), frozenset())
    if isinstance(fault, LeafFault):
        return Expected(components.path(fault.leaf_a, fault.leaf_b), frozenset())
    if isinstance(fault, SlowHcaFault | IntermittentFault):
        return Expected(components.node(fault.host), frozenset())
    if isinstance(fault, HcaFault):
        cause = "cause.hca_down" if fault.rate == 0.0 else "cause.hca_slow"
        return Expected(components.hca(fault.host, fault.device), frozenset({cause}))
    return Expected(components.node(fault.host), _CAUSES[type(fault)])


def primary(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Without those that only follow from another: what is slow between nodes beside a sick one."""
    return tuple(finding for finding in findings if finding.cause.code != f"cause.{FOLLOWS.code}")
