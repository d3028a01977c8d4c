"""Whole check-ups in process: simulated nodes that may change between two looks, and a user who interrupts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from healthcheck.edge.shipped import load_platform
from healthcheck.edge.store import DirectoryStore
from healthcheck.errors import Interrupted
from healthcheck.model.command import Command
from healthcheck.model.host import Host
from healthcheck.model.playbook import Playbook
from healthcheck.model.record import Owner, RunRecord
from healthcheck.ports import Event, PushFile, PushResult, Reached, Running, Sink
from healthcheck.probes.batch import PROBE_MARK
from healthcheck.simulator.cluster import SimCluster
from healthcheck.simulator.faults import BusyFault, Fault, parse_fault
from healthcheck.simulator.transport import SimTransport, VirtualClock
from healthcheck.workflows.engine import Cancel, Engine
from healthcheck.workflows.request import RunRequest
from healthcheck.workflows.run import check_up

PLATFORM, _ = load_platform("a100-sxm4-8gpu-8x200")
OWNER = Owner("tester", "here", 1, "1", "a" * 16)


class Turn(Struct, frozen=True):
    """`host` is `fault` (busy, unreachable) from its look number `look` on, the first being 1."""

    host: str
    look: int
    fault: str


class TurningTransport:
    """ports.Transport on a simulated cluster whose nodes turn busy or unreachable; notes who was loaded when busy."""

    def __init__(self, n: int, faults: Sequence[Fault], turns: Sequence[Turn], clock: VirtualClock) -> None:
        self._before = SimTransport(SimCluster(n, PLATFORM, 0, faults), clock)
        later = [*faults, *(parse_fault(f"{turn.host}:{turn.fault}") for turn in turns)]
        self._after = SimTransport(SimCluster(n, PLATFORM, 0, later), clock)
        self._turns = {turn.host: turn for turn in turns}
        self._busy = {fault.host for fault in faults if isinstance(fault, BusyFault)}
        self._looks: Counter[str] = Counter()
        self.twins: dict[str, str] = {}
        self._hostfile: tuple[str, ...] = ()
        self.loaded_while_busy: set[str] = set()

    def _now(self, host: str) -> SimTransport:
        turn = self._turns.get(host)
        return self._after if turn is not None and self._looks[host] >= turn.look else self._before

    def connect(self, host: Host) -> Reached:
        return self._now(host.name).connect(host)

    def start(self, host: Host, command: Command, sink: Sink) -> Running:
        if PROBE_MARK in command.argv:
            self._looks[host.name] += 1
            host = replace(host, name=self.twins.get(host.name, host.name))
        elif command.argv[0] == "mpirun":
            members = self._hostfile if "--hostfile" in command.argv else (host.name,)
            self.loaded_while_busy |= {name for name in members if self._is_busy_now(name)}
        return self._now(host.name).start(host, command, sink)

    def _is_busy_now(self, name: str) -> bool:
        turn = self._turns.get(name)
        turned = turn is not None and turn.fault == "busy" and self._looks[name] >= turn.look
        return turned or name in self._busy

    def push(self, host: Host, folder: str, files: Sequence[PushFile]) -> PushResult:
        for file in files:
            if file.name == "hostfile" and file.content is not None:
                self._hostfile = tuple(line.split()[0] for line in file.content.decode().splitlines())
        self._after.push(host, folder, files)
        return self._now(host.name).push(host, folder, files)

    def close(self) -> None:
        pass


class InterruptAt:
    """ports.Observer: asks for the end at event number `at`; 0 never does."""

    def __init__(self, cancel: Cancel, at: int) -> None:
        self._cancel, self._left = cancel, at

    def event(self, event: Event) -> None:
        self._left -= 1
        if self._left == 0:
            self._cancel.set(2)


class CheckUp(Struct, frozen=True):
    """One way to run: everything a user and fate may choose."""

    nodes: int
    playbook: Playbook
    faults: tuple[str, ...] = ()
    turns: tuple[Turn, ...] = ()
    only: str | None = None
    allow_busy: bool = False
    parallel: int = 4096
    interrupts: tuple[int, ...] = ()
    twins: tuple[tuple[str, str], ...] = ()
    launcher: Literal["mpirun", "hydra"] = "mpirun"


def run(
    asked: CheckUp, folder: Path, kind: type[DirectoryStore] = DirectoryStore
) -> tuple[RunRecord, TurningTransport]:
    """Run it, and resume it after each interrupt; the last record, and the transport that watched."""
    clock = VirtualClock(datetime(2026, 1, 1, tzinfo=UTC))
    faults = tuple(map(parse_fault, asked.faults))
    transport = TurningTransport(asked.nodes, faults, asked.turns, clock)
    transport.twins.update(asked.twins)
    store = kind.create(folder, clock)
    request = RunRequest(
        run_id=store.folder.name,
        owner=OWNER,
        hosts=SimCluster(asked.nodes, PLATFORM).hosts(),
        playbook=asked.playbook,
        platform=None,
        platforms={PLATFORM.name: PLATFORM},
        tool="test",
        binary_folder="/opt/nccl-tests/build",
        only=asked.only,
        allow_busy=asked.allow_busy,
        launcher=asked.launcher,
        simulated=True,
    )
    for at in (*asked.interrupts, 0):
        cancel = Cancel()
        observer = InterruptAt(cancel, at)
        engine = Engine(transport, transport, clock, observer, store, cancel, width=8, parallel=asked.parallel)
        try:
            return check_up(request, engine, store.outcomes()), transport
        except Interrupted:
            record = store.load_record()
            assert record.state == "interrupted" and record.exit_code == 130
            assert record.healthy_hosts == ()
    raise AssertionError("the last try is never interrupted")
