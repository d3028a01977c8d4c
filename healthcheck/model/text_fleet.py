"""Texts about what should be the same on all nodes."""

FLEET_TEXTS: dict[str, str] = {}
