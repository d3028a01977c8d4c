"""Texts about looks at a node (probes)."""

PROBE_TEXTS: dict[str, str] = {}
