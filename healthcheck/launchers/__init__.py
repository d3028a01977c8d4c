"""Which command line starts this job? Pure. Imports parsing, model.

`LAUNCHERS` is the shelf: the family that `mpirun --version` shows -> the function that writes its command line.
"""

from __future__ import annotations

from collections.abc import Callable

from healthcheck.launchers import hydra, mpirun
from healthcheck.launchers.site import LaunchSite
from healthcheck.model.command import CollectiveJob, Command

LAUNCHERS: dict[str, Callable[[CollectiveJob, LaunchSite], Command]] = {
    "openmpi": mpirun.command,
    "hydra": hydra.command,
}
