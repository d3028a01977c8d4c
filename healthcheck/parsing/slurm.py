"""Slurm's `squeue`: which jobs hold which nodes. Written from Slurm 22.05; its options are as old as 2.6."""

from __future__ import annotations

import re
from collections.abc import Mapping

from healthcheck.errors import InputError
from healthcheck.model.allocation import Allocation, Allocations
from healthcheck.parsing.nodeset import expand

STATES = ("RUNNING", "COMPLETING", "SUSPENDED", "CONFIGURING")
SQUEUE = ("squeue", "--noheader", f"--states={','.join(STATES)}", "--format=%i|%u|%T|%N")
"""Lists every job that holds nodes, one a line: id, user, state, nodes. One call answers for the whole cluster."""

# Ids: 4711, of an array 4711_3, of a heterogeneous job 4711+1.
_LINE = re.compile(
    r"(?P<job>\d{1,12}(?:[_+]\d{1,12})?)\|(?P<user>[^|\s]{1,64})\|(?P<state>[A-Z_]{1,32})\|(?P<nodes>\S*)"
)
_NO_NODES = frozenset({"", "(null)", "(None)", "None"})
_UNCONFIGURED = re.compile(
    r"cannot stat file|Could not establish a configuration source|Unable to process configuration file", re.IGNORECASE
)
_LONGEST_QUOTE = 200
_MOST_UNREAD = 20


def read_squeue(text: str) -> Allocations:
    """What `SQUEUE` printed. Never raises: lines that are no job, or whose nodes are none, stand in `unread`."""
    jobs: list[Allocation] = []
    unread: list[str] = []
    for line in map(str.strip, text.splitlines()):
        match = _LINE.fullmatch(line)
        if match is None:
            # With SLURM_CLUSTERS set, squeue heads the list of every cluster with its name.
            if line and not line.startswith("CLUSTER: "):
                unread.append(line[:_LONGEST_QUOTE])
            continue
        try:
            nodes = () if match["nodes"] in _NO_NODES else expand(match["nodes"], "squeue")
        except InputError:
            unread.append(line[:_LONGEST_QUOTE])
            continue
        if nodes:
            jobs.append(Allocation(match["job"], match["user"], match["state"], nodes, line[:_LONGEST_QUOTE]))
    return Allocations(tuple(jobs), tuple(unread[:_MOST_UNREAD]))


def is_unconfigured(stderr: str) -> bool:
    """Whether squeue says that this machine belongs to no cluster. Up to Slurm 22 it then looks again for a minute."""
    return _UNCONFIGURED.search(stderr) is not None


def own_jobs(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The ids, as squeue prints them, of the Slurm job in whose environment we run; empty outside of one."""
    job, array = environment.get("SLURM_JOB_ID", ""), environment.get("SLURM_ARRAY_JOB_ID", "")
    ids = [job] if job else []
    if array and (task := environment.get("SLURM_ARRAY_TASK_ID", "")):
        ids.append(f"{array}_{task}")
    return tuple(ids)


def is_own(job: str, own: tuple[str, ...]) -> bool:
    """Whether an id printed by squeue is one of ours, or a component of our heterogeneous job."""
    return job in own or job.partition("+")[0] in own
