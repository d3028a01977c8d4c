"""`healthcheck clean`: end what a dead run left on its hosts, and say what is still there."""

from __future__ import annotations

from msgspec import Struct

from healthcheck.model.command import Command
from healthcheck.model.record import RunRecord
from healthcheck.workflows.cleanup import sweep_all
from healthcheck.workflows.engine import Engine
from healthcheck.workflows.fanout import run_short, visit


class Cleaned(Struct, frozen=True):
    """The hosts of one run after the sweep. `left`: still running there; `unknown`: could not be looked at."""

    run_id: str
    clean: tuple[str, ...]
    left: tuple[str, ...]
    unknown: tuple[str, ...]


def clean_run(record: RunRecord, engine: Engine) -> Cleaned:
    """Sweep every host of `record` for processes that carry its token."""
    swept = list(sweep_all(record.inventory, record.owner.token, engine, end=True))
    return Cleaned(
        run_id=record.run_id,
        clean=tuple(sorted(host.host for host in swept if host.left == ())),
        left=tuple(sorted(host.host for host in swept if host.left)),
        unknown=tuple(sorted(host.host for host in swept if host.left is None)),
    )


def remove_cache(record: RunRecord, engine: Engine) -> None:
    """Remove the cache of binaries on every host of the run. Only the folder that is ours, by its fixed name."""
    command = Command(("sh", "-c", 'rm -rf -- "$HOME/.cache/healthcheck"'), 60.0, token=f"tidy-{record.owner.token}")
    for _ in visit(
        record.inventory, lambda host: run_short(engine.transport, host, command), engine.cancel, engine.width
    ):
        pass
