"""The paths inside a node: title, remedy, mechanism and counter-evidence of each cause."""

from __future__ import annotations

FABRIC_CAUSE_TEXTS: dict[str, str] = {}
