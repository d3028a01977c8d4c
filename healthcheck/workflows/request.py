"""What the user asked for, complete and checked, before anything is touched."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from healthcheck.model.baseline import Baseline
from healthcheck.model.gate import GateAsked, GateRecord
from healthcheck.model.host import Host
from healthcheck.model.platform import Platform
from healthcheck.model.playbook import Playbook
from healthcheck.model.record import Owner
from healthcheck.model.slurm import SlurmJob
from healthcheck.model.thresholds import AskedThresholds
from healthcheck.ports import PushFile

LOCALHOST = Host(name="localhost", address="localhost")


class RunRequest(Struct, frozen=True):
    """One check-up. `platform` None means: find it among `platforms` from what the probes see.

    `binary_folder` is where nccl-tests stands on the nodes; None when `push` brings it. `launch_from` is `first`
    (the first healthy host), `local` (this machine) or the name of a host. `slurm_jobs` are the ids of the Slurm job
    healthcheck runs in, as squeue prints them: its nodes are ours; `slurm` is the allocation in which srun starts jobs.
    `allocation` is the Slurm job that named the hosts, where no -H did. `baseline` is what the nodes used to read,
    where that was given, and `history` whether earlier runs are asked where it was not. A search plays at most
    `max_rounds`, takes `budget_s` seconds (None: what its stage says) and looks for losses from `sensitivity` up
    (None: what fits). `gate` makes it the pre-flight of a job, which has to be over in time; `gate_before` is what
    became of it before it was interrupted.
    """

    run_id: str
    owner: Owner
    hosts: tuple[Host, ...]
    playbook: Playbook
    platform: Platform | None
    platforms: dict[str, Platform]
    tool: str
    binary_folder: str | None = None
    push: tuple[PushFile, ...] = ()
    push_folder: str = ""
    launch_from: str = "first"
    launcher: Literal["mpirun", "hydra", "srun"] = "mpirun"
    only: str | None = None
    allow_busy: bool = False
    allow_degraded: bool = False
    thresholds: AskedThresholds | None = None
    baseline: Baseline | None = None
    history: bool = True
    simulated: bool = False
    playbook_sha256: str = ""
    hostfile: str = ""
    arguments: tuple[str, ...] = ()
    slurm_jobs: tuple[str, ...] = ()
    slurm: SlurmJob | None = None
    allocation: str = ""
    max_rounds: int = 16
    budget_s: float | None = None
    sensitivity: float | None = None
    gate: GateAsked | None = None
    gate_before: GateRecord | None = None

    def wants(self, stage: str) -> bool:
        """Whether a benchmark stage is to run; the probes always do, since busy nodes must be known."""
        if self.playbook.stage(stage) is None:
            return False
        # A search begins with a job over all nodes.
        return self.only in (None, stage) or (self.only == "localise" and stage == "multi_node")

    def named(self, run_id: str) -> RunRequest:
        """The same request under the id of the run directory made for it."""
        return replace(self, run_id=run_id)

    def with_slots(self, slots: int) -> RunRequest:
        """The same request with `slots` on every host that does not say how many it has."""
        hosts = tuple(host if host.slots is not None else replace(host, slots=slots) for host in self.hosts)
        return replace(self, hosts=hosts)
