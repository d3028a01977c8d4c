"""Where a job starts, and what is known about that place."""

from __future__ import annotations

from msgspec import Struct

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

    @property
    def started(self) -> tuple[str, ...]:
        """The program as a rank starts it, behind its deadline and the place for its log."""
        return (*self.wrapper, self.program)


def nccl_tests_arguments(
    min_bytes: int, max_bytes: int, factor: int, iterations: int, warmup: int, check: bool
) -> tuple[str, ...]:
    """Options of nccl-tests: one GPU a rank, so that ranks and GPUs are the same number.

    Warm-up is always written out: its default changed from 5 to 1 in nccl-tests 2.16.8.
    """
    return (
        *("-b", str(min_bytes)),
        *("-e", str(max_bytes)),
        *("-f", str(factor)),
        *("-g", "1"),
        *("-n", str(iterations)),
        *("-w", str(warmup)),
        *("-c", "1" if check else "0"),
    )
