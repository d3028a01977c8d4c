"""`healthcheck clean`: end what a dead run left on its hosts, and say what is still there."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from healthcheck.model.host import Host
from healthcheck.model.record import RunRecord
from healthcheck.workflows.cleanup import sweep_all, tidy_command
from healthcheck.workflows.engine import Engine
from healthcheck.workflows.fanout import run_short, visit


class Cleaned(Struct, frozen=True):
    """The hosts of one run after the sweep. `left`: still running there; `unknown`: could not be looked at."""

    run_id: str
    clean: tuple[str, ...]
    left: tuple[str, ...]
    unknown: tuple[str, ...]

    @property
    def settled(self) -> bool:
        """Whether every host was looked at and nothing is left on any."""
        return not self.left and not self.unknown


def clean_run(record: RunRecord, engine: Engine) -> Cleaned:
    """Sweep every host of `record` for processes that carry its token, and take its launch files away."""
    swept = list(sweep_all(record.inventory, record.owner.token, engine, end=True))
    reached = {host.host for host in swept if host.left is not None}
    _remove(f"run/{record.owner.token}", [host for host in record.inventory if host.name in reached], record, engine)
    return Cleaned(
        run_id=record.run_id,
        clean=tuple(sorted(host.host for host in swept if host.left == ())),
        left=tuple(sorted(host.host for host in swept if host.left)),
        unknown=tuple(sorted(host.host for host in swept if host.left is None)),
    )


def remove_cache(record: RunRecord, engine: Engine) -> None:
    """Remove the cache of binaries on every host of the run. Only the folder that is ours, by its fixed name."""
    _remove("", record.inventory, record, engine)


def _remove(folder: str, hosts: Sequence[Host], record: RunRecord, engine: Engine) -> None:
    command = tidy_command(folder, record.owner.token)
    for _ in visit(hosts, lambda host: run_short(engine.transport, host, command), engine.cancel, engine.width):
        pass
