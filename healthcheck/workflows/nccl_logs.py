"""The NCCL logs of a job: from its nodes to the run directory, and gone there.

One short command a node, also after a job that was stopped, hung or lost its connection. Logs are evidence, not a
measurement: what cannot be had is said and changes no verdict.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from healthcheck.errors import StoreError
from healthcheck.launchers.rank_log import ALL, LOWEST_PID, NONE, Taken, read_taken, take_argv
from healthcheck.model.command import Command, CommandResult, ExitKind, JobOutcome
from healthcheck.model.host import Host
from healthcheck.workflows.engine import Cancel, Engine
from healthcheck.workflows.fanout import run_short, visit

T = TypeVar("T")

TAKE_DEADLINE_S = 30.0
DELETE_DEADLINE_S = 15.0
# Of a healthy job one rank a node shows which way its bytes went; of any other every rank may hold the reason.
HEALTHY_BYTES = 256 << 10
MOST_BYTES = 3 << 20
LEAST_BYTES = 4 << 10


class _Visited(Struct, frozen=True):
    """One node after the visit. `left`: log folders of the run lie there still, or may do so."""

    left: bool
    bytes_cut: int
    failed: str


def take_logs(outcome: JobOutcome, hosts: tuple[Host, ...], token: str, engine: Engine, *, healthy: bool) -> JobOutcome:
    """The outcome, after the logs of the job were taken from these hosts and all of the run deleted there.

    A `healthy` job is worth the log of one rank a node. StoreError when one could not be kept, after all were visited.
    """
    visited = _on_each(hosts, lambda host: _visit(outcome, host, token, engine, healthy=healthy), engine)
    failed = next((node.failed for node in visited.values() if node.failed), "")
    if failed:
        raise StoreError(failed)
    left = tuple(sorted(name for name, node in visited.items() if node.left))
    return replace(outcome, nccl_left=left, nccl_bytes_cut=sum(node.bytes_cut for node in visited.values()))


def delete_logs(hosts: Iterable[Host], token: str, engine: Engine) -> tuple[str, ...]:
    """Delete what lies of the logs of a run on these hosts; the names of those where it may lie there still."""
    gone = _on_each(tuple(hosts), lambda host: _delete(host, token, engine), engine)
    return tuple(sorted(name for name, done in gone.items() if not done))


def _on_each(hosts: tuple[Host, ...], work: Callable[[Host], T], engine: Engine) -> dict[str, T]:
    """A cancel does not cut it short: leaving nothing behind is part of stopping."""
    if len(hosts) == 1:
        return {hosts[0].name: work(hosts[0])}
    return {host.name: done for host, done in visit(hosts, work, Cancel(), engine.width)}


def _visit(outcome: JobOutcome, host: Host, token: str, engine: Engine, *, healthy: bool) -> _Visited:
    job = outcome.job
    granted = engine.nccl_logs.take(HEALTHY_BYTES if healthy else MOST_BYTES)
    limit = granted if granted >= LEAST_BYTES else 0
    taken, result = _take(host, token, engine, TAKE_DEADLINE_S, job.id, limit, LOWEST_PID if healthy else ALL)
    kept, failed = 0, ""
    for file in taken.files if limit else ():
        try:
            engine.store.save_nccl_log(job.id, job.stage, host.name, file.name, file.text)
        except StoreError as error:
            failed = str(error)
            break
        kept += len(file.text)
    engine.nccl_logs.give_back(granted - min(kept, granted))
    gone = taken.left == 0
    if taken.left is None and result.kind is ExitKind.TIMED_OUT:
        # Too much for the time there is; nothing has to be sent to delete it.
        gone = _delete(host, token, engine)
    return _Visited(not gone, sum(file.bytes_cut for file in taken.files), failed)


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
