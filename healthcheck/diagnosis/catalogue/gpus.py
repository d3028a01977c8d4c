"""GPUs, their memory, their clocks and the NVLinks between them."""

from __future__ import annotations

from healthcheck.diagnosis.catalogue.lines import GPUS, PLATFORMS, SMI, XID
from healthcheck.diagnosis.cause import Cause

# A job over GPUs that are not there ends as if too many ranks had been asked for.
_LACKS = ("integrity", "peak", "warn.too_many_ranks")

GPU_CAUSES: tuple[Cause, ...] = (
    Cause("gpu_lost", rules=("gpu.lost",), explains=_LACKS, commands=GPUS, reference=XID),
    Cause("gpu_none", rules=("gpu.none",), explains=_LACKS, commands=GPUS, reference=XID),
    Cause("gpu_fewer", rules=("gpu.fewer",), explains=_LACKS, commands=GPUS, reference=XID),
    Cause(
        "gpu_no_driver",
        rules=("gpu.no_driver",),
        commands=(("ssh", "{host}", "nvidia-smi; lsmod | grep nvidia"),),
        reference=SMI,
    ),
    Cause("gpu_tool_missing", rules=("gpu.tool_missing",), commands=(("ssh", "{host}", "command -v nvidia-smi"),)),
    Cause("gpu_unreadable", rules=("gpu.unreadable",), commands=GPUS, reference=XID),
    Cause("gpu_other_model", rules=("gpu.other_model", "gpu.more"), commands=PLATFORMS),
)
