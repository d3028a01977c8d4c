"""Texts about looks at the operating system of a node, and at its scheduler."""

SYSTEM_TEXTS: dict[str, str] = {}
