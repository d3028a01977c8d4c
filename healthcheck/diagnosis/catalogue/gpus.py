"""GPUs, their memory, their clocks and the NVLinks between them."""

from __future__ import annotations

from healthcheck.diagnosis.catalogue.lines import (
    AZURE,
    DRIVER,
    FABRIC_MANAGER,
    FIRST_RUN,
    GPU_TROUBLE,
    GPUS,
    IMBUE,
    PCI,
    PLATFORMS,
    SMI,
    XID,
)
from healthcheck.diagnosis.catalogue.repairs import (
    BUG_REPORT,
    DIAGNOSE,
    ECC_ON,
    MIG_OFF,
    RESET,
    RESET_ALL,
    RESTART_FABRIC,
    SHARED,
    START_FABRIC,
    UNLOCK,
)
from healthcheck.diagnosis.cause import Cause, Drain, Severity
from healthcheck.model.finding import Confidence

_WARNING = Severity.WARNING
_BREAKS = ("integrity", "peak")
_SLOWS = ("peak",)
_LOOKS = ("mode", "ecc", "gpu_pcie", "clocks", "recovery", "rows", "nvlink", "fabric")
_NOT_READ = tuple(f"{look}.unreadable" for look in _LOOKS)
# A job over GPUs that are not there ends as if too many ranks had been asked for.
_LACKS = (
    *_BREAKS,
    *_NOT_READ,
    "gpu.not_told",
    "warn.too_many_ranks",
    "warn.nvml_lost_gpu",
    "recovery.asked",
    "topology",
    "nvlink",
    "xid",
    "kernel.pcie_fatal",
)
_BAD_MEMORY = (*_BREAKS, "warn.gpu_memory_fault", "recovery.asked")
_MEMORY_XIDS = ("xid.48", "xid.63", "xid.64", "xid.92", "xid.94", "xid.95", "xid.140")
# How lost NVLinks show elsewhere: in the matrix, in the kernel log, in what NCCL chose.
_LINKS_SHOW = ("topology", "p2p", "nvls", "xid.74", "xid.136", "xid.145", "xid.149", "warn.nvlink_peers_off")
_UNREAD = (*_NOT_READ, "unseen", "busy.tool_missing", "busy.unreadable", "platform.unknown")
_NO_DRIVER = ("gpu.not_told", *_UNREAD)
_LINKS_GONE = ("nvlink.all_inactive", *_LINKS_SHOW)
_MODES = (("ssh", "{host}", "nvidia-smi --query-gpu=index,mig.mode.current,compute_mode --format=csv"),)
_MEMORY = (("ssh", "{host}", "nvidia-smi -q -d ECC,ROW_REMAPPER,PAGE_RETIREMENT"), *GPUS)
_CLOCKS = (("ssh", "{host}", "nvidia-smi -q -d PERFORMANCE,CLOCK,TEMPERATURE,POWER"),)
_LINKS = (("ssh", "{host}", "nvidia-smi nvlink -s; nvidia-smi nvlink -e"), *GPUS)
_SLOT = (("ssh", "-t", "{host}", "sudo lspci -d 10de: -vv | grep -e NVIDIA -e LnkCap: -e LnkSta:"),)
_FABRIC = (
    ("ssh", "{host}", "systemctl status nvidia-fabricmanager --no-pager | head -n 20"),
    ("ssh", "-t", "{host}", "sudo tail -n 40 /var/log/fabricmanager.log"),
)
_ECC = "https://docs.nvidia.com/deploy/a100-gpu-mem-error-mgmt/index.html"
_PAGES = "https://docs.nvidia.com/deploy/dynamic-page-retirement/index.html"
_LOST = "https://github.com/Azure/azhpc-diagnostics/issues/73"

GPU_CAUSES: tuple[Cause, ...] = (
    Cause(
        "gpu_lost",
        rules=("gpu.lost", "gpu.vanished"),
        explains=_LACKS,
        commands=GPUS,
        drain=Drain.FIRST,
        repairs=BUG_REPORT,
        reference=XID,
    ),
    Cause("gpu_none", rules=("gpu.none",), explains=_LACKS, commands=GPUS, drain=Drain.FIRST, reference=XID),
    Cause("gpu_fewer", rules=("gpu.fewer",), explains=_LACKS, commands=GPUS, drain=Drain.FIRST, reference=XID),
    Cause(
        "gpu_ecc_uncorrected",
        rules=("ecc.uncorrected", "ecc.grew"),
        explains=(*_BAD_MEMORY, *_MEMORY_XIDS, "rows.pending"),
        commands=_MEMORY,
        drain=Drain.FIRST,
        repairs=(*BUG_REPORT, *RESET),
        reference=_ECC,
    ),
    Cause(
        "gpu_sram_errors",
        rules=("ecc.sram",),
        explains=(*_BAD_MEMORY, *_MEMORY_XIDS),
        commands=_MEMORY,
        drain=Drain.FIRST,
        repairs=(*BUG_REPORT, *DIAGNOSE),
        reference=AZURE + "azure_gpu_ecc.nhc",
    ),
    Cause(
        "gpu_rows_used_up",
        rules=("rows.failure", "rows.many", "rows.retired"),
        explains=(*_BAD_MEMORY, *_MEMORY_XIDS),
        commands=_MEMORY,
        drain=Drain.FIRST,
        repairs=BUG_REPORT,
        reference=_ECC,
    ),
    Cause(
        "gpu_row_waits",
        rules=("rows.pending",),
        explains=(*_BAD_MEMORY, *_MEMORY_XIDS),
        commands=_MEMORY,
        drain=Drain.FIRST,
        repairs=RESET,
        reference=_ECC,
    ),
    Cause(
        "gpu_reset_asked",
        rules=("recovery.asked",),
        explains=(*_BREAKS, "xid"),
        commands=GPUS,
        drain=Drain.FIRST,
        reference=SMI,
    ),
    Cause(
        "mig_on",
        rules=("mode.mig",),
        explains=_BREAKS,
        commands=_MODES,
        drain=Drain.FIRST,
        repairs=MIG_OFF,
        reference=GPU_TROUBLE,
    ),
    Cause(
        "gpu_prohibited", rules=("mode.prohibited",), explains=_BREAKS, commands=_MODES, repairs=SHARED, reference=SMI
    ),
    Cause(
        "fabric_manager_down",
        rules=("fabric.down", "fabric.not_installed"),
        explains=(*_BREAKS, *_LINKS_GONE, "fabric.not_joined", "fabric.not_well", "warn.fabric_not_initialised"),
        commands=_FABRIC,
        drain=Drain.FIRST,
        repairs=START_FABRIC,
        reference=FABRIC_MANAGER,
    ),
    Cause(
        "fabric_manager_version",
        rules=("fabric.other_version",),
        explains=(*_BREAKS, *_LINKS_GONE, "fabric.not_joined", "fabric.not_well", "warn.fabric_not_initialised"),
        commands=_FABRIC,
        drain=Drain.FIRST,
        repairs=RESTART_FABRIC,
        reference=FABRIC_MANAGER,
    ),
    Cause(
        "nvswitch_missing",
        rules=("fabric.switch_missing",),
        explains=(*_BREAKS, *_LINKS_GONE, "nvlink.inactive", "nvlink.fewer"),
        commands=(("ssh", "{host}", "lspci -d 10de: -nn"), *_FABRIC),
        drain=Drain.FIRST,
        reference=FABRIC_MANAGER,
    ),
    Cause(
        "gpu_outside_fabric",
        rules=("fabric.not_joined", "fabric.not_well"),
        explains=(*_BREAKS, *_LINKS_GONE, "warn.fabric_not_initialised"),
        commands=_FABRIC,
        drain=Drain.FIRST,
        repairs=RESTART_FABRIC,
        reference=FABRIC_MANAGER,
    ),
    Cause(
        "nvlinks_all_inactive",
        rules=("nvlink.all_inactive",),
        explains=(*_BREAKS, *_LINKS_SHOW),
        commands=_LINKS,
        drain=Drain.FIRST,
        repairs=RESET_ALL,
        reference=_LOST,
    ),
    Cause(
        "nvlink_inactive",
        rules=("nvlink.inactive", "nvlink.fewer"),
        explains=(*_BREAKS, *_LINKS_SHOW, "nvlink.dropped", "nvlink.recovery", "nvlink.replay", "nvlink.crc"),
        commands=_LINKS,
        drain=Drain.FIRST,
        repairs=(*BUG_REPORT, *RESET_ALL),
        reference=_LOST,
    ),
    Cause(
        "nvlink_dropped",
        rules=("nvlink.dropped",),
        explains=(*_BREAKS, *_LINKS_SHOW, "nvlink.recovery", "nvlink.replay", "nvlink.crc"),
        commands=_LINKS,
        drain=Drain.FIRST,
        repairs=RESET,
        reference=XID,
    ),
    Cause(
        "gpu_lanes_missing",
        rules=("gpu_pcie.narrow",),
        explains=_SLOWS,
        commands=_SLOT,
        drain=Drain.FIRST,
        reference=PCI,
    ),
    Cause("power_brake", _WARNING, rules=("clocks.power_brake",), explains=_SLOWS, commands=_CLOCKS, reference=SMI),
    Cause(
        "gpu_too_hot",
        _WARNING,
        rules=("clocks.hw_thermal", "clocks.sw_thermal", "clocks.hot"),
        explains=_SLOWS,
        commands=_CLOCKS,
        reference=SMI,
    ),
    Cause("gpu_slowed_down", _WARNING, rules=("clocks.hw_slowdown",), explains=_SLOWS, commands=_CLOCKS, reference=SMI),
    Cause(
        "gpu_clock_low",
        _WARNING,
        rules=("clocks.low",),
        explains=_SLOWS,
        commands=_CLOCKS,
        repairs=UNLOCK,
        reference=SMI,
    ),
    Cause(
        "gpu_pcie_slow",
        _WARNING,
        rules=("gpu_pcie.slow", "gpu_pcie.slow_slot"),
        explains=_SLOWS,
        commands=_SLOT,
        drain=Drain.FIRST,
        reference=PCI,
    ),
    Cause(
        "nvlink_errors",
        _WARNING,
        rules=("nvlink.recovery", "nvlink.replay", "nvlink.crc"),
        explains=(*_SLOWS, "xid.74"),
        confidence=Confidence.LIKELY,
        commands=_LINKS,
        drain=Drain.IF_NEEDED,
        repairs=RESET,
        reference=IMBUE + "health_checks.py",
    ),
    Cause(
        "nvlink_slow",
        _WARNING,
        rules=("nvlink.slow",),
        explains=_SLOWS,
        commands=_LINKS,
        drain=Drain.FIRST,
        repairs=RESET_ALL,
        reference=_LOST,
    ),
    Cause(
        "gpu_corrects_many", _WARNING, rules=("ecc.corrected_grew",), commands=_MEMORY, repairs=DIAGNOSE, reference=_ECC
    ),
    Cause(
        "ecc_off",
        _WARNING,
        rules=("ecc.off", "ecc.pending"),
        commands=_MEMORY,
        drain=Drain.FIRST,
        repairs=ECC_ON,
        reference=SMI,
    ),
    Cause(
        "gpu_page_waits",
        _WARNING,
        rules=("rows.page_pending",),
        commands=_MEMORY,
        drain=Drain.FIRST,
        repairs=RESET,
        reference=_PAGES,
    ),
    Cause(
        "gpu_exclusive",
        _WARNING,
        rules=("mode.exclusive",),
        explains=_BREAKS,
        commands=_MODES,
        repairs=SHARED,
        reference=SMI,
    ),
    Cause(
        "gpu_no_driver",
        rules=("gpu.no_driver",),
        explains=_NO_DRIVER,
        commands=(("ssh", "{host}", "nvidia-smi; lsmod | grep nvidia"),),
        drain=Drain.FIRST,
        reference=DRIVER,
    ),
    Cause(
        "gpu_tool_missing",
        rules=("gpu.tool_missing",),
        explains=_NO_DRIVER,
        commands=(("ssh", "{host}", "command -v nvidia-smi"),),
        reference=DRIVER,
    ),
    Cause(
        "gpu_unreadable",
        rules=("gpu.unreadable", "gpu.not_told"),
        explains=_UNREAD,
        commands=GPUS,
        drain=Drain.FIRST,
        reference=XID,
    ),
    Cause(
        "gpu_field_error",
        rules=_NOT_READ,
        confidence=Confidence.LIKELY,
        commands=GPUS,
        drain=Drain.IF_NEEDED,
        repairs=RESET,
        reference=XID,
    ),
    Cause("fabric_manager_starting", rules=("fabric.starting",), commands=_FABRIC, reference=FABRIC_MANAGER),
    Cause("gpu_other_model", rules=("gpu.other_model", "gpu.more"), commands=PLATFORMS, reference=FIRST_RUN),
)
