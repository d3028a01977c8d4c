"""Where a job starts, what is known about that place, and what every launcher starts there."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from healthcheck.launchers.rank_log import rank_words
from healthcheck.model.command import CollectiveJob, Command
from healthcheck.model.node import MpiFlavour
from healthcheck.model.slurm import SlurmJob

SSH_CONFIG = "ssh_config"
KNOWN_HOSTS = "known_hosts"
HOSTFILE = "hostfile"
SSH_SCRIPT = "ssh"

# Seconds a rank or daemon gets after TERM before it is killed; the same everywhere so that deadlines add up.
GRACE_S = 5


class LaunchSite(Struct, frozen=True):
    """The machine a launcher starts on. `program` is the absolute path of the nccl-tests executable on every host.

    `folder` holds the launch files of this run (see `launchers.files`); None when the job stays on this one node.
    `slurm` is the allocation that srun starts ranks in, `wrapper` what the playbook starts the program by.
    """

    flavour: MpiFlavour
    program: str
    token: str
    folder: str | None = None
    as_root: bool = False
    slurm: SlurmJob | None = None
    wrapper: tuple[str, ...] = ()


def own_end(seconds: float) -> tuple[str, ...]:
    """What stands in front of a rank or a daemon: an end that needs nobody else."""
    return ("timeout", "-k", str(GRACE_S), str(round(seconds)))


def launched(launcher: Iterable[str], job: CollectiveJob, site: LaunchSite) -> Command:
    """The launcher with the words of a rank behind it. Every family starts the same: deadline, log, wrapper, program.

    Our own deadline is a little later than that of the ranks: the launcher should have the time to say what they ran
    into.
    """
    rank = (*own_end(job.timeout_s), *rank_words(site.token, job.id), *site.wrapper, site.program, *_arguments(job))
    return Command((*launcher, *rank), job.timeout_s + 2 * GRACE_S, site.token)


def _arguments(job: CollectiveJob) -> tuple[str, ...]:
    """Options of nccl-tests: one GPU a rank, so that ranks and GPUs are the same number.

    Warm-up is always written out: its default changed from 5 to 1 in nccl-tests 2.16.8.
    """
    return (
        *("-b", str(job.min_bytes)),
        *("-e", str(job.max_bytes)),
        *("-f", str(job.factor)),
        *("-g", "1"),
        *("-n", str(job.iterations)),
        *("-w", str(job.warmup)),
        *("-c", "1" if job.check else "0"),
        *job.arguments,
    )
