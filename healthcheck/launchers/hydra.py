"""MPICH and Intel MPI (hydra): a job as an mpirun command line. Pure."""

from __future__ import annotations

from healthcheck.launchers.rank_log import rank_words
from healthcheck.launchers.site import GRACE_S, HOSTFILE, SSH_SCRIPT, LaunchSite, nccl_tests_arguments
from healthcheck.launchers.wrapper import TOKEN_VARIABLE
from healthcheck.model.command import CollectiveJob, Command


def command(job: CollectiveJob, site: LaunchSite) -> Command:
    """The hydra command of one job, to be run on `job.launch_host`."""
    argv: list[str] = ["mpirun", "-n", str(job.n_ranks)]
    if site.folder is None:
        argv += ["-hosts", f"localhost:{job.n_ranks}", "-launcher", "fork"]
    else:
        argv += ["-f", f"{site.folder}/{HOSTFILE}"]
        argv += ["-launcher", "ssh", "-launcher-exec", f"{site.folder}/{SSH_SCRIPT}"]
    for name, value in ((TOKEN_VARIABLE, site.token), *job.env):
        argv += ["-genv", name, value]
    argv += ["timeout", "-k", str(GRACE_S), str(round(job.timeout_s)), *rank_words(site.token, job.id), *site.started]
    argv += nccl_tests_arguments(job.min_bytes, job.max_bytes, job.factor, job.iterations, job.warmup, job.check)
    argv += job.arguments
    return Command(argv=tuple(argv), deadline_s=job.timeout_s + 2 * GRACE_S, token=site.token)
