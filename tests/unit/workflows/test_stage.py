"""Where launch files go, and where they are taken away again."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from healthcheck.edge.store import DirectoryStore
from healthcheck.model.command import Command, CommandResult, ExitKind
from healthcheck.model.host import Host
from healthcheck.model.message import say
from healthcheck.model.playbook import Playbook, Sizes, Stage
from healthcheck.model.record import Owner
from healthcheck.model.units import Bytes
from healthcheck.ports import Event, NeverStarted, PushFile, PushResult, Reached, Running, Sink
from healthcheck.simulator.cluster import SimCluster
from healthcheck.simulator.transport import SimTransport, VirtualClock
from healthcheck.workflows.engine import Engine
from healthcheck.workflows.launching import remove_launch_files
from healthcheck.workflows.ledger import Ledger
from healthcheck.workflows.request import RunRequest
from healthcheck.workflows.run import check_up
from tests.property.checkups import PLATFORM

HOSTS = (Host("localhost", "127.0.0.1", port=2201), Host("n2", "n2"))
OWNER = Owner("u", "m", 1, "1", "t")
SWEEP = Sizes(min=Bytes(1 << 30), max=Bytes(2 << 30))
WHOLE = Playbook("whole", (Stage("probe"), Stage("single_node", sizes=SWEEP), Stage("multi_node", sizes=SWEEP)))


class _Asked:
    """A transport that notes what it was asked for, and takes no file."""

    def __init__(self) -> None:
        self.commands: list[tuple[Host, tuple[str, ...]]] = []

    def connect(self, host: Host) -> Reached:
        return Reached()

    def start(self, host: Host, command: Command, sink: Sink) -> Running:
        self.commands.append((host, command.argv))
        return NeverStarted(CommandResult(ExitKind.EXITED, 0, 0.0))

    def push(self, host: Host, folder: str, files: Sequence[PushFile]) -> PushResult:
        return PushResult(None, reason=say("push.refused", detail="the disk here is full"))

    def close(self) -> None:
        pass


class _Quiet:
    def event(self, event: Event) -> None:
        pass


def test_launch_files_of_a_host_called_localhost_are_not_looked_for_on_this_machine(tmp_path: Path) -> None:
    clock = VirtualClock(datetime(2026, 1, 1, tzinfo=UTC))
    there, here = _Asked(), _Asked()
    engine = Engine(there, here, clock, _Quiet(), DirectoryStore.create(tmp_path, clock))
    ledger = Ledger(RunRequest("r", OWNER, HOSTS, WHOLE, None, {}, "test"), engine)
    ledger.launch_folders.add("localhost")
    remove_launch_files(ledger, engine)
    assert [host for host, _ in there.commands] == [HOSTS[0]] and not here.commands


def test_what_keeps_this_machine_from_launching_is_told_as_it_is(tmp_path: Path) -> None:
    clock = VirtualClock(datetime(2026, 1, 1, tzinfo=UTC))
    cluster = SimCluster(2, PLATFORM)
    engine = Engine(SimTransport(cluster, clock), _Asked(), clock, _Quiet(), DirectoryStore.create(tmp_path, clock))
    program = tmp_path / "all_reduce_perf"
    program.write_bytes(b"program")
    request = RunRequest(
        run_id="r",
        owner=OWNER,
        hosts=cluster.hosts(),
        playbook=WHOLE,
        platform=PLATFORM,
        platforms={},
        tool="test",
        push=(PushFile("all_reduce_perf", 0o700, source=str(program)),),
        push_folder="bin/x",
        launch_from="local",
    )
    record = check_up(request, engine, {})
    assert record.exit_code == 3
    (told,) = [check for check in record.checks if check.stage == "multi_node"]
    assert "the disk here is full" in str(told.message) and "mpirun" not in str(told.message)
