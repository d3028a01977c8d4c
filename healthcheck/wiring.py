"""The only file that picks implementations by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from healthcheck.model.host import Host
from healthcheck.model.message import Message
from healthcheck.model.platform import Platform
from healthcheck.model.playbook import PROBE_STAGE
from healthcheck.model.record import Owner
from healthcheck.model.slurm import SlurmJob
from healthcheck.ports import Clock, HostLocks, Memory, Transport
from healthcheck.workflows.engine import WIDTH, Engine
from healthcheck.workflows.request import RunRequest

MOST_JOBS = 4096
# Every job of srun is a process on this machine; slurmctld makes steps one after the other anyway.
MOST_STEPS = 128
# One step looks at all nodes: whoever waits for one of them costs a thread that sleeps.
STEP_WIDTH = 1024


@dataclass(frozen=True, slots=True)
class Outside:
    """The outside world of one command: how hosts are reached, and by which clock.

    `note` is what the user should know about it, for example too low a limit of open files. `width` bounds the hosts
    that are visited at once, `most_jobs` the jobs that can run at once.
    """

    transport: Transport
    local: Transport
    clock: Clock
    simulated: bool = False
    note: Message | None = None
    width: int = WIDTH
    most_jobs: int = MOST_JOBS

    def close(self) -> None:
        """Close every connection."""
        self.transport.close()
        self.local.close()


def memory_of(folder: Path, request: RunRequest) -> Memory:
    """What the runs beside the run directory `folder` say of the past of its nodes."""
    from healthcheck.edge.digests import simulated_fleet
    from healthcheck.edge.past import FolderMemory

    fleet = simulated_fleet(folder)
    seed = None if fleet is None else fleet.seed
    return FolderMemory(folder.parent, request.playbook, request.playbook_sha256, seed)


def locks_of(folder: Path, request: RunRequest, clock: Clock) -> HostLocks | None:
    """The locks beside the run directory `folder`.

    None where no host is loaded: simulated ones are nobody else's, and the probes may look at a node at any time.
    """
    if request.simulated or request.only == PROBE_STAGE:
        return None
    from healthcheck.edge.host_locks import FolderLocks

    return FolderLocks(folder.parent, request.run_id, request.owner, clock)


def locks_beside(results: Path, run_id: str, owner: Owner, clock: Clock) -> HostLocks:
    """The locks of a results folder, for what loads hosts and is no check-up."""
    from healthcheck.edge.host_locks import FolderLocks

    return FolderLocks(results, run_id, owner, clock)


def in_time(engine: Engine, folder: Path, budget_s: float, hosts: int) -> Engine:
    """The engine of a gate: its commands end with the budget (seconds), and it knows the passes beside `folder`."""
    from healthcheck.edge.digests import simulated_fleet
    from healthcheck.edge.fresh import FolderPasses
    from healthcheck.workflows.pace import Pace, PacedTransport

    fleet = simulated_fleet(folder)
    pace = Pace(engine.clock, budget_s, hosts)
    return replace(
        engine,
        transport=PacedTransport(engine.transport, pace),
        local=PacedTransport(engine.local, pace),
        pace=pace,
        passes=FolderPasses(folder.parent, None if fleet is None else fleet.seed),
    )


def real_outside(ssh_config: Path | None, accept_new_host_keys: bool, n_hosts: int) -> Outside:
    """SSH to the hosts, processes on this machine, the system clock."""
    from healthcheck.edge.clock import SystemClock
    from healthcheck.edge.file_limit import raise_file_limit
    from healthcheck.edge.local import LocalTransport
    from healthcheck.edge.ssh import SshSettings, SshTransport

    clock = SystemClock()
    settings = SshSettings(config_file=ssh_config, accept_new=accept_new_host_keys)
    note = raise_file_limit(n_hosts)
    return Outside(SshTransport(settings, clock), LocalTransport(clock), clock, note=note)


def slurm_outside(slurm: SlurmJob, n_hosts: int) -> Outside:
    """Steps of the Slurm job we are in, processes on this machine, the system clock."""
    import os

    from healthcheck.edge.clock import SystemClock
    from healthcheck.edge.local import LocalTransport
    from healthcheck.edge.srun_step import SrunTransport
    from healthcheck.parsing.slurm_job import allocated_nodes

    clock = SystemClock()
    transport = SrunTransport(slurm, allocated_nodes(os.environ), clock)
    width = max(WIDTH, min(n_hosts, STEP_WIDTH))
    return Outside(transport, LocalTransport(clock), clock, width=width, most_jobs=MOST_STEPS)


def simulated_outside(
    n: int,
    platform: Platform,
    seed: int,
    faults: Sequence[str],
    leaf_size: int,
    job_seconds: float,
    *,
    run_seed: int | None = None,
) -> tuple[Outside, tuple[Host, ...]]:
    """A simulated cluster inside this process, on virtual time, and its hosts.

    `seed` makes the machines; `run_seed`, the same where it is None, the noise with which they are measured.
    """
    from healthcheck.edge.clock import SystemClock
    from healthcheck.simulator.cluster import SimCluster
    from healthcheck.simulator.faults import parse_fault
    from healthcheck.simulator.transport import SimTransport, VirtualClock

    cluster = SimCluster(n, platform, seed, tuple(map(parse_fault, faults)), leaf_size, job_seconds, run_seed=run_seed)
    clock = VirtualClock(SystemClock().now())
    transport = SimTransport(cluster, clock)
    return Outside(transport, transport, clock, simulated=True), cluster.hosts()
