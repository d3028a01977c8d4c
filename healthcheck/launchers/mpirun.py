"""Open MPI 4 and 5: a job as an mpirun command line. Pure.

Every daemon and every rank carries the token of the run and a deadline of its own, so that a node that loses its
connection to mpirun ends by itself. Spellings differ between 4.x (ORTE) and 5.x (PRRTE); see docs/howto/ssh.md.
"""

from __future__ import annotations

from healthcheck.launchers.rank_log import rank_words
from healthcheck.launchers.site import GRACE_S, HOSTFILE, SSH_CONFIG, LaunchSite, nccl_tests_arguments
from healthcheck.launchers.wrapper import TOKEN_VARIABLE
from healthcheck.model.command import CollectiveJob, Command

# A daemon that hears nothing from mpirun for 10 + 4 x 5 s ends its ranks and itself (Open MPI's default: 8 minutes).
_KEEPALIVE = (("time", "10"), ("intvl", "5"), ("probes", "4"))


def own_deadline(seconds: float, token: str) -> tuple[str, ...]:
    """What stands in front of a daemon or a rank: its token, and an end that needs nobody else."""
    return ("env", f"{TOKEN_VARIABLE}={token}", "timeout", "-k", str(GRACE_S), str(round(seconds)))


def _daemon(job: CollectiveJob, site: LaunchSite) -> tuple[str, ...]:
    agent = " ".join((*own_deadline(job.timeout_s, site.token), "prted" if site.flavour.major >= 5 else "orted"))
    ssh_arguments = f"-F {site.folder}/{SSH_CONFIG}"
    if site.flavour.major >= 5:
        return (
            *("--prtemca", "prte_launch_agent", agent),
            *("--prtemca", "plm_ssh_args", ssh_arguments),
            *("--prtemca", "plm_ssh_no_tree_spawn", "1"),
            *_keepalive("--prtemca"),
        )
    return (
        *("--mca", "orte_launch_agent", agent),
        *("--mca", "plm_rsh_args", ssh_arguments),
        # A tree would start ssh on nodes that have neither our ssh config nor our known hosts.
        *("--mca", "plm_rsh_no_tree_spawn", "1"),
        *_keepalive("--mca"),
    )


def _keepalive(option: str) -> tuple[str, ...]:
    return tuple(word for name, value in _KEEPALIVE for word in (option, f"oob_tcp_keepalive_{name}", value))


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
    argv += ["timeout", "-k", str(GRACE_S), str(round(job.timeout_s)), *rank_words(site.token, job.id), *site.started]
    argv += nccl_tests_arguments(job.min_bytes, job.max_bytes, job.factor, job.iterations, job.warmup, job.check)
    argv += job.arguments
    # The outer deadline is a little later: mpirun should have the time to say what its ranks ran into.
    return Command(argv=tuple(argv), deadline_s=job.timeout_s + 2 * GRACE_S, token=site.token)
