"""After a job: end what still runs on its hosts, where it did not come to a good end, and take its logs away."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec import Struct
from msgspec.structs import replace

from healthcheck.model.command import NEVER_STARTED, Command, ExitKind, JobOutcome
from healthcheck.model.host import Host
from healthcheck.ports import Transport
from healthcheck.probes.leftovers import Leftover, parse_sweep, sweep_argv
from healthcheck.workflows.engine import Cancel, Engine
from healthcheck.workflows.fanout import run_short, visit
from healthcheck.workflows.nccl_logs import take_logs
from healthcheck.workflows.request import LOCALHOST

# Whether a job, by itself, is as good as it should be.
Passed = Callable[[JobOutcome], bool]

SWEEP_DEADLINE_S = 30.0
TIDY_MARK = "healthcheck-tidy"
TIDY_DEADLINE_S = 60.0


class Swept(Struct, frozen=True):
    """What a sweep found: `left` is what still runs after it; None when the host could not be looked at."""

    host: str
    left: tuple[Leftover, ...] | None


def sweep(host: Host, token: str, transport: Transport) -> Swept:
    """End the processes of the run with `token` on one host."""
    # The sweep carries a token of its own, so that it does not find itself.
    command = Command(sweep_argv(token, end=True), SWEEP_DEADLINE_S, token=f"sweep-{token}")
    result, capture = run_short(transport, host, command)
    return Swept(host.name, parse_sweep(capture.out) if result.ok else None)


def sweep_all(hosts: Iterable[Host], token: str, transport: Transport, width: int) -> tuple[Swept, ...]:
    """`sweep` on many hosts, in their order by name. No cancel stops it: to leave nothing behind is part of stopping.

    `width` is how many are visited at once.
    """
    swept = visit(hosts, lambda host: sweep(host, token, transport), Cancel(), width)
    return tuple(sorted((found for _, found in swept), key=lambda found: found.host))


def needs_cleanup(outcome: JobOutcome) -> bool:
    """True unless the command came to a good end: anything else may have left processes."""
    return outcome.result.kind is not ExitKind.EXITED or outcome.result.exit_code != 0


def after_job(outcome: JobOutcome, hosts: tuple[Host, ...], token: str, engine: Engine, passed: Passed) -> JobOutcome:
    """What is done on the hosts of a job after its end: whatever still runs is ended, its NCCL logs are taken away.

    The outcome then names hosts where something may still run or lie. On a worker thread; then the hosts are free.
    """
    if outcome.result.kind in NEVER_STARTED:
        return outcome
    silent: set[str] = set()
    if needs_cleanup(outcome):
        swept = [*sweep_all(hosts, token, engine.transport, engine.width)]
        if outcome.job.launch_host is None:
            swept.append(sweep(LOCALHOST, token, engine.local))
        uncertain = tuple(sorted(found.host for found in swept if found.left is None or found.left))
        outcome = replace(outcome, may_still_run=uncertain)
        silent = {found.host for found in swept if found.left is None}
    # Who did not answer is not asked again: a node that hangs costs its deadline once.
    answering = tuple(host for host in hosts if host.name not in silent)
    done = take_logs(outcome, answering, token, engine, healthy=passed(outcome))
    return replace(
        done, nccl_left=tuple(sorted({*done.nccl_left, *(host.name for host in hosts if host.name in silent)}))
    )


def tidy_command(folder: str, token: str) -> Command:
    """Remove `folder` below our cache ("" for all of it). It is an argument, never a part of the script."""
    argv = ("sh", "-c", 'rm -rf -- "$HOME/.cache/healthcheck/$1"', TIDY_MARK, folder)
    return Command(argv, TIDY_DEADLINE_S, token=f"tidy-{token}")
