"""How `clean` reaches the nodes of a dead run or capture: as it did, by steps of the Slurm job we are in, or by ssh."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
from msgspec import Struct

from healthcheck.cli.asked import OPTIONS, Asked
from healthcheck.cli.slurm_asked import TransportName, launcher_of, steps_here
from healthcheck.edge.places import is_file
from healthcheck.errors import InputError
from healthcheck.model.record import RunRecord
from healthcheck.model.vitals_capture import CaptureBegun
from healthcheck.parsing.slurm_job import job_id
from healthcheck.wiring import Outside, real_outside, slurm_outside
from healthcheck.workflows.files_only import read_file


class Reach(Struct, frozen=True):
    """The outside world to clean in, and the code of what helps where a node cannot be looked at; empty for nothing."""

    outside: Outside
    advice: str = ""


class _Began(Struct, frozen=True):
    """Of the flags a run was begun with, those that say how its nodes are reached."""

    launcher: str | None = None
    transport: TransportName = "auto"
    ssh_config: str | None = None


def reach(record: RunRecord, folder: Path, asked: Asked) -> Reach:
    """Of the run in `folder`, as `asked` says; InputError where steps are asked for outside of a Slurm job."""
    began, n_hosts = _began(folder), len(record.inventory)
    looked_by_steps = _looked_by_steps(began, record)
    if asked.transport == "srun" or (asked.transport == "auto" and looked_by_steps and job_id(os.environ) is not None):
        return Reach(slurm_outside(steps_here("--transport"), n_hosts), "clean.other_job")
    return Reach(_by_ssh(began.ssh_config, folder, asked, n_hosts), "clean.wants_a_job" if looked_by_steps else "")


def reach_capture(begun: CaptureBegun, folder: Path, asked: Asked) -> Outside:
    """Of the capture of training steps in `folder`, which knows ssh alone."""
    return _by_ssh(begun.ssh_config, folder, asked, len(begun.hosts))


def _by_ssh(given: str | None, folder: Path, asked: Asked, n_hosts: int) -> Outside:
    """By the configuration that is named now, else by the one that was given then."""
    return real_outside(asked.ssh_config or _usable(given, folder), asked.accept_new_host_keys, n_hosts)


def _began(folder: Path) -> _Began:
    """Flags that cannot be read are those of nobody."""
    try:
        return msgspec.json.decode(read_file(folder / OPTIONS), type=_Began)
    except (OSError, msgspec.MsgspecError):
        return _Began()


def _usable(given: str | None, folder: Path) -> Path | None:
    """The file that was given, while it is there. An ssh configuration may name commands: from the folder of another
    user none is taken."""
    if given is None:
        return None
    file = Path(given)
    return file if is_file(file) and folder.stat().st_uid == os.geteuid() else None


def _looked_by_steps(began: _Began, record: RunRecord) -> bool:
    """Whether steps of Slurm looked at the nodes of a run."""
    try:
        return began.transport != "ssh" and launcher_of(began.launcher, record.playbook) == "srun"
    except InputError:
        return False
