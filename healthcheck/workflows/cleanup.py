"""After a job that did not end by itself: look on every host of it for what is left, and end it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from healthcheck.model.command import NEVER_STARTED, Command, ExitKind, JobOutcome
from healthcheck.model.host import Host
from healthcheck.ports import Transport
from healthcheck.probes.leftovers import Leftover, parse_sweep, sweep_argv
from healthcheck.workflows.engine import Cancel, Engine
from healthcheck.workflows.fanout import run_short, visit
from healthcheck.workflows.request import LOCALHOST

SWEEP_DEADLINE_S = 30.0
TIDY_MARK = "healthcheck-tidy"
TIDY_DEADLINE_S = 60.0


class Swept(Struct, frozen=True):
    """What a sweep found: `left` is what still runs after it; None when the host could not be looked at."""

    host: str
    left: tuple[Leftover, ...] | None


def sweep(host: Host, token: str, transport: Transport, *, end: bool) -> Swept:
    """Look on one host for processes of the run with `token`, and end them with `end`."""
    # The sweep carries a token of its own, so that it does not find itself.
    command = Command(sweep_argv(token, end=end), SWEEP_DEADLINE_S, token=f"sweep-{token}")
    result, capture = run_short(transport, host, command)
    return Swept(host.name, parse_sweep(capture.out) if result.ok else None)


def sweep_all(hosts: Iterable[Host], token: str, engine: Engine, *, end: bool) -> Iterator[Swept]:
    """`sweep` on many hosts. A cancel does not stop it: leaving nothing behind is part of stopping."""
    for _, swept in visit(hosts, lambda host: sweep(host, token, engine.transport, end=end), Cancel(), engine.width):
        yield swept


def needs_cleanup(outcome: JobOutcome) -> bool:
    """True unless the command came to a good end or never began: anything else may have left processes."""
    if outcome.result.kind in NEVER_STARTED:
        return False
    return outcome.result.kind is not ExitKind.EXITED or outcome.result.exit_code != 0


def with_cleanup(outcome: JobOutcome, hosts: tuple[Host, ...], engine: Engine, token: str) -> JobOutcome:
    """The outcome, after every host of the job was swept; it names hosts where something may still run."""
    swept = list(sweep_all(hosts, token, engine, end=True))
    if outcome.job.launch_host is None:
        swept.append(sweep(LOCALHOST, token, engine.local, end=True))
    uncertain = [found.host for found in swept if found.left is None or found.left]
    return replace(outcome, may_still_run=tuple(sorted(uncertain)))


def tidy_command(folder: str, token: str) -> Command:
    """Remove `folder` below our cache ("" for all of it). It is an argument, never a part of the script."""
    argv = ("sh", "-c", 'rm -rf -- "$HOME/.cache/healthcheck/$1"', TIDY_MARK, folder)
    return Command(argv, TIDY_DEADLINE_S, token=f"tidy-{token}")
