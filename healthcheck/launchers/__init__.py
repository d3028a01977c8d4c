"""Which command line starts this job? Pure. Imports parsing, model.

`LAUNCHERS` is the shelf: the family that `mpirun --version` shows, or srun -> the function that writes its command.
"""

from __future__ import annotations

from collections.abc import Callable

from healthcheck.launchers import hydra, mpirun, srun
from healthcheck.launchers.site import LaunchSite
from healthcheck.model.command import CollectiveJob, Command

LAUNCHERS: dict[str, Callable[[CollectiveJob, LaunchSite], Command]] = {
    "openmpi": mpirun.command,
    "hydra": hydra.command,
    "srun": srun.command,
}
