"""Slurm: a job as one srun step inside an allocation. Pure.

The step is started from the machine healthcheck runs on; slurmd starts the ranks, so no node logs into another.
Every rank carries the token of the run and a deadline of its own; the step has a time limit besides, which slurmctld
watches, for the case that neither srun nor a node speaks any more.
"""

from __future__ import annotations

import math

from healthcheck.launchers.site import LaunchSite, launched
from healthcheck.launchers.wrapper import TOKEN_VARIABLE
from healthcheck.model.command import CollectiveJob, Command
from healthcheck.model.slurm import SlurmJob
from healthcheck.parsing.nodeset import expand, fold_for_slurm

# What a job script may have set for its own steps, and would change ours: labels in the table, another order of the
# ranks, one GPU a rank (which hides the others from NCCL), a working directory or a program in front of ours.
FORGOTTEN = (
    "SLURM_CPU_BIND",
    "SLURM_CPUS_PER_TASK",
    "SLURM_DISTRIBUTION",
    "SLURM_EXACT",
    "SLURM_EXCLUSIVE",
    "SLURM_GPU_BIND",
    "SLURM_GPUS",
    "SLURM_GPUS_PER_TASK",
    "SLURM_HOSTFILE",
    "SLURM_LABELIO",
    "SLURM_NPROCS",
    "SLURM_NTASKS",
    "SLURM_NTASKS_PER_GPU",
    "SLURM_NTASKS_PER_NODE",
    "SLURM_STDERRMODE",
    "SLURM_STDINMODE",
    "SLURM_STDOUTMODE",
    "SLURM_TRES_PER_TASK",
    "SLURM_UNBUFFEREDIO",
    "SRUN_CPUS_PER_TASK",
)


# With the exchange that Slurm's PMIx chooses by itself, all ranks of one node now and then die in MPI_Init (Slurm 22.05
# with Open MPI 4.1 and 5.0, one job in ten); on a ring that was not seen. On a tree a job over some of the nodes hangs.
PMIX_ON_A_RING = "SLURM_PMIX_FENCE=ring"


def step_words(slurm: SlurmJob, *settings: str) -> tuple[str, ...]:
    """How every step of ours begins: in our job, beside other steps on the same nodes, and without bindings."""
    words = ["env", *(word for name in FORGOTTEN for word in ("-u", name)), *settings]
    words += ["srun", f"--jobid={slurm.job}", *(["--overlap"] if slurm.overlaps else [])]
    words += ["--export=ALL", "--chdir=/", "--cpu-bind=none", "--wait=0"]
    return tuple(words)


def command(job: CollectiveJob, site: LaunchSite) -> Command:
    """The srun command of one job, to be run where healthcheck runs."""
    slurm = site.slurm or SlurmJob("")
    settings = (PMIX_ON_A_RING,) if slurm.mpi.startswith("pmix") else ()
    argv = [*step_words(slurm, *settings), f"--mpi={slurm.mpi}", "--kill-on-bad-exit=1", "--quit-on-interrupt"]
    argv += [f"--time={math.ceil(job.timeout_s / 60) + 1}", *_where(job)]
    if slurm.gpus_per_node is not None:
        argv += [f"--gpus-per-node={slurm.gpus_per_node}", "--gpu-bind=none"]
    argv += ["env", *(f"{name}={value}" for name, value in ((TOKEN_VARIABLE, site.token), *job.env))]
    return launched(argv, job, site)


def _where(job: CollectiveJob) -> list[str]:
    """Nodes and ranks. Slurm sorts nodes: where a job has another order, each rank is given its node by name."""
    counts = [f"--nodes={len(job.hosts)}", f"--ntasks={job.n_ranks}"]
    folded = fold_for_slurm(job.hosts)
    if len(set(job.ranks_per_host)) == 1 and expand(folded, "") == job.hosts:
        return [f"--nodelist={folded}", *counts, f"--ntasks-per-node={job.ranks_per_host[0]}"]
    named = (name for name, ranks in zip(job.hosts, job.ranks_per_host, strict=True) for name in [name] * ranks)
    return [f"--nodelist={','.join(named)}", *counts, "--distribution=arbitrary"]
