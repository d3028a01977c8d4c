"""What the environment of a Slurm job and `srun` say: the nodes of the allocation, and how ranks start there."""

from __future__ import annotations

import re
from collections.abc import Mapping

from healthcheck.errors import InputError
from healthcheck.parsing.nodeset import expand

WHERE = "the Slurm job"
_JOB_ID = re.compile(r"\d{1,12}")
_VERSION = re.compile(r"\bslurm(?:-wlm)?\s+(?P<version>\d+\.\d+[\w.\-]*)", re.IGNORECASE)
_COUNTS = re.compile(r"(?:[\w.\-]{1,64}:){0,2}(?P<count>\d{1,4})(?:\([^)]*\))?")
_PLUGIN = re.compile(r"(?:srun:\s+)?(?P<name>[a-z][a-z0-9_]{0,31})")
# The first that is there. PMIx is what Open MPI is built for, PMI-2 what MPICH and Intel MPI understand.
_PREFERRED = ("pmix", "pmi2")
_MOST_COMPONENTS = 1000


def job_id(environment: Mapping[str, str]) -> str | None:
    """The id of the Slurm job in whose environment we run; None outside of one."""
    job = environment.get("SLURM_JOB_ID") or environment.get("SLURM_JOBID") or ""
    if not job:
        return None
    if _JOB_ID.fullmatch(job) is None:
        raise InputError("SLURM_JOB_ID", f"{job[:60]!a} is not the id of a job; it is set by salloc and sbatch")
    return job


def allocated_nodes(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The nodes of the job in its order, of a heterogeneous one those of all components; empty outside of a job.

    InputError where the job does not say which nodes it has.
    """
    job = job_id(environment)
    if job is None:
        return ()
    parts = _components(environment)
    silent = next((name for name, text in parts if not text), None)
    if silent is not None:
        # The others are not the whole job: a gate over them would pass for nodes that nobody looked at.
        raise InputError(WHERE, f"{job} has {len(parts)} components, and one says no nodes ({silent}); give -H HOSTS")
    named = parts or [_first(environment, "SLURM_JOB_NODELIST", "SLURM_NODELIST")]
    nodes = [node for name, text in named if text for node in expand(text, name)]
    if not nodes:
        raise InputError(WHERE, f"{job} does not say which nodes it has (SLURM_JOB_NODELIST is not set); give -H HOSTS")
    return tuple(dict.fromkeys(nodes))


def components(environment: Mapping[str, str]) -> int:
    """Of how many parts a heterogeneous job is made; 1 for every other."""
    return len([*_components(environment)]) or 1


def _components(environment: Mapping[str, str]) -> list[tuple[str, str]]:
    size = environment.get("SLURM_HET_SIZE") or environment.get("SLURM_PACK_SIZE") or ""
    if not size.isascii() or not size.isdigit() or int(size) > _MOST_COMPONENTS:
        return []
    return [
        _first(environment, f"SLURM_JOB_NODELIST_HET_GROUP_{part}", f"SLURM_JOB_NODELIST_PACK_GROUP_{part}")
        for part in range(int(size))
    ]


def _first(environment: Mapping[str, str], *names: str) -> tuple[str, str]:
    """(name, value) of the first variable that says something."""
    return next(((name, environment[name]) for name in names if environment.get(name)), (names[0], ""))


def gpus_per_node(environment: Mapping[str, str]) -> int | None:
    """How many GPUs the job was given on each node; None where Slurm was not asked for any."""
    for name in ("SLURM_GPUS_ON_NODE", "SLURM_GPUS_PER_NODE"):
        match = _COUNTS.fullmatch(environment.get(name, ""))
        if match is not None and int(match["count"]) > 0:
            return int(match["count"])
    return None


def read_version(text: str) -> str | None:
    """The version in `slurm 23.11.4` (`srun --version`); None where there is none."""
    match = _VERSION.search(text[:1000])
    return None if match is None else match["version"]


def read_mpi_plugins(text: str) -> tuple[str, ...]:
    """The plugins that `srun --mpi=list` names, in its order; releases before 22 print them behind `srun: `."""
    found = (_PLUGIN.fullmatch(line.strip()) for line in text[:10_000].splitlines())
    return tuple(dict.fromkeys(match["name"] for match in found if match is not None))


def choose_mpi(plugins: tuple[str, ...], wanted: str | None, where: str) -> str:
    """The plugin to start ranks with: `wanted`, else the best there is. InputError names those there are."""
    there = ", ".join(plugins) or "none"
    if wanted is not None:
        if plugins and wanted not in plugins:
            raise InputError(where, f"srun has no MPI plugin {wanted!a} here; it has {there}")
        return wanted
    for name in _PREFERRED:
        found = next((plugin for plugin in plugins if plugin.partition("_v")[0] == name), None)
        if found is not None:
            return name if name in plugins else found
    raise InputError(where, f"srun can start no MPI ranks here: of pmix and pmi2 it has none (it has {there})")
