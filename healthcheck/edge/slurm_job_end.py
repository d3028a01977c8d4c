"""Whether the Slurm job that a process was a part of is over: the process ended with it, on whatever machine."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from healthcheck.edge.slurm_client import ask
from healthcheck.model.slurm import InJob

_CLUSTER = re.compile(r"^ClusterName\s*=\s*(\S+)", re.MULTILINE)
_HIDDEN = re.compile(r"^PrivateData\s*=\s*(\S+)", re.MULTILINE)
_HIDES_JOBS = frozenset({"jobs", "all"})
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
def is_over(job: InJob, *, is_ours: bool = True) -> bool:
    """True where the Slurm of this machine is the one of the job, and says that it ended or began anew since then.

    Slurm may hide the jobs of other users (PrivateData), and what it hides looks like one that is over: of one that is
    not `is_ours` only a Slurm that hides none is believed. Asked once a job: what was not known stays so for this
    process.
    """
    config = _config()
    if not _is_number(job.job) or _word(_CLUSTER, config) != job.cluster:
        return False
    hidden = _word(_HIDDEN, config)
    if not is_ours and (hidden is None or not _HIDES_JOBS.isdisjoint(hidden.lower().split(","))):
        return False
    answer = ask("squeue", "--noheader", "--all", f"--jobs={job.job}", "--Format=RestartCnt")
    if answer is None:
        return False
    if answer.code != 0:
        return _GONE in answer.err
    return all(_is_number(line) and int(line) > job.restarts for line in answer.out.split())


def _config() -> str:
    answer = ask("scontrol", "show", "config")
    return "" if answer is None else answer.out


def _word(line: re.Pattern[str], config: str) -> str | None:
    found = line.search(config)
    return None if found is None else found[1]


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= 12
