"""What the Slurm job we run in gives to a check-up: its nodes, and srun to start ranks and to reach them."""

from __future__ import annotations

import os
from functools import cache
from typing import Literal

from healthcheck.errors import InputError
from healthcheck.model.host import Host
from healthcheck.model.playbook import Playbook
from healthcheck.model.slurm import SlurmJob
from healthcheck.parsing.slurm_job import (
    allocated_nodes,
    choose_mpi,
    components,
    gpus_per_node,
    job_id,
    read_mpi_plugins,
    read_version,
)

LauncherName = Literal["mpirun", "hydra", "srun"]
TransportName = Literal["auto", "ssh", "srun"]
_SRUN = ("srun", "srun:pmix", "srun:pmi2")


def allocated_hosts() -> tuple[tuple[Host, ...], str]:
    """The hosts of the Slurm job we run in and their text, for want of -H; InputError outside of a job."""
    job = job_id(os.environ)
    if job is None:
        raise InputError(
            "-H",
            "is missing: give a hostfile, a quoted node set, or --simulate N; inside a Slurm job (salloc, sbatch) "
            "none is needed, its nodes are taken",
        )
    nodes = allocated_nodes(os.environ)
    text = "".join(f"{node}\n" for node in nodes)
    return tuple(Host(node, node) for node in nodes), f"# the nodes of Slurm job {job}\n{text}"


def launcher_of(asked: str | None, playbook: Playbook) -> LauncherName:
    """mpirun, hydra or srun, by --launcher or the playbook."""
    name = asked or playbook.launcher
    if name == "mpirun":
        return "mpirun"
    if name == "hydra":
        return "hydra"
    if name in _SRUN:
        return "srun"
    raise InputError(_where(asked, playbook), f"there is no launcher {name!a}; use mpirun, hydra, {', '.join(_SRUN)}")


def srun_engine(asked: str | None, playbook: Playbook, transport: TransportName) -> SlurmJob | None:
    """The allocation in which srun starts the ranks; None where another launcher does.

    InputError where srun cannot do it: outside of a job, in one of several components, without an MPI plugin.
    """
    if launcher_of(asked, playbook) != "srun":
        if transport == "srun":
            problem = "starts no mpirun on the nodes; it goes together with --launcher srun"
            raise InputError("--transport srun", problem)
        return None
    where = _where(asked, playbook)
    job = _job_here(where)
    version, plugins = _srun_here(where)
    wanted = (asked or playbook.launcher).partition(":")[2] or None
    return SlurmJob(job, version, choose_mpi(plugins, wanted, where), gpus_per_node(os.environ))


def steps_here(where: str) -> SlurmJob:
    """The job we are in, to look at its nodes by steps without starting ranks; InputError naming `where` outside."""
    job = _job_here(where)
    version, _ = _srun_here(where)
    return SlurmJob(job, version, gpus_per_node=gpus_per_node(os.environ))


def by_steps(transport: TransportName, slurm: SlurmJob | None) -> bool:
    """Whether nodes are reached by srun: as asked, else whenever srun starts the ranks, too."""
    return slurm is not None and transport != "ssh"


def _job_here(where: str) -> str:
    job = job_id(os.environ)
    if job is None:
        raise InputError(where, "srun needs a Slurm job to start steps in; run this inside salloc or an sbatch script")
    if components(os.environ) > 1:
        problem = f"srun starts no step across the components of heterogeneous job {job}; use --launcher mpirun"
        raise InputError(where, problem)
    return job


def _where(asked: str | None, playbook: Playbook) -> str:
    return "--launcher" if asked else f"playbook {playbook.name}, launcher"


@cache
def _srun_here(where: str) -> tuple[str, tuple[str, ...]]:
    """(version, MPI plugins) of the srun of this machine."""
    from healthcheck.edge.slurm_client import ask

    version, plugins = ask("srun", "--version"), ask("srun", "--mpi=list")
    if version is None or plugins is None or version.code != 0 or plugins.code != 0:
        raise InputError(where, "there is no srun that answers on this machine; is the Slurm client installed here?")
    # Some releases say it on stderr.
    return read_version(version.out + version.err) or "", read_mpi_plugins(plugins.out + plugins.err)
