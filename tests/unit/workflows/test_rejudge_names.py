"""Hosts whose names are no names of folders are found again in the run directory."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from msgspec.structs import replace

from healthcheck.edge.store import DirectoryStore
from healthcheck.model.command import Command
from healthcheck.model.host import Host
from healthcheck.model.playbook import Playbook, Stage
from healthcheck.model.record import RunRecord
from healthcheck.model.verdict import Verdict
from healthcheck.parsing.record_codec import encode_record
from healthcheck.ports import Event, PushFile, PushResult, Reached, Running, Sink
from healthcheck.simulator.cluster import SimCluster
from healthcheck.simulator.transport import SimTransport, VirtualClock
from healthcheck.workflows.engine import Engine
from healthcheck.workflows.rejudge import StoredRun, as_asked, rejudge
from healthcheck.workflows.request import RunRequest
from healthcheck.workflows.run import check_up
from tests.property.checkups import OWNER, PLATFORM
from tests.property.test_no_check_up_lies import SWEEP

NAMES = ("2001:db8::7", "..hidden", "x" * 240)


class Renamed:
    """ports.Transport: simulated nodes under other names."""

    def __init__(self, clock: VirtualClock) -> None:
        self._inner = SimTransport(SimCluster(len(NAMES), PLATFORM), clock)

    def _node(self, host: Host) -> Host:
        return replace(host, name=f"node{NAMES.index(host.name) + 1:02d}")

    def connect(self, host: Host) -> Reached:
        return self._inner.connect(self._node(host))

    def start(self, host: Host, command: Command, sink: Sink) -> Running:
        return self._inner.start(self._node(host), command, sink)

    def push(self, host: Host, folder: str, files: Sequence[PushFile]) -> PushResult:
        return self._inner.push(self._node(host), folder, files)

    def close(self) -> None:
        pass


class Quiet:
    """ports.Observer that nobody hears."""

    def event(self, event: Event) -> None:
        pass


def _measured(folder: Path) -> tuple[RunRecord, DirectoryStore]:
    clock = VirtualClock(datetime(2026, 1, 1, tzinfo=UTC))
    store = DirectoryStore.create(folder, clock)
    request = RunRequest(
        run_id=store.folder.name,
        owner=OWNER,
        hosts=tuple(Host(name, name) for name in NAMES),
        playbook=Playbook("alone", (Stage("probe"), Stage("single_node", sizes=SWEEP))),
        platform=PLATFORM,
        platforms={},
        tool="test",
        binary_folder="/opt/nccl-tests/build",
        simulated=True,
    )
    transport = Renamed(clock)
    return check_up(request, Engine(transport, transport, clock, Quiet(), store), {}), store


def test_they_are_judged_again_like_any_other(tmp_path: Path) -> None:
    record, store = _measured(tmp_path)
    assert {host.verdict for host in record.hosts} == {Verdict.PASS}
    circumstances = store.circumstances()
    assert circumstances is not None and set(circumstances.before) == set(circumstances.after) == set(NAMES)
    stored = StoredRun(store.load_record(), circumstances)
    again = rejudge(stored, as_asked(stored, "test", {}, None), store)
    assert encode_record(again.record) == encode_record(record)


def test_a_lost_answer_of_such_a_host_is_named_by_the_file_that_is_gone(tmp_path: Path) -> None:
    _, store = _measured(tmp_path)
    circumstances = store.circumstances()
    assert circumstances is not None
    (store.folder / "raw" / "probe" / "2001%3Adb8%3A%3A7" / "before").unlink()
    stored = StoredRun(store.load_record(), circumstances)
    again = rejudge(stored, as_asked(stored, "test", {}, None), store).record
    (lost,) = [host for host in again.hosts if host.verdict is not Verdict.PASS]
    assert lost.name == NAMES[0] and "raw/probe/2001%3Adb8%3A%3A7/before" in str(lost.reasons[0])
