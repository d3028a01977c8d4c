"""The ways NCCL took, where they are not those of the machine: as its own log shows them."""

from __future__ import annotations

from healthcheck.diagnosis.catalogue.lines import CARDS, GPU_TROUBLE, NCCL, NET_TROUBLE, SETTINGS, TESTS, TOPOLOGY
from healthcheck.diagnosis.catalogue.repairs import PEERMEM
from healthcheck.diagnosis.cause import Cause, Severity
from healthcheck.model.finding import Confidence

_SLOWS = ("peak",)
_PEERMEM = (("ssh", "-t", "{host}", "lsmod | grep peermem; sudo dmesg -T | grep -i peermem | tail"),)
_NVLINK = (("ssh", "{host}", "nvidia-smi nvlink -s; nvidia-smi topo -p2p n"), *TOPOLOGY)

NCCL_PATH_CAUSES: tuple[Cause, ...] = (
    Cause(
        "tcp_fallback",
        rules=("transport.socket",),
        explains=("peak", "integrity", "nics", "gdr.off"),
        commands=(("ssh", "{host}", "ls -l /dev/infiniband; ibv_devinfo -l; ldconfig -p | grep libibverbs"), *CARDS),
        reference=NET_TROUBLE,
    ),
    Cause(
        "nic_loopback",
        rules=("transport.loopback",),
        explains=("peak", "p2p"),
        commands=(*_NVLINK, ("ssh", "{host}", "df -h /dev/shm")),
        reference=GPU_TROUBLE,
    ),
    Cause(
        "nvlink_unused",
        rules=("p2p.shm", "p2p.pcie"),
        explains=_SLOWS,
        commands=_NVLINK,
        reference=TESTS + "/issues/228",
    ),
    Cause(
        "gdr_unsupported",
        Severity.WARNING,
        rules=("gdr.off",),
        explains=_SLOWS,
        contradicted=("gdr.peermem", "gdr.dma_buf"),
        commands=_PEERMEM,
        repairs=PEERMEM,
        reference=NCCL + "/issues/1676",
    ),
    Cause(
        "gdr_too_far",
        Severity.WARNING,
        rules=("gdr.far",),
        explains=_SLOWS,
        commands=TOPOLOGY,
        reference=NCCL + "/issues/412",
    ),
    Cause(
        "nics_unused",
        Severity.WARNING,
        rules=("nics.fewer",),
        explains=_SLOWS,
        commands=CARDS,
        reference=TESTS + "/issues/128",
    ),
    Cause(
        "settings_forced",
        Severity.WARNING,
        rules=("settings.forced",),
        explains=_SLOWS,
        confidence=Confidence.LIKELY,
        commands=(("ssh", "{host}", "cat /etc/nccl.conf ~/.nccl.conf; env | grep NCCL_"),),
        reference=SETTINGS,
    ),
)
