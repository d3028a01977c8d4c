"""What should be the same on all nodes, and is not."""

from __future__ import annotations

from healthcheck.diagnosis.catalogue.lines import LOOKS
from healthcheck.diagnosis.cause import Cause, Drain, Severity

_VERSIONS = (
    ("ssh", "{host}", "nvidia-smi --query-gpu=driver_version,vbios_version --format=csv,noheader | sort | uniq -c"),
)

FLEET_CAUSES: tuple[Cause, ...] = (
    Cause(
        "drift_nccl",
        rules=("drift.nccl",),
        explains=("integrity",),
        commands=(("ssh", "{host}", "ldconfig -p | grep libnccl"),),
        reference="https://github.com/NVIDIA/nccl/issues/605",
    ),
    Cause(
        "drift_driver",
        Severity.WARNING,
        rules=("drift.driver",),
        commands=_VERSIONS,
        drain=Drain.FIRST,
        reference="https://docs.nvidia.com/datacenter/tesla/fabric-manager-user-guide/index.html",
    ),
    Cause(
        "drift_firmware",
        Severity.WARNING,
        rules=("drift.hca_firmware", "drift.vbios"),
        commands=(("ssh", "{host}", "grep . /sys/class/infiniband/*/fw_ver"), *_VERSIONS),
        reference="https://github.com/NVIDIA/nccl/issues/1273",
    ),
    Cause(
        "drift_library",
        Severity.WARNING,
        rules=("drift.libnccl", "drift.ofed", "drift.mpi"),
        commands=(("ssh", "{host}", "ldconfig -p | grep -e libnccl -e libmpi; ofed_info -s; mpirun --version"),),
        reference="https://github.com/NVIDIA/nccl/issues/1273",
    ),
    Cause(
        "drift_settings",
        Severity.WARNING,
        rules=("drift.nccl_settings",),
        commands=(("ssh", "{host}", "cat /etc/nccl.conf ~/.nccl.conf; env | grep ^NCCL_"),),
        reference="https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
    ),
    Cause("pin_differs", Severity.WARNING, rules=("pin.differs",), commands=_VERSIONS, reference=LOOKS),
    Cause("pin_not_told", Severity.INFO, rules=("pin.not_told",), commands=_VERSIONS, reference=LOOKS),
)
