"""What NCCL writes about a node itself: CUDA, peer access, NVLS, shared memory, versions and settings."""

from __future__ import annotations

from healthcheck.diagnosis.catalogue.lines import (
    GPU_TROUBLE,
    GPUS,
    MPIRUN,
    NCCL,
    RUN_TROUBLE,
    SETTINGS,
    TESTS,
    TOPOLOGY,
    XID,
)
from healthcheck.diagnosis.catalogue.repairs import DIAGNOSE, RESET, RESET_ALL, RESTART_FABRIC, START_FABRIC
from healthcheck.diagnosis.cause import Cause, Drain, Severity
from healthcheck.model.finding import Confidence

_LIKELY, _SUSPECTED = Confidence.LIKELY, Confidence.SUSPECTED
_WARNING = Severity.WARNING
_BREAKS = ("integrity", "peak")
_SLOWS = ("peak",)
_SETTINGS = (("ssh", "{host}", "cat /etc/nccl.conf ~/.nccl.conf; env | grep NCCL_"),)
_FABRIC = (
    ("ssh", "{host}", "systemctl status nvidia-fabricmanager --no-pager | head -n 20"),
    ("ssh", "{host}", "nvidia-smi -q | grep -A 4 Fabric"),
)
_DRIVER = (("ssh", "{host}", "cat /proc/driver/nvidia/version; nvidia-smi --query-gpu=driver_version --format=csv"),)
_SHM = (("ssh", "{host}", "df -h /dev/shm; ls -l /dev/shm | head"),)

NCCL_CAUSES: tuple[Cause, ...] = (
    # The GPU or the driver gave up.
    Cause(
        "gpu_memory_fault",
        signature=r"uncorrectable ECC|illegal memory access|unspecified launch failure",
        explains=_BREAKS,
        confidence=_LIKELY,
        commands=GPUS,
        drain=Drain.FIRST,
        repairs=(*RESET, *DIAGNOSE),
        reference=XID,
    ),
    Cause(
        "nvml_lost_gpu",
        signature=r"nvml\w+.* failed: (?:Unknown Error|GPU is lost)|fallen off the bus",
        explains=_BREAKS,
        commands=GPUS,
        drain=Drain.FIRST,
        reference=XID,
    ),
    Cause(
        "driver_library_differ",
        signature=r"[Dd]river/library version mismatch",
        explains=_BREAKS,
        commands=_DRIVER,
        drain=Drain.FIRST,
        reference="https://github.com/NVIDIA/ubuntu-packaging-nvidia-driver/issues/3",
    ),
    Cause(
        "driver_too_old",
        signature=r"CUDA driver version is insufficient|forward compatibility|named symbol not found|no kernel image",
        explains=_BREAKS,
        commands=_DRIVER,
        reference="https://docs.nvidia.com/deploy/cuda-compatibility/index.html",
    ),
    # NVSwitch, NVLink and peers.
    Cause(
        "fabric_not_initialised",
        signature=r"system not yet initialized|Cuda failure 802",
        explains=_BREAKS,
        confidence=_LIKELY,
        commands=_FABRIC,
        drain=Drain.FIRST,
        repairs=START_FABRIC,
        reference=TESTS + "/issues/264",
    ),
    Cause(
        "nvls_stale",
        signature=r"nvls\S*:\d+ .*Cuda failure 1 |nvls.*'invalid argument'",
        explains=_BREAKS,
        confidence=_LIKELY,
        commands=_FABRIC,
        drain=Drain.FIRST,
        repairs=RESTART_FABRIC,
        reference=NCCL + "/issues/976",
    ),
    Cause(
        "nvls_unavailable",
        _WARNING,
        rules=("nvls.off",),
        signature=r"NVLS multicast support is not available",
        info=True,
        explains=_SLOWS,
        confidence=_LIKELY,
        contradicted=("fabric.joined",),
        commands=_FABRIC,
        drain=Drain.FIRST,
        repairs=RESTART_FABRIC,
        reference=NCCL + "/issues/976",
    ),
    Cause(
        "nvlink_peers_off",
        signature=r"P2P is disabled between NVLINK connected GPUs",
        explains=_BREAKS,
        commands=(("ssh", "{host}", "nvidia-smi nvlink -s"), *TOPOLOGY),
        drain=Drain.FIRST,
        repairs=RESET_ALL,
        reference=NCCL + "/issues/2329",
    ),
    Cause(
        "pcie_peers_off",
        _WARNING,
        signature=r"P2P is disabled between connected GPUs",
        explains=_SLOWS,
        confidence=_LIKELY,
        commands=(("ssh", "{host}", "nvidia-smi topo -p2p n"),),
        reference=GPU_TROUBLE,
    ),
    Cause(
        "peer_access_refused",
        _WARNING,
        signature=r"Could not enable P2P between dev",
        explains=_SLOWS,
        confidence=_LIKELY,
        commands=(("ssh", "{host}", "nvidia-smi topo -p2p n"),),
        reference=GPU_TROUBLE,
    ),
    Cause(
        "too_many_peers",
        signature=r"Cuda failure 711|peer mapping resources exhausted|too many peers",
        explains=_BREAKS,
        reference=NCCL + "/issues/1874",
    ),
    Cause(
        "imex_missing",
        signature=r"Cuda failure (?:800 )?.*operation not permitted",
        explains=_BREAKS,
        confidence=_LIKELY,
        commands=(("ssh", "{host}", "ls -l /dev/nvidia-caps-imex-channels; nvidia-imex-ctl -N"),),
        reference=GPU_TROUBLE,
    ),
    Cause(
        "mnnvl_not_working",
        _WARNING,
        signature=r"MNNVL .*available but not working",
        explains=_SLOWS,
        commands=(("ssh", "{host}", "nvidia-imex-ctl -N"),),
        reference=NCCL + "/issues/2186",
    ),
    # What the job asked for.
    Cause(
        "handles_across_containers",
        signature=r"[Cc]uMem\w+.*(?:Cuda failure 101|invalid device ordinal)",
        explains=_BREAKS,
        confidence=_LIKELY,
        reference=NCCL + "/issues/1647",
    ),
    Cause(
        "too_many_ranks",
        signature=r"invalid device ordinal|Invalid number of GPUs: \d+ requested",
        explains=_BREAKS,
        commands=(("ssh", "{host}", "nvidia-smi -L; env | grep CUDA_VISIBLE_DEVICES"),),
        reference=TESTS + "/issues/54",
    ),
    Cause(
        "duplicate_gpu",
        signature=r"Duplicate GPU detected|Multiple [Rr]anks are using the same GPU",
        explains=_BREAKS,
        reference=NCCL + "/issues/418",
    ),
    Cause(
        "nccl_versions_differ",
        signature=r"Mismatched NCCL version",
        explains=_BREAKS,
        commands=(("ssh", "{host}", "ldconfig -p | grep libnccl"),),
        reference=NCCL + "/issues/605",
    ),
    Cause(
        "message_truncated",
        signature=r"Message truncated : received \d+ bytes instead of \d+",
        explains=_BREAKS,
        confidence=_LIKELY,
        commands=(("ssh", "{host}", "ldconfig -p | grep libnccl"),),
        reference=NCCL + "/issues/268",
    ),
    # Memory, files and processors.
    Cause(
        "shm_too_small",
        signature=r"(?i:failed to extend|fallocate.*fail)|No space left on device|exited on signal 7|Bus error",
        explains=_BREAKS,
        confidence=_LIKELY,
        commands=_SHM,
        reference=NCCL + "/issues/290",
    ),
    Cause(
        "shm_not_shared",
        signature=r"Error while (?:creating|attaching to) shared memory segment",
        explains=_BREAKS,
        confidence=_LIKELY,
        commands=_SHM,
        reference=NCCL + "/issues/342",
    ),
    Cause(
        "shm_removed",
        _WARNING,
        signature=r"unlink shared memory \S+ failed.*No such file",
        explains=("integrity",),
        confidence=_LIKELY,
        commands=(
            ("ssh", "{host}", "loginctl show-user $(id -un) --property=Linger"),
            ("ssh", "{host}", "grep -i RemoveIPC /etc/systemd/logind.conf"),
        ),
        reference=RUN_TROUBLE,
    ),
    Cause(
        "too_many_open_files",
        signature=r"Too many open files",
        explains=_BREAKS,
        commands=(("ssh", "{host}", "ulimit -n"),),
        reference=RUN_TROUBLE,
    ),
    Cause(
        "numa_forbidden",
        _WARNING,
        signature=r"(?:[gs]et_mempolicy|cuMemCreate|cuMemHost\w*)(?!.*out of memory).*(?:[Ff]ail|not permitted)",
        explains=_BREAKS,
        confidence=_LIKELY,
        reference=RUN_TROUBLE,
    ),
    Cause(
        "rank_pinned",
        _WARNING,
        signature=r"Could not (?:get|set) .*affinity|[Aa]ffinity .*to 0*1$",
        info=True,
        explains=_SLOWS,
        confidence=_LIKELY,
        commands=(("ssh", "{host}", "taskset -pc $$"),),
        reference=MPIRUN,
    ),
    Cause(
        "topology_broken",
        signature=r"too many Topo links|Failed to find reverse path",
        explains=_BREAKS,
        commands=TOPOLOGY,
        reference=GPU_TROUBLE,
    ),
    Cause(
        "topology_hidden",
        _WARNING,
        signature=r"Could not find real path of|Could not find any local path from gpu",
        info=True,
        explains=_SLOWS,
        confidence=_LIKELY,
        commands=(("ssh", "{host}", "mount | grep sysfs"), *TOPOLOGY),
        reference=NCCL + "/issues/820",
    ),
    # Settings.
    Cause(
        "algorithm_impossible",
        signature=r"No algorithm/protocol available",
        explains=_BREAKS,
        commands=_SETTINGS,
        reference=SETTINGS,
    ),
)
"""Rows with a wide pattern stand behind those with a narrow one: the first that matches a line names its cause."""
