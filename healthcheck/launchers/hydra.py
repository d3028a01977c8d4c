"""MPICH and Intel MPI (hydra): a job as an mpirun command line. Pure."""

from __future__ import annotations

from healthcheck.launchers.site import HOSTFILE, SSH_SCRIPT, LaunchSite, launched
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
    return launched(argv, job, site)
