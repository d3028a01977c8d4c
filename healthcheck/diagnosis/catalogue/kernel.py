"""What the kernel logged about GPUs, NVSwitches, links, PCIe and memory."""

from __future__ import annotations

from healthcheck.diagnosis.catalogue.lines import AZURE, FABRIC_MANAGER, GPUS, IMBUE, NCCL, PORT, XID
from healthcheck.diagnosis.catalogue.repairs import BUG_REPORT, CLEAR_COUNTERS, DIAGNOSE, RESET, RESTART_FABRIC
from healthcheck.diagnosis.cause import Cause, Drain, Severity
from healthcheck.model.finding import Confidence

_W, _I = Severity.WARNING, Severity.INFO
_LIKELY, _SUSPECTED = Confidence.LIKELY, Confidence.SUSPECTED
_BREAKS = ("integrity", "peak", "warn.gpu_memory_fault", "warn.nvml_lost_gpu")
_LINK_BREAKS = ("integrity", "peak")
_LOG = (("ssh", "-t", "{host}", "sudo dmesg -T | tail -n 100"),)
_MEMORY = (("ssh", "{host}", "nvidia-smi -q -d ECC,ROW_REMAPPER"), *GPUS)
_LINKS = (("ssh", "{host}", "nvidia-smi nvlink -s; nvidia-smi nvlink -e"), *GPUS)
_PCIE = (
    ("ssh", "-t", "{host}", 'sudo dmesg -T | grep -e AER -e "PCIe Bus Error" | tail -n 20'),
    ("ssh", "-t", "{host}", 'sudo lspci -vv | grep -e LnkSta: -e "^[0-9a-f]"'),
)
_SWITCHES = (
    ("ssh", "{host}", "systemctl status nvidia-fabricmanager"),
    ("ssh", "-t", "{host}", "sudo dmesg -T | grep -i sxid | tail -n 20"),
)
_AER = "https://docs.kernel.org/PCI/pcieaer-howto.html"
_OOM = "https://docs.kernel.org/admin-guide/mm/concepts.html"
_HUNG = "https://docs.kernel.org/admin-guide/sysctl/kernel.html"

KERNEL_CAUSES: tuple[Cause, ...] = (
    Cause(
        "xid_off_bus",
        rules=("xid.79",),
        explains=_BREAKS,
        commands=GPUS,
        drain=Drain.FIRST,
        repairs=BUG_REPORT,
        reference=XID,
    ),
    Cause(
        "xid_memory_double",
        rules=("xid.48",),
        explains=_BREAKS,
        commands=_MEMORY,
        drain=Drain.FIRST,
        repairs=RESET,
        reference=XID,
    ),
    Cause(
        "xid_row_failed",
        rules=("xid.64",),
        explains=_BREAKS,
        commands=_MEMORY,
        drain=Drain.FIRST,
        repairs=RESET,
        reference=XID,
    ),
    Cause(
        "xid_memory_uncontained",
        rules=("xid.95",),
        explains=_BREAKS,
        commands=_MEMORY,
        drain=Drain.FIRST,
        repairs=(*RESET, *DIAGNOSE),
        reference=XID,
    ),
    Cause(
        "xid_memory_unrecovered",
        rules=("xid.140",),
        explains=_BREAKS,
        commands=_MEMORY,
        drain=Drain.FIRST,
        repairs=RESET,
        reference=XID,
    ),
    Cause(
        "xid_nvlink",
        rules=("xid.74",),
        explains=_BREAKS,
        commands=_LINKS,
        drain=Drain.FIRST,
        repairs=RESET,
        reference=XID,
    ),
    Cause(
        "xid_nvlink_event",
        rules=("xid.145", "xid.149"),
        explains=_BREAKS,
        commands=_LINKS,
        drain=Drain.FIRST,
        repairs=RESET,
        reference=XID,
    ),
    Cause(
        "xid_nvlink_training",
        rules=("xid.136",),
        explains=_BREAKS,
        commands=_LINKS,
        drain=Drain.FIRST,
        repairs=RESTART_FABRIC,
        reference=XID,
    ),
    Cause(
        "xid_firmware",
        rules=("xid.119", "xid.120"),
        explains=_BREAKS,
        commands=GPUS,
        drain=Drain.FIRST,
        repairs=RESET,
        reference=XID,
    ),
    Cause(
        "xid_fatal",
        rules=("xid.fatal",),
        explains=_BREAKS,
        commands=GPUS,
        drain=Drain.FIRST,
        repairs=(*BUG_REPORT, *RESET),
        reference=XID,
    ),
    Cause(
        "xid_recovery",
        rules=("xid.154",),
        explains=_BREAKS,
        commands=GPUS,
        drain=Drain.FIRST,
        repairs=RESET,
        reference=XID,
    ),
    Cause(
        "switch_fatal",
        rules=("sxid.fatal",),
        explains=_LINK_BREAKS,
        commands=_SWITCHES,
        drain=Drain.FIRST,
        repairs=RESTART_FABRIC,
        reference=FABRIC_MANAGER,
    ),
    Cause(
        "link_lost",
        rules=("kernel.link_down",),
        explains=_LINK_BREAKS,
        commands=PORT,
        drain=Drain.FIRST,
        repairs=CLEAR_COUNTERS,
        reference=AZURE + "azure_ib_link_flapping.nhc",
    ),
    Cause(
        "pcie_fatal",
        rules=("kernel.pcie_fatal",),
        explains=_LINK_BREAKS,
        commands=_PCIE,
        drain=Drain.FIRST,
        reference=_AER,
    ),
    Cause(
        "driver_stuck",
        rules=("kernel.hung_driver",),
        explains=_LINK_BREAKS,
        commands=_LOG,
        drain=Drain.FIRST,
        reference=XID,
    ),
    Cause(
        "xid_memory_contained",
        _W,
        rules=("xid.94",),
        explains=_BREAKS,
        commands=_MEMORY,
        drain=Drain.FIRST,
        repairs=RESET,
        reference=XID,
    ),
    Cause(
        "xid_row_pending", _W, rules=("xid.63",), commands=_MEMORY, drain=Drain.IF_NEEDED, repairs=RESET, reference=XID
    ),
    Cause("xid_memory_single", _W, rules=("xid.92",), commands=_MEMORY, reference=XID),
    Cause(
        "xid_peer_memory",
        _W,
        rules=("xid.137",),
        commands=_LINKS,
        drain=Drain.IF_NEEDED,
        repairs=RESET,
        reference=NCCL + "/issues/2241",
    ),
    Cause(
        "xid_warning", _W, rules=("xid.warning",), commands=GPUS, drain=Drain.IF_NEEDED, repairs=RESET, reference=XID
    ),
    Cause(
        "pcie_uncorrected",
        _W,
        rules=("kernel.pcie_uncorrected",),
        commands=_PCIE,
        drain=Drain.IF_NEEDED,
        reference=_AER,
    ),
    Cause("pcie_corrected", _W, rules=("kernel.pcie_corrected",), commands=_PCIE, drain=Drain.FIRST, reference=_AER),
    Cause(
        "slot_too_narrow",
        _W,
        rules=("kernel.pcie_limited",),
        explains=("peak",),
        commands=PORT,
        drain=Drain.FIRST,
        reference=IMBUE + "health_check_fixes/fix_pcie_limited.sh",
    ),
    Cause("host_memory_out", _W, rules=("kernel.oom",), explains=("integrity.killed",), commands=_LOG, reference=_OOM),
    Cause("process_stuck", _W, rules=("kernel.hung",), confidence=_LIKELY, commands=_LOG, reference=_HUNG),
    Cause(
        "peermem_errors",
        _W,
        rules=("kernel.peermem",),
        confidence=_LIKELY,
        commands=_LOG,
        reference="https://github.com/Mellanox/nv_peer_memory/issues/120",
    ),
    Cause("switch_errors", _W, rules=("sxid.many",), confidence=_LIKELY, commands=_SWITCHES, reference=FABRIC_MANAGER),
    Cause(
        "xid_earlier",
        _W,
        rules=("xid.before",),
        confidence=_LIKELY,
        commands=GPUS,
        drain=Drain.IF_NEEDED,
        repairs=RESET,
        reference=XID,
    ),
    Cause(
        "switch_earlier",
        _W,
        rules=("sxid.before",),
        confidence=_LIKELY,
        commands=_SWITCHES,
        drain=Drain.IF_NEEDED,
        repairs=RESTART_FABRIC,
        reference=FABRIC_MANAGER,
    ),
    Cause("xid_application", _I, rules=("xid.app",), confidence=_SUSPECTED, commands=GPUS, reference=XID),
)
