"""The paths inside a node: PCIe, its switches, the way from a GPU to its card."""

from __future__ import annotations

from healthcheck.diagnosis.catalogue.lines import ACS, FABRIC_MANAGER, GPU_TROUBLE, GPUS, NCCL, PCI, TESTS, TOPOLOGY
from healthcheck.diagnosis.catalogue.repairs import PEERMEM, RESET_ALL
from healthcheck.diagnosis.cause import Cause, Drain, Severity
from healthcheck.model.finding import Confidence

_SLOWS = ("peak",)
_BREAKS = ("peak", "integrity")
_NO_NVLINK = ("peak", "p2p", "nvls")
_STAGED = ("peak", "gdr.off", "gdr.far")
_LINKS = (("ssh", "{host}", "nvidia-smi topo -m; nvidia-smi nvlink -s"), *GPUS[1:])
_PEERMEM = (
    ("ssh", "{host}", "lsmod | grep -e peermem -e peer_mem; cat /proc/driver/nvidia/version; uname -r"),
    ("ssh", "-t", "{host}", "sudo dmesg -T | grep -i peer | tail -n 20"),
)
_SLOT = (("ssh", "-t", "{host}", "sudo lspci -d 15b3: -vv | grep -e Mellanox -e LnkCap: -e LnkSta:"),)

FABRIC_CAUSES: tuple[Cause, ...] = (
    Cause(
        "gpu_cut_off",
        rules=("topology.cut_off", "topology.fewer_links"),
        explains=(*_BREAKS, "p2p", "nvls"),
        commands=_LINKS,
        drain=Drain.FIRST,
        repairs=RESET_ALL,
        reference=FABRIC_MANAGER,
    ),
    Cause(
        "gpus_without_nvlink",
        rules=("topology.no_nvlink",),
        explains=_NO_NVLINK,
        commands=_LINKS,
        drain=Drain.FIRST,
        reference=FABRIC_MANAGER,
    ),
    Cause(
        "gpu_pairs_slow",
        rules=("topology.pairs",),
        explains=_NO_NVLINK,
        commands=_LINKS,
        reference=NCCL + "/issues/340",
    ),
    Cause(
        "hca_link_trained_low",
        rules=("pcie.narrow", "pcie.slow"),
        explains=_SLOWS,
        commands=_SLOT,
        drain=Drain.FIRST,
        reference=PCI,
    ),
    Cause(
        "gdr_refused",
        rules=("gdr.load_failed",),
        explains=_STAGED,
        contradicted=("gdr.on",),
        commands=_PEERMEM,
        drain=Drain.FIRST,
        repairs=PEERMEM,
        reference=NCCL + "/issues/1537",
    ),
    Cause(
        "gdr_not_loaded",
        rules=("gdr.not_loaded",),
        explains=_STAGED,
        contradicted=("gdr.on",),
        commands=_PEERMEM,
        repairs=PEERMEM,
        reference=NCCL + "/issues/1676",
    ),
    Cause(
        "gdr_missing",
        rules=("gdr.none",),
        explains=_STAGED,
        contradicted=("gdr.on",),
        commands=_PEERMEM,
        drain=Drain.FIRST,
        repairs=PEERMEM,
        reference=NCCL + "/issues/1676",
    ),
    Cause(
        "acs_on",
        Severity.WARNING,
        rules=("pcie.acs_on",),
        explains=_SLOWS,
        commands=(ACS,),
        drain=Drain.FIRST,
        reference=GPU_TROUBLE,
    ),
    Cause(
        "iommu_on",
        Severity.WARNING,
        rules=("pcie.iommu_on",),
        confidence=Confidence.LIKELY,
        explains=_SLOWS,
        commands=(("ssh", "{host}", "cat /proc/cmdline; ls /sys/class/iommu"),),
        drain=Drain.FIRST,
        reference=NCCL + "/issues/841",
    ),
    Cause(
        "rail_far",
        Severity.WARNING,
        rules=("rail.far",),
        explains=("peak", "gdr.far"),
        commands=TOPOLOGY,
        reference=NCCL + "/issues/412",
    ),
    Cause(
        "hca_slot_too_small",
        Severity.WARNING,
        rules=("pcie.slot_too_small",),
        explains=("peak", "gdr.far"),
        commands=_SLOT,
        drain=Drain.FIRST,
        reference=TESTS + "/issues/290",
    ),
    Cause(
        "topology_late", rules=("topology.late",), commands=_LINKS, drain=Drain.FIRST, reference=NCCL + "/issues/557"
    ),
)
