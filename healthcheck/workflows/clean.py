"""`healthcheck clean`: end and delete what a dead run left on its hosts, and say what is still there."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from healthcheck.launchers.nsys_node import remove_argv
from healthcheck.model.command import Command
from healthcheck.model.host import Host
from healthcheck.model.record import RunRecord
from healthcheck.model.vitals_capture import CaptureBegun
from healthcheck.workflows.capture import reports_folder
from healthcheck.workflows.cleanup import TIDY_DEADLINE_S, Swept, sweep_all, tidy_command
from healthcheck.workflows.engine import Engine
from healthcheck.workflows.fanout import run_short, visit
from healthcheck.workflows.nccl_logs import delete_logs
from healthcheck.workflows.request import LOCALHOST


class Cleaned(Struct, frozen=True):
    """The hosts of one run after the sweep. `left`: still running there; `unknown`: could not be looked at.

    `logs`: where NCCL logs of the run could not be deleted.
    """

    run_id: str
    clean: tuple[str, ...]
    left: tuple[str, ...]
    unknown: tuple[str, ...]
    logs: tuple[str, ...] = ()

    @classmethod
    def after(cls, run_id: str, swept: Sequence[Swept], logs: tuple[str, ...] = ()) -> Cleaned:
        """What the sweeps of all hosts found, and where `logs` stayed."""
        return cls(
            run_id,
            clean=tuple(found.host for found in swept if found.left == () and found.host not in logs),
            left=tuple(found.host for found in swept if found.left),
            unknown=tuple(found.host for found in swept if found.left is None),
            logs=logs,
        )

    @property
    def settled(self) -> bool:
        """Whether every host was looked at and nothing is left on any."""
        return not self.left and not self.unknown and not self.logs


def clean_run(record: RunRecord, engine: Engine) -> Cleaned:
    """Sweep every host of `record` for processes that carry its token; take its launch files and NCCL logs away."""
    swept = sweep_all(record.inventory, record.owner.token, engine.transport, engine.width)
    reached = _reached(swept)
    hosts = [host for host in record.inventory if host.name in reached]
    _remove(f"run/{record.owner.token}", hosts, record, engine)
    logs = delete_logs(hosts, record.owner.token, engine)
    return Cleaned.after(record.run_id, swept, logs)


def clean_capture(run_id: str, begun: CaptureBegun, engine: Engine) -> Cleaned:
    """The same for a capture of training steps: its processes on every host, its reports on the profiled one."""
    hosts, transport = begun.hosts or (LOCALHOST,), engine.transport if begun.hosts else engine.local
    token = begun.owner.token
    swept = sweep_all(hosts, token, transport, engine.width)
    reached = _reached(swept)
    for host in (host for host in hosts if host.name == begun.profiled and host.name in reached):
        run_short(transport, host, tidy_command(f"run/{token}", token))
        if begun.node_folder is not None:
            argv = remove_argv(reports_folder(begun.node_folder, token))
            run_short(transport, host, Command(argv, TIDY_DEADLINE_S, f"tidy-{token}"))
    return Cleaned.after(run_id, swept)


def remove_cache(record: RunRecord, engine: Engine) -> None:
    """Remove the cache of binaries on every host of the run. Only the folder that is ours, by its fixed name."""
    _remove("", record.inventory, record, engine)


def _reached(swept: Sequence[Swept]) -> frozenset[str]:
    return frozenset(found.host for found in swept if found.left is not None)


def _remove(folder: str, hosts: Sequence[Host], record: RunRecord, engine: Engine) -> None:
    command = tidy_command(folder, record.owner.token)
    for _ in visit(hosts, lambda host: run_short(engine.transport, host, command), engine.cancel, engine.width):
        pass
