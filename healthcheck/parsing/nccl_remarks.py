"""WARN lines that NCCL and its plugins write in good runs too: they name no cause, whatever became of the job.

A pattern is searched in `file.cc:123 text`, as far as the file is known. The service for reliability (RAS, since 2.24)
listens on one port of a node, so every rank but the first says that it is taken.
"""

from __future__ import annotations

import re

REMARKS = (
    r"(?:^|[ /])ras/\w+\.\w+:\d+ ",
    r"\bRAS (?:\w+ )*(?:failed|could not|cannot|unable)",
    r"\b(?:PROFILER|TUNER|ENV|RMA|GIN)/Plugin\b",
    r"(?:^|[ /])plugin/(?:profiler|tuner|env)\S*:\d+ ",
    r"\b(?:NET|COLLNET)/Plugin\b.*(?i:could not find|failed to find|no plugin found|load returned|cannot open shared)",
    r"libnccl-(?:profiler|tuner|env)\S*",
    r"Could not find a path for pattern",
    r"\bset SHARP error handling\b",
    r"\bsharp init OK\b",
    r"\b(?:gdr_open|gdrdrv|[Gg][Dd][Rr]Copy)\b",
    r"\bibv_(?:query|set)_ece\b.*(?:not supported|\b95\b)",
    r"\bNUMA auto balancing\b|\biommu=pt\b",
    r"\bNCCL_\w+ (?:is )?deprecated\b",
)
_REMARK = re.compile("|".join(f"(?:{pattern})" for pattern in REMARKS))


def is_remark(text: str) -> bool:
    """Whether a line says nothing about a fault."""
    return _REMARK.search(text) is not None
