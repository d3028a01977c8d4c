"""How many files and sockets this process may have open."""

from __future__ import annotations

import resource

from healthcheck.model.message import Message, say

_PER_HOST = 3
"""A connection is one descriptor; a job beside it keeps its two raw files open."""
_OURS = 64


def raise_file_limit(n_hosts: int) -> Message | None:
    """Raise RLIMIT_NOFILE to what `n_hosts` at once need; what is needed when that is not allowed."""
    wanted = n_hosts * _PER_HOST + _OURS
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return None
    if hard == resource.RLIM_INFINITY or hard >= wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        return None
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return say("host.files_limit", wanted=wanted, hosts=n_hosts, allowed=hard)
