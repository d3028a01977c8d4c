"""Texts about looks at GPUs and what connects them inside a node."""

GPU_TEXTS: dict[str, str] = {}
