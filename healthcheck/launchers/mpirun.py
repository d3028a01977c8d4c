"""Open MPI 4 and 5: a job as an mpirun command line. Pure.

Every daemon and every rank carries the token of the run and a deadline of its own, so that a node that loses its
connection to mpirun ends by itself. Spellings differ between 4.x (ORTE) and 5.x (PRRTE); see docs/howto/ssh.md.
"""

from __future__ import annotations

from healthcheck.launchers.site import HOSTFILE, SSH_CONFIG, LaunchSite, launched, own_end
from healthcheck.launchers.wrapper import TOKEN_VARIABLE
from healthcheck.model.command import CollectiveJob, Command

# A daemon that hears nothing from mpirun for 10 + 4 x 5 s ends its ranks and itself (Open MPI's default: 8 minutes).
_KEEPALIVE = {
    "oob_tcp_keepalive_time": "10",
    "oob_tcp_keepalive_intvl": "5",
    "oob_tcp_keepalive_probes": "4",
}


def _daemon(job: CollectiveJob, site: LaunchSite) -> tuple[str, ...]:
    """How mpirun starts its daemon on the other nodes, and when that gives up."""
    option, agent, ssh, daemon = (
        ("--prtemca", "prte_launch_agent", "plm_ssh", "prted")
        if site.flavour.major >= 5
        else ("--mca", "orte_launch_agent", "plm_rsh", "orted")
    )
    settings = {
        agent: " ".join(("env", f"{TOKEN_VARIABLE}={site.token}", *own_end(job.timeout_s), daemon)),
        f"{ssh}_args": f"-F {site.folder}/{SSH_CONFIG}",
        # A tree would start ssh on nodes that have neither our ssh config nor our known hosts.
        f"{ssh}_no_tree_spawn": "1",
        **_KEEPALIVE,
    }
    return tuple(word for name, value in settings.items() for word in (option, name, value))


def command(job: CollectiveJob, site: LaunchSite) -> Command:
    """The mpirun command of one job, to be run on `job.launch_host`."""
    argv: list[str] = ["mpirun"]
    if site.as_root:
        argv.append("--allow-run-as-root")
    argv += ["-np", str(job.n_ranks)]
    if site.folder is None:
        argv += ["--host", f"localhost:{job.n_ranks}"]
    else:
        # A daemon that detaches leaves its deadline behind: on a node whose link is cut it would stay for ever.
        argv += ["--hostfile", f"{site.folder}/{HOSTFILE}", "--leave-session-attached", *_daemon(job, site)]
    argv += ["--map-by", "slot", "--bind-to", "none"]
    argv += ["-x", f"{TOKEN_VARIABLE}={site.token}"]
    for name, value in job.env:
        argv += ["-x", f"{name}={value}"]
    return launched(argv, job, site)
