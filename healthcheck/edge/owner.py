"""Who owns a run, and whether that process is still alive."""

from __future__ import annotations

import getpass
import os
import pwd
import secrets
import socket
from pathlib import Path

from msgspec.structs import replace

from healthcheck.edge.slurm_job_end import is_over, job_of
from healthcheck.model.lock import Holder
from healthcheck.model.record import Owner


def _started(pid: int) -> str:
    """Start time of a process in clock ticks since boot; '' when there is none (a pid alone may be reused)."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    fields = stat.rpartition(")")[2].split()
    # A process that has ended and was not reaped does nothing any more.
    return "" if fields[0] in "ZX" else fields[19]


def is_gone(pid: int, started: str) -> bool:
    """Whether the process of this machine that had the pid and start time has ended.

    Under hidepid those of other users are not in /proc, and only a signal shows that the pid is taken: by whom, then,
    nobody can tell, and it counts as alive.
    """
    found = _started(pid)
    if found:
        return found != started
    try:
        os.kill(pid, 0)
    except PermissionError:
        return Path(f"/proc/{pid}").exists()
    except (OSError, OverflowError):
        return True
    return True


def boot_id() -> str:
    """Which boot of this machine it is; '' where that cannot be read."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return ""


def pid_space() -> str:
    """The namespace in which the pids of this process count: those of a container mean nothing outside."""
    try:
        return str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        return ""


def user_name() -> str:
    """Who this process belongs to: a login name, or the number of a user that has none (in many containers)."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())


def account(name: str) -> tuple[str, str] | None:
    """(login name, home folder) of a user of this machine, of ourselves where `name` is empty; None where unknown."""
    try:
        found = pwd.getpwnam(name) if name else pwd.getpwuid(os.geteuid())
    except (KeyError, ValueError):
        return None
    return found.pw_name, found.pw_dir


def current_owner() -> Owner:
    """This process, with a fresh token that marks everything it starts."""
    return Owner(
        user=user_name(),
        machine=socket.gethostname(),
        pid=os.getpid(),
        pid_started=_started(os.getpid()),
        token=secrets.token_hex(8),
        in_job=job_of(os.environ),
    )


def adopt(owner: Owner) -> Owner:
    """This process takes over an earlier run: its token stays, so that what the run left behind is found."""
    mine = current_owner()
    return replace(mine, token=owner.token)


def has_ended(process: Owner | Holder, *, here: bool) -> bool:
    """True when its pid means something `here` and no longer runs, or when it was a part of a Slurm job that is over.

    Of processes elsewhere nothing else is known.
    """
    if here:
        return is_gone(process.pid, process.pid_started)
    return process.in_job is not None and is_over(process.in_job, is_ours=process.user == user_name())


def is_dead(owner: Owner) -> bool:
    """Whether the process of a run has ended. Of jobs elsewhere only those of this user are asked for."""
    here = owner.machine == socket.gethostname()
    return (here or owner.user == user_name()) and has_ended(owner, here=here)


def still_there(owner: Owner) -> str:
    """Who is, or may be, at work on a run that is not over: the end of a sentence that begins with the run."""
    process = f"process {owner.pid} of {owner.user} on {owner.machine}"
    if owner.machine == socket.gethostname():
        return f"is still running: {process}"
    return f"may still be running: {process}, which cannot be seen from this machine"
