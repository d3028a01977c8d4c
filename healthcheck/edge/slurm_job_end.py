"""Whether the Slurm job that a process was a part of is over: the process ended with it, on whatever machine."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from healthcheck.edge.slurm_client import ask
from healthcheck.model.slurm import InJob

_CLUSTER = re.compile(r"^ClusterName\s*=\s*(\S+)", re.MULTILINE)
_GONE = "Invalid job id"


def job_of(environment: Mapping[str, str]) -> InJob | None:
    """The job that this process is a part of: a batch script or a step.

    None outside, and under salloc, whose command runs where it was typed and may outlive the allocation.
    """
    job, cluster = environment.get("SLURM_JOB_ID", ""), environment.get("SLURM_CLUSTER_NAME", "")
    if not (_is_number(job) and cluster and environment.get("SLURMD_NODENAME")):
        return None
    restarts = environment.get("SLURM_RESTART_COUNT", "")
    return InJob(cluster, job, int(restarts) if _is_number(restarts) else 0)


@cache
def is_over(job: InJob) -> bool:
    """True where the Slurm of this machine is the one of the job, and says that it ended or began anew since then.

    Asked once a job: what was not known stays so for this process.
    """
    if not _is_number(job.job) or _cluster_here() != job.cluster:
        return False
    answer = ask("squeue", "--noheader", "--all", f"--jobs={job.job}", "--Format=RestartCnt")
    if answer is None:
        return False
    if answer.code != 0:
        return _GONE in answer.err
    return all(_is_number(line) and int(line) > job.restarts for line in answer.out.split())


def _cluster_here() -> str | None:
    answer = ask("scontrol", "show", "config")
    found = None if answer is None else _CLUSTER.search(answer.out)
    return None if found is None else found[1]


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= 12
