"""What a number alone is consistent with: no rule of a check leads here, `diagnosis/hinting.py` does.

Such a cause is named only where nothing that was measured explains the number, so it explains nothing itself.
"""

from __future__ import annotations

from healthcheck.diagnosis.catalogue.lines import BANDWIDTH, CARDS, GPUS, TOPOLOGY
from healthcheck.diagnosis.catalogue.repairs import PEERMEM, Lines
from healthcheck.diagnosis.cause import Cause, Severity
from healthcheck.model.finding import Confidence

_LINKS = (("ssh", "{host}", "nvidia-smi topo -m; nvidia-smi nvlink -s"), *GPUS[1:])
_SLOTS = (("ssh", "-t", "{host}", "sudo lspci -d 15b3: -vv | grep -e Mellanox -e LnkCap: -e LnkSta:"), *CARDS[:1])
_PEERMEM = (("ssh", "{host}", "lsmod | grep -e peermem -e peer_mem; cat /proc/driver/nvidia/version"),)
_VERBS = (("ssh", "{host}", "ibv_devinfo -l; ip -br addr"),)


def _row(code: str, contradicted: tuple[str, ...], commands: Lines, repairs: Lines = ()) -> Cause:
    return Cause(
        code,
        Severity.WARNING,
        confidence=Confidence.SUSPECTED,
        contradicted=contradicted,
        commands=commands,
        repairs=repairs,
        reference=BANDWIDTH,
    )


FINGERPRINT_CAUSES: tuple[Cause, ...] = (
    _row("tcp_speed", ("transport.rdma",), _VERBS),
    _row("ethernet_speed", ("transport.rdma",), _VERBS),
    _row("gdr_lost", ("gdr.on",), _PEERMEM, PEERMEM),
    _row("network_inside", ("p2p.direct",), _LINKS),
    _row("host_memory_speed", ("p2p.direct",), _LINKS),
    _row("pcie_speed", ("p2p.direct",), _LINKS),
    _row("capped_links", ("nvlink.links",), _LINKS),
    _row("nvls_unused", ("nvls.on",), _LINKS),
    _row("fewer_nics", ("nics.all",), CARDS),
    _row("half_of_nics", (), _SLOTS),
    _row("through_cpu", (), TOPOLOGY),
)
