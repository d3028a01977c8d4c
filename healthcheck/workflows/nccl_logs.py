"""The NCCL logs of a job: from its nodes to the run directory, and gone there.

One short command a node, also after a job that was stopped, hung or lost its connection. Logs are evidence, not a
measurement: what cannot be had is said and changes no verdict.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Container, Iterable
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from healthcheck.errors import StoreError
from healthcheck.launchers.rank_log import ALL, LOWEST_PID, NONE, Taken, read_taken, take_argv
from healthcheck.model.command import Command, CommandResult, ExitKind, JobOutcome
from healthcheck.model.host import Host
from healthcheck.model.measurement import Failure
from healthcheck.workflows.engine import Budget, Cancel, Engine
from healthcheck.workflows.fanout import run_short, visit

T = TypeVar("T")

TAKE_DEADLINE_S = 30.0
DELETE_DEADLINE_S = 15.0
# Of a healthy job one rank a node shows which way its bytes went; of any other every rank may hold the reason.
HEALTHY_BYTES = 256 << 10
MOST_BYTES = 3 << 20
LEAST_BYTES = 4 << 10


class _Visited(Struct, frozen=True):
    """One node after the visit. `left`: log folders of the run lie there still, or may do so; `bytes_kept` on disk."""

    left: bool
    bytes_cut: int
    failed: str
    bytes_kept: int = 0


class Turns:
    """In which order the hosts of a job are visited, and how much each may send. Safe to use from many threads.

    Those that the failures in its output name come first and get more: half of what is left is for them.
    """

    def __init__(self, hosts: Iterable[Host], failures: Iterable[Failure], budget: Budget) -> None:
        told = {failure.host for failure in failures if failure.host is not None}
        in_order = sorted(hosts, key=lambda host: not _is_told(host, told))
        self.hosts = tuple(in_order)
        self._named = frozenset(host.name for host in in_order if _is_told(host, told))
        self._budget = budget
        self._behind = iter(range(len(self.hosts) - len(self._named), 0, -1))
        self._lock = threading.Lock()

    def take(self, host: Host, most: int) -> int:
        """Bytes that this host may send, at most `most`."""
        if len(self.hosts) == 1:
            sharers = self._budget.sharers(host.name)
        elif host.name in self._named:
            sharers = 2 * len(self._named)
        else:
            with self._lock:
                sharers = next(self._behind, 1)
        return self._budget.take(most, sharers)


def _is_told(host: Host, told: Container[str]) -> bool:
    """A rank prints the name its node has, which may lack the domain."""
    return host.name in told or host.name.partition(".")[0] in told


def take_logs(outcome: JobOutcome, hosts: tuple[Host, ...], token: str, engine: Engine, *, healthy: bool) -> JobOutcome:
    """The outcome, after the logs of the job were taken from these hosts and all of the run deleted there.

    A `healthy` job is worth the log of one rank a node. StoreError when one could not be kept, after all were visited.
    """
    turns = Turns(hosts, outcome.output.failures, engine.nccl_logs)
    visited = _on_each(turns.hosts, lambda host: _visit(outcome, host, turns, token, engine, healthy=healthy), engine)
    failed = next((node.failed for node in visited.values() if node.failed), "")
    if failed:
        raise StoreError(failed)
    left = tuple(sorted(name for name, node in visited.items() if node.left))
    return replace(
        outcome,
        nccl_left=left,
        nccl_bytes_cut=sum(node.bytes_cut for node in visited.values()),
        nccl_bytes=sum(node.bytes_kept for node in visited.values()),
    )


def delete_logs(hosts: Iterable[Host], token: str, engine: Engine) -> tuple[str, ...]:
    """Delete what lies of the logs of a run on these hosts; the names of those where it may lie there still."""
    gone = _on_each(tuple(hosts), lambda host: _delete(host, token, engine), engine)
    return tuple(sorted(name for name, done in gone.items() if not done))


def _on_each(hosts: tuple[Host, ...], work: Callable[[Host], T], engine: Engine) -> dict[str, T]:
    """A cancel does not cut it short: leaving nothing behind is part of stopping."""
    if len(hosts) == 1:
        return {hosts[0].name: work(hosts[0])}
    return {host.name: done for host, done in visit(hosts, work, Cancel(), engine.width)}


def _visit(outcome: JobOutcome, host: Host, turns: Turns, token: str, engine: Engine, *, healthy: bool) -> _Visited:
    job = outcome.job
    granted = turns.take(host, HEALTHY_BYTES if healthy else MOST_BYTES)
    limit = granted if granted >= LEAST_BYTES else 0
    taken, result = _take(host, token, engine, TAKE_DEADLINE_S, job.id, limit, LOWEST_PID if healthy else ALL)
    kept, on_disk, failed = 0, 0, ""
    for file in taken.files if limit else ():
        try:
            on_disk += engine.store.save_nccl_log(job.id, job.stage, host.name, file.name, file.text).stat().st_size
        except StoreError as error:
            failed = str(error)
            break
        kept += len(file.text)
    engine.nccl_logs.give_back(granted - min(kept, granted))
    gone = taken.left == 0
    if taken.left is None and result.kind is ExitKind.TIMED_OUT:
        # Too much for the time there is; nothing has to be sent to delete it.
        gone = _delete(host, token, engine)
    return _Visited(not gone, sum(file.bytes_cut for file in taken.files), failed, on_disk)


def _delete(host: Host, token: str, engine: Engine) -> bool:
    taken, _ = _take(host, token, engine, DELETE_DEADLINE_S, "", 0, NONE)
    return taken.left == 0


def _take(
    host: Host, token: str, engine: Engine, deadline_s: float, job_id: str, limit_bytes: int, which: str
) -> tuple[Taken, CommandResult]:
    nonce = secrets.token_hex(8)
    argv = take_argv(token, job_id, nonce, limit_bytes, which)
    # It carries a token of its own: neither a sweep nor the look for leftovers takes it for a part of the run.
    result, capture = run_short(engine.transport, host, Command(argv, deadline_s, token=f"tidy-{token}"))
    return read_taken(capture.out, nonce), result
