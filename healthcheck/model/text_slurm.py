"""Texts of `healthcheck slurm` (what would undo our drains) and of `schedule slurm` and `schedule k8s`."""

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
    # --- schedule slurm, schedule k8s ---
    "schedule.cluster.limit": "{nodes} {nodes:node|nodes}, ended after {limit}",
    "schedule.cluster.gate": "{file} asks for {nodes} {nodes:node|nodes} and starts its job where {need} of "
    "them are proven together",
    "schedule.cluster.examples": "{first} and {second} are examples: read them before you give one to slurmd",
    "schedule.cluster.not_submitted": "nothing was submitted; this does it:",
    "schedule.cluster.claim": "runs are kept in the claim {claim} of namespace {namespace}, which has to be there",
    "schedule.cluster.no_rdma": "no RDMA resource is asked for (--rdma): pods that do not see the cards "
    "otherwise measure TCP",
    "schedule.cluster.secret": "alerts go to the addresses in the Secret {secret}: no manifest holds them, the first "
    "line below makes it",
    "schedule.cluster.not_applied": "rendered only: no cluster was asked, nothing was applied; this does it:",
}
