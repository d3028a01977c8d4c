"""Kernel, limits and settings of a node: title, remedy, mechanism and counter-evidence of each cause."""

from __future__ import annotations

SYSTEM_CAUSE_TEXTS: dict[str, str] = {}
