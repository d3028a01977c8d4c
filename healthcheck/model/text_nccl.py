"""Texts about what NCCL says in its own log."""

NCCL_TEXTS: dict[str, str] = {}
