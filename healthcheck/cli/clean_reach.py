"""How `clean` reaches the nodes of a dead run: as the run did, by steps of the Slurm job we are in, or by ssh."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
from msgspec import Struct

from healthcheck.cli.asked import OPTIONS, Asked
from healthcheck.cli.slurm_asked import TransportName, launcher_of, steps_here
from healthcheck.errors import InputError
from healthcheck.model.record import RunRecord
from healthcheck.parsing.slurm_job import job_id
from healthcheck.wiring import Outside, real_outside, slurm_outside
from healthcheck.workflows.files_only import read_file


class Reach(Struct, frozen=True):
    """The outside world to clean in, and the code of what helps where a node cannot be looked at; empty for nothing."""

    outside: Outside
    advice: str = ""


class _Began(Struct, frozen=True):
    """Of the flags a run was begun with, those about Slurm."""

    launcher: str | None = None
    transport: TransportName = "auto"


def reach(record: RunRecord, folder: Path, asked: Asked) -> Reach:
    """Of the run in `folder`, as `asked` says; InputError where steps are asked for outside of a Slurm job."""
    n_hosts, looked_by_steps = len(record.inventory), _looked_by_steps(record, folder)
    if asked.transport == "srun" or (asked.transport == "auto" and looked_by_steps and job_id(os.environ) is not None):
        return Reach(slurm_outside(steps_here("--transport"), n_hosts), "clean.other_job")
    outside = real_outside(asked.ssh_config, asked.accept_new_host_keys, n_hosts)
    return Reach(outside, "clean.wants_a_job" if looked_by_steps else "")


def _looked_by_steps(record: RunRecord, folder: Path) -> bool:
    """Whether steps of Slurm looked at the nodes of a run. Flags that cannot be read are those of nobody."""
    try:
        began = msgspec.json.decode(read_file(folder / OPTIONS), type=_Began)
        return began.transport != "ssh" and launcher_of(began.launcher, record.playbook) == "srun"
    except (OSError, msgspec.MsgspecError, InputError):
        return False
