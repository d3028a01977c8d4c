"""Texts of `healthcheck slurm`: what would undo our drains, and what is left alone."""

SLURM_TEXTS: dict[str, str] = {
    "slurm.no_client": "no Slurm answers here: scontrol was not found, or has no cluster; run this where it works, "
    "such as a login node",
    "slurm.silent": "Slurm does not say which nodes are drained: {detail}",
    "slurm.cut": "Slurm lists more nodes than are read here; nothing is printed, because it would not be all of them",
    "slurm.nothing": "no node is drained for a reason of run {run_id}: nothing to undo",
    "slurm.ours": "{n} {n:node is|nodes are} drained for a reason of run {run_id}: {nodes}",
    "slurm.not_run": "nothing was run: copy the lines once {n} {n:node is|nodes are} repaired",
    "slurm.other": "left alone: {node} is drained for another reason now: {reason}",
    "slurm.other_silent": "left alone: {node} is drained, and no reason is given",
    "slurm.not_drained": "not drained: {nodes}",
    "slurm.unknown": "Slurm has no node of this name: {nodes}",
}
