"""Whose a host is while it is being checked up: what a lock file says, and what became of asking for one."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from healthcheck.model.message import Message
from healthcheck.model.slurm import InJob

HELD, UNLOCKABLE, LET_GO = "busy.locked", "busy.no_lock", "busy.let_go"
"""Rules: another run has the host; no lock can be made, so that nobody would know of this one; the host was free, and
too few others were for anything to be proven, so it is left to whoever can use it."""


class Holder(Struct, frozen=True, omit_defaults=True):
    """The run that holds a host. `since` is UTC, `2026-03-14T02:15:03Z`.

    `pid_started` is the start time of the process in clock ticks since boot, `boot` the boot of its machine and
    `pid_space` the namespace its pid counts in: together they tell whether the process that has the pid today is it.
    `in_job` is the Slurm job it is a part of.
    """

    run_id: str
    user: str
    machine: str
    pid: int
    pid_started: str
    boot: str
    pid_space: str
    since: str
    in_job: InJob | None = None


class Refusal(Struct, frozen=True):
    """Why a host could not be had, as a sentence, and the rule of that."""

    message: Message
    rule: str = HELD


class Taken(Struct, frozen=True):
    """What became of asking for hosts: those that were refused, what a reader of the run should know, and those that
    were free and are not held, for they were too few."""

    refused: Mapping[str, Refusal] = {}
    notes: tuple[Message, ...] = ()
    let_go: tuple[str, ...] = ()


class StaleLock(Struct, frozen=True):
    """A lock of which no living owner is known here, its file, and the sentence. `dead`: who is gone; None: unknown."""

    host: str
    file: str
    message: Message
    dead: Message | None = None
