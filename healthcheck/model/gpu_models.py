"""GPUs that carry NVLinks on their board: how many links each has, and on which boards switches join them.

Cards that are joined by bridges (PCIe, NVL) are left out on purpose: which of them carry a bridge is a choice.
"""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec import Struct


class BoardGpu(Struct, frozen=True):
    """`pattern` is looked for in the name nvidia-smi prints; `switched`: eight of them are joined by NVSwitches."""

    pattern: str
    links: int
    switched: bool
    source: str


class SwitchModel(Struct, frozen=True):
    """An NVSwitch by PCI device id, and how many of them an 8-GPU board has."""

    device: str
    on_board: int
    source: str


_STAS = "https://github.com/stas00/ml-engineering/blob/master/network/README.md"
_GPUD = "https://github.com/leptonai/gpud (test data of its fabric-manager and pci packages)"
_AZURE = "https://github.com/Azure/azurehpc-health-checks (link counts of its NVLink check)"

BOARD_GPUS = (
    BoardGpu(r"\bP100-SXM", 4, False, _STAS),
    BoardGpu(r"\bV100-SXM2", 6, False, _STAS),
    BoardGpu(r"\bV100-SXM3", 6, True, _STAS),
    BoardGpu(r"\bA100-SXM", 12, True, _AZURE),
    BoardGpu(r"\bA800-SXM", 8, True, "https://github.com/NVIDIA/nccl/issues/412 (NV8)"),
    BoardGpu(r"\bH800\b(?!.*(PCIe|NVL))", 8, True, "https://github.com/deepseek-ai/DeepSeek-V3/issues/28"),
    BoardGpu(r"\b(H100|H200)\b(?!.*(PCIe|NVL))", 18, True, _AZURE),
    BoardGpu(r"\bH20\b", 18, True, _STAS),
    BoardGpu(r"\b(B200|B300)\b", 18, True, "https://github.com/NVIDIA/nccl/issues/1807 (721.8 = 18 x 40.1 GB/s)"),
    BoardGpu(r"\b(GB200|GB300)\b", 18, False, "https://github.com/NVIDIA/nccl/issues/1807"),
)

SWITCH_MODELS = (SwitchModel("1af1", 6, _GPUD), SwitchModel("22a3", 4, _GPUD))


@lru_cache(maxsize=256)
def board_gpu(name: str) -> BoardGpu | None:
    """The row of a GPU, None where NVLinks are none of its board's business."""
    return next((row for row in BOARD_GPUS if re.search(row.pattern, name, re.IGNORECASE)), None)
