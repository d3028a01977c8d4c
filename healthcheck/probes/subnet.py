"""Does a subnet manager serve each InfiniBand port?

A link that is up carries nothing before a subnet manager gave the port an address (LID) and made it ACTIVE.
https://www.kernel.org/doc/Documentation/ABI/stable/sysfs-class-infiniband
"""

from __future__ import annotations

from healthcheck.model.component import hca, node
from healthcheck.model.finding import CheckResult
from healthcheck.model.message import Arg, Message, say
from healthcheck.model.node import Hca
from healthcheck.model.platform import NicSpec
from healthcheck.model.reading import Evidence, noted
from healthcheck.model.verdict import Verdict
from healthcheck.parsing.infiniband import SYSFS
from healthcheck.probes.compute_ports import INFINIBAND, ComputePorts

WAITING = frozenset({"INIT", "ARMED"})
NO_LID = frozenset({0, 0xFFFF})
"""No address yet, and the permissive address that no port may have."""


def judge_subnet(check: str, host: str, compute: ComputePorts, promised: NicSpec) -> tuple[CheckResult, ...]:
    """One result for each port that no subnet manager serves, or one for the node.

    A port that is down says so elsewhere. An active port whose LIDs were not told was made active by someone. Of ports
    that may be those of another network only the active ones count.
    """
    if promised.link_layer.lower() != INFINIBAND:
        message = say("probe.hca.no_subnet", kind=promised.link_layer)
        return (CheckResult(check, node(host), Verdict.SKIPPED, message, "hca.does_not_apply", stage="probe"),)
    ports = (*compute.sure, *(port for port in compute.candidates if port.active))
    results = [
        CheckResult(check, hca(host, port.device), Verdict.FAIL, message, rule, stage="probe", evidence=_quoted(port))
        for port in ports
        for rule, message in _unserved(port)
    ]
    if not results and any(port.active for port in ports):
        message = say("probe.hca.subnet_serves")
        return (CheckResult(check, node(host), Verdict.PASS, message, "hca.subnet_serves", stage="probe"),)
    return tuple(results)


def _unserved(port: Hca) -> list[tuple[str, Message]]:
    if port.link_state in WAITING:
        message = say("probe.hca.no_subnet_manager", device=port.device, port=port.port, state=port.state)
        return [("hca.no_subnet_manager", message)]
    if not port.active:
        return []
    for name, lid in (("LID", port.lid), ("SM LID", port.sm_lid)):
        if lid in NO_LID:
            return [("hca.no_lid", say("probe.hca.no_lid", device=port.device, port=port.port, name=name, lid=lid))]
    return []


def _quoted(port: Hca) -> tuple[Evidence, ...]:
    where = f"{port.source} {port.device} {port.port}"
    if port.source == SYSFS:
        where = f"{SYSFS}/{port.device}/ports/{port.port}"
    lids = say("evidence.lids", lid=_shown(port.lid), sm_lid=_shown(port.sm_lid))
    return (Evidence(f"{where}/state", port.state), noted(where, lids))


def _shown(lid: int | None) -> Arg:
    return say("evidence.not_told") if lid is None else str(lid)
