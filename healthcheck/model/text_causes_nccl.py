"""Lines of NCCL: title, remedy, mechanism and counter-evidence of each cause."""

from __future__ import annotations

NCCL_CAUSE_TEXTS: dict[str, str] = {}
