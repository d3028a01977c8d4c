"""The Slurm job that a check-up runs in, and how its srun starts ranks."""

from __future__ import annotations

from msgspec import Struct


class InJob(Struct, frozen=True):
    """The Slurm job that a process is a part of and ends with.

    `cluster` as Slurm calls itself, `job` its id there, `restarts` how often it had been put back into the queue.
    """

    cluster: str
    job: str
    restarts: int = 0


class SlurmJob(Struct, frozen=True):
    """The allocation whose nodes are measured. `job` is its id as Slurm counts it.

    `version` is that of srun as printed, `mpi` the plugin that wires up the ranks (`pmix`, `pmi2`, ...).
    `gpus_per_node` is what the job was given on every node, None where Slurm counts no GPUs.
    """

    job: str
    version: str = ""
    mpi: str = "pmix"
    gpus_per_node: int | None = None

    @property
    def overlaps(self) -> bool:
        """Whether steps share nodes only when asked to (`--overlap`): since Slurm 20.11. Unknown counts as new."""
        numbers = tuple(int(word) for word in self.version.split(".")[:2] if word.isdigit())
        return len(numbers) < 2 or numbers >= (20, 11)
