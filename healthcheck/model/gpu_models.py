"""GPUs that carry NVLinks on their board: how many links each has, and on which boards switches join them.

Cards that are joined by bridges (PCIe, NVL) are left out on purpose: which of them carry a bridge is a choice.
"""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec import Struct


class BoardGpu(Struct, frozen=True):
    """`pattern` is looked for in the name nvidia-smi prints; `switched`: eight of them are joined by NVSwitches.

    `nvls`: the switches that join them can add up by themselves; that came with the NVSwitch of Hopper.
    """

    pattern: str
    links: int
    switched: bool
    source: str
    nvls: bool = False


class SwitchModel(Struct, frozen=True):
    """An NVSwitch by PCI device id, and how many of them an 8-GPU board has."""

    device: str
    on_board: int
    source: str


_STAS = "https://github.com/stas00/ml-engineering/blob/master/network/README.md"
_GPUD = "https://github.com/leptonai/gpud (test data of its fabric-manager and pci packages)"
_AZURE = "https://github.com/Azure/azurehpc-health-checks (link counts of its NVLink check)"
_NCCL_1807 = "https://github.com/NVIDIA/nccl/issues/1807 (721.8 = 18 x 40.1 GB/s)"

FULL_BOARD = 8
"""With four GPUs a board joins each with each, without switches."""

BOARD_GPUS = (
    BoardGpu(r"\bP100-SXM", 4, False, _STAS),
    BoardGpu(r"\bV100-SXM2", 6, False, _STAS),
    BoardGpu(r"\bV100-SXM3", 6, True, _STAS),
    BoardGpu(r"\bA100-SXM", 12, True, _AZURE),
    BoardGpu(r"\bA800-SXM", 8, True, "https://github.com/NVIDIA/nccl/issues/412 (NV8)"),
    BoardGpu(r"\bH800\b(?!.*(PCIe|NVL))", 8, True, "https://github.com/deepseek-ai/DeepSeek-V3/issues/28", nvls=True),
    BoardGpu(r"\b(H100|H200)\b(?!.*(PCIe|NVL))", 18, True, _AZURE, nvls=True),
    BoardGpu(r"\bH20\b", 18, True, _STAS, nvls=True),
    BoardGpu(r"\b(B100|B200|B300)\b", 18, True, _NCCL_1807, nvls=True),
    BoardGpu(r"\b(GB200|GB300)\b", 18, False, _NCCL_1807, nvls=True),
)

SWITCH_MODELS = (SwitchModel("1af1", 6, _GPUD), SwitchModel("22a3", 4, _GPUD))

_ECC_BY_DEFAULT = re.compile(r"\b(P100|V100|A100|A800|A30|H100|H200|H800|H20|GH200|G?B[23]00|L4|L40S|T4)\b")


@lru_cache(maxsize=256)
def board_gpu(name: str) -> BoardGpu | None:
    """The row of a GPU, None where NVLinks are none of its board's business."""
    return next((row for row in BOARD_GPUS if re.search(row.pattern, name, re.IGNORECASE)), None)


def has_nvls(name: str, gpus: int) -> bool:
    """Do switches that can add up join this many GPUs of a name? In a rack they stand outside the node."""
    board = board_gpu(name)
    return board is not None and board.nvls and (gpus >= FULL_BOARD or not board.switched)


def has_ecc_on(name: str) -> bool:
    """Does a GPU of this name, board or card, come with ECC switched on?"""
    return _ECC_BY_DEFAULT.search(name) is not None
