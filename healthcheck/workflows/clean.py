"""`healthcheck clean`: end and delete what a dead run left on its hosts, and say what is still there."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from healthcheck.model.host import Host
from healthcheck.model.record import RunRecord
from healthcheck.workflows.cleanup import sweep_all, tidy_command
from healthcheck.workflows.engine import Engine
from healthcheck.workflows.fanout import run_short, visit
from healthcheck.workflows.nccl_logs import delete_logs


class Cleaned(Struct, frozen=True):
    """The hosts of one run after the sweep. `left`: still running there; `unknown`: could not be looked at.

    `logs`: where NCCL logs of the run could not be deleted.
    """

    run_id: str
    clean: tuple[str, ...]
    left: tuple[str, ...]
    unknown: tuple[str, ...]
    logs: tuple[str, ...] = ()

    @property
    def settled(self) -> bool:
        """Whether every host was looked at and nothing is left on any."""
        return not self.left and not self.unknown and not self.logs


def clean_run(record: RunRecord, engine: Engine) -> Cleaned:
    """Sweep every host of `record` for processes that carry its token; take its launch files and NCCL logs away."""
    swept = list(sweep_all(record.inventory, record.owner.token, engine, end=True))
    reached = {host.host for host in swept if host.left is not None}
    hosts = [host for host in record.inventory if host.name in reached]
    _remove(f"run/{record.owner.token}", hosts, record, engine)
    logs = delete_logs(hosts, record.owner.token, engine)
    return Cleaned(
        run_id=record.run_id,
        clean=tuple(sorted(host.host for host in swept if host.left == () and host.host not in logs)),
        left=tuple(sorted(host.host for host in swept if host.left)),
        unknown=tuple(sorted(host.host for host in swept if host.left is None)),
        logs=logs,
    )


def remove_cache(record: RunRecord, engine: Engine) -> None:
    """Remove the cache of binaries on every host of the run. Only the folder that is ours, by its fixed name."""
    _remove("", record.inventory, record, engine)


def _remove(folder: str, hosts: Sequence[Host], record: RunRecord, engine: Engine) -> None:
    command = tidy_command(folder, record.owner.token)
    for _ in visit(hosts, lambda host: run_short(engine.transport, host, command), engine.cancel, engine.width):
        pass
