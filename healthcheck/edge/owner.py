"""Who owns a run, and whether that process is still alive."""

from __future__ import annotations

import getpass
import os
import secrets
import socket
from pathlib import Path

from healthcheck.model.record import Owner


def _started(pid: int) -> str:
    """Start time of a process in clock ticks since boot; '' when there is none (a pid alone may be reused)."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    return stat.rpartition(")")[2].split()[19]


def user_name() -> str:
    """Who this process belongs to: a login name, or the number of a user that has none (in many containers)."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())


def current_owner() -> Owner:
    """This process, with a fresh token that marks everything it starts."""
    return Owner(
        user=user_name(),
        machine=socket.gethostname(),
        pid=os.getpid(),
        pid_started=_started(os.getpid()),
        token=secrets.token_hex(8),
    )


def adopt(owner: Owner) -> Owner:
    """This process takes over an earlier run: its token stays, so that what the run left behind is found."""
    mine = current_owner()
    return Owner(mine.user, mine.machine, mine.pid, mine.pid_started, owner.token)


def is_dead(owner: Owner) -> bool:
    """True when the owner was a process of this machine that no longer runs. Of other machines nothing is known."""
    if owner.machine != socket.gethostname():
        return False
    return _started(owner.pid) != owner.pid_started or not owner.pid_started
