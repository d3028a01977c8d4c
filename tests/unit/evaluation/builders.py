"""Short ways to say what a job was and what it printed."""

from __future__ import annotations

from healthcheck.model.collective import Collective
from healthcheck.model.command import CollectiveJob, CommandResult, ExitKind, JobOutcome
from healthcheck.model.measurement import (
    CollectiveRow,
    CollectiveTable,
    Failure,
    OutputState,
    ParsedOutput,
    ParseWarning,
    Placement,
)
from healthcheck.model.message import Message

GIB = 1 << 30


def job(hosts: int = 1, ranks: int = 8, sizes: tuple[int, int] = (GIB, 8 * GIB), check: bool = True) -> CollectiveJob:
    names = tuple(f"node{n:02d}" for n in range(1, hosts + 1))
    return CollectiveJob(
        id=f"{'single' if hosts == 1 else 'multi'}_node.all_reduce.x",
        stage="single_node" if hosts == 1 else "multi_node",
        collective=Collective.ALL_REDUCE,
        hosts=names,
        ranks_per_host=(ranks,) * hosts,
        launch_host=names[0],
        min_bytes=sizes[0],
        max_bytes=sizes[1],
        factor=2,
        iterations=20,
        warmup=5,
        check=check,
        timeout_s=300.0,
    )


def half(busbw: float, n_ranks: int = 8, wrong: float | None = 0.0) -> Placement:
    return Placement(1000.0, busbw / Collective.ALL_REDUCE.factor(n_ranks), busbw, wrong)


def row(
    size: int, out: float, in_place: float | None = None, n_ranks: int = 8, wrong: tuple[float, float] = (0.0, 0.0)
) -> CollectiveRow:
    inside = None if in_place is None else half(in_place, n_ranks, wrong[1])
    return CollectiveRow(size, size // 4, "float", "sum", -1, half(out, n_ranks, wrong[0]), inside)


def outcome(
    rows: tuple[CollectiveRow, ...],
    *,
    of: CollectiveJob | None = None,
    n_ranks: int | None = 8,
    state: OutputState = OutputState.COMPLETE,
    verified: bool | None = True,
    failures: tuple[Failure, ...] = (),
    warnings: tuple[ParseWarning, ...] = (),
    kind: ExitKind = ExitKind.EXITED,
    exit_code: int | None = 0,
    launch_error: Message | None = None,
    started: bool = True,
    ran_on: tuple[str, ...] | None = None,
) -> JobOutcome:
    complete = state is OutputState.COMPLETE
    hosts = (of or job()).hosts if ran_on is None else ran_on
    table = CollectiveTable(
        "all_reduce", "nccl-tests", "2.17.10", n_ranks, hosts, (), (), rows, 100.0, 0, True, complete
    )
    tables = (table,) if started else ()
    return JobOutcome(
        job=of or job(),
        argv=("mpirun",),
        started_at="2026-01-01T00:00:00Z",
        result=CommandResult(kind, exit_code, 10.0),
        output=ParsedOutput(state, verified, None, failures, warnings, tables),
        launch_error=launch_error,
    )


def sweep(busbw: float, in_place: float | None = None, n_ranks: int = 8) -> tuple[CollectiveRow, ...]:
    """Rows of 1, 2, 4 and 8 GiB at one bus bandwidth."""
    return tuple(row(GIB << n, busbw, busbw if in_place is None else in_place, n_ranks) for n in range(4))
