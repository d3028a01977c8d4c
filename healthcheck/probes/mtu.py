"""Do all compute ports use packets of full size?

RDMA packets carry at most 4096 bytes. A RoCE port needs an Ethernet MTU of 4200 or more for that, 9000 is usual; on
InfiniBand the subnet manager decides, and only ibv_devinfo tells. Two ends that differ let small messages pass and
lose large ones (https://github.com/NVIDIA/nccl/issues/1453).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from healthcheck.model.component import hca, node
from healthcheck.model.finding import CheckResult
from healthcheck.model.message import Message, say
from healthcheck.model.network_facts import PathMtu, Verbs
from healthcheck.model.node import Hca
from healthcheck.model.reading import Evidence, Reading, ReadingState, noted
from healthcheck.model.verdict import Verdict
from healthcheck.parsing.infiniband import IBV_DEVINFO
from healthcheck.probes.compute_ports import ETHERNET, compute_ports
from healthcheck.probes.nearness import UNKNOWN, Nearness
from healthcheck.probes.probe import Needs
from healthcheck.probes.unseen import unseen

CHECK = "hca.mtu"
FULL_PATH_MTU = 4096
SMALLEST_ETHERNET_MTU = 4200
"""4096 and the headers of RoCE."""
USUAL_ETHERNET_MTU = 9000


def judge(
    host: str, cards: Reading[tuple[Hca, ...]], verbs: Reading[Verbs], needs: Needs, ways: Nearness = UNKNOWN
) -> tuple[CheckResult, ...]:
    """DEGRADED for each port with small packets, else for the node where its ports differ, else one PASS.

    Nothing is said where the cards were not seen; the look at them says so.
    """
    if cards.value is None:
        return ()
    compute = [port for port in compute_ports(cards.value, needs.platform, ways).likely if port.active]
    if any(port.efa for port in compute):
        message = say("probe.mtu.efa")
        return (CheckResult(CHECK, node(host), Verdict.SKIPPED, message, "hca.does_not_apply", stage="probe"),)
    if not compute:
        message = say("probe.mtu.no_port")
        return (CheckResult(CHECK, node(host), Verdict.SKIPPED, message, "hca.does_not_apply", stage="probe"),)
    paths = _paths(verbs)
    small = [result for port in compute if (result := _small(host, port, paths)) is not None]
    if small:
        return tuple(small)
    mtus = {f"{port.device}/{port.port}": _mtu(port, paths) for port in compute}
    told = {mtu for mtu in mtus.values() if mtu is not None}
    if len(told) > 1:
        found = ", ".join(f"{name} {mtu}" for name, mtu in mtus.items() if mtu is not None)
        message, evidence = say("probe.mtu.differs", found=found), tuple(_quoted(port, paths) for port in compute)
        return (_of_node(host, Verdict.DEGRADED, "hca.mtu_differs", message, evidence),)
    if None in mtus.values():
        return (unseen(CHECK, host, _silent(verbs), say("probe.mtu.hides"), needed=False),)
    return (_of_node(host, Verdict.PASS, "hca.mtu_full", say("probe.mtu.full"), ()),)


def _paths(verbs: Reading[Verbs]) -> dict[tuple[str, int], int]:
    told: Sequence[PathMtu] = (verbs.value.mtus.value or ()) if verbs.value is not None else ()
    return {(path.device, path.port): path.active_mtu for path in told}


def _path_mtu(port: Hca, paths: Mapping[tuple[str, int], int]) -> int | None:
    return paths.get((port.device, port.port), port.active_mtu)


def _mtu(port: Hca, paths: Mapping[tuple[str, int], int]) -> int | None:
    """What decides the size of its packets: the interface for RoCE, the path for InfiniBand."""
    if port.link_layer.lower() == ETHERNET and port.mtu is not None:
        return port.mtu
    return _path_mtu(port, paths)


def _small(host: str, port: Hca, paths: Mapping[tuple[str, int], int]) -> CheckResult | None:
    path = _path_mtu(port, paths)
    if port.link_layer.lower() == ETHERNET and port.mtu is not None and port.mtu < SMALLEST_ETHERNET_MTU:
        message = say(
            "probe.mtu.small",
            mtu=port.mtu,
            wanted=USUAL_ETHERNET_MTU,
            what=port.netdev or "interface",
            device=port.device,
        )
    elif path is not None and path < FULL_PATH_MTU:
        message = say("probe.mtu.small", mtu=path, wanted=FULL_PATH_MTU, what=f"port {port.port}", device=port.device)
    else:
        return None
    return CheckResult(
        CHECK,
        hca(host, port.device),
        Verdict.DEGRADED,
        message,
        "hca.mtu_small",
        stage="probe",
        observed=float(str(message.args["mtu"])),
        expected=float(str(message.args["wanted"])),
        unit="bytes",
        evidence=(_quoted(port, paths),),
    )


def _quoted(port: Hca, paths: Mapping[tuple[str, int], int]) -> Evidence:
    if port.link_layer.lower() == ETHERNET and port.mtu is not None:
        return Evidence(f"/sys/class/net/{port.netdev}/mtu", str(port.mtu))
    return Evidence(f"{IBV_DEVINFO} {port.device} {port.port}", f"active_mtu: {_path_mtu(port, paths)}")


def _silent(verbs: Reading[Verbs]) -> Reading[object]:
    """The reading that should have told the MTU and did not."""
    if verbs.value is None:
        return verbs
    if verbs.value.mtus.value is None:
        return verbs.value.mtus
    return Reading(ReadingState.UNPARSABLE, evidence=(noted(IBV_DEVINFO, say("evidence.some_ports")),))


def _of_node(host: str, verdict: Verdict, rule: str, message: Message, evidence: tuple[Evidence, ...]) -> CheckResult:
    return CheckResult(CHECK, node(host), verdict, message, rule, stage="probe", evidence=evidence)
