"""What each check asks, and why: one sentence a check id."""

CHECK_TEXTS: dict[str, str] = {
    "check.node.allocation": "has Slurm given the node to another job; it may not have begun to use the GPUs yet",
}
