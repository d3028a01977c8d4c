"""A job of which no NCCL log came says so: what the log would have shown is not seen."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from healthcheck.edge.store import DirectoryStore
from healthcheck.launchers.rank_log import TAKE_MARK, frame
from healthcheck.model.command import Command, CommandResult, ExitKind
from healthcheck.model.host import Host
from healthcheck.model.playbook import Playbook, Sizes, Stage
from healthcheck.model.record import Owner, RunRecord
from healthcheck.model.units import Bytes
from healthcheck.model.verdict import Verdict
from healthcheck.ports import Event, NeverStarted, Running, Sink
from healthcheck.reporting.looks import looks
from healthcheck.simulator.cluster import SimCluster
from healthcheck.simulator.faults import parse_fault
from healthcheck.simulator.transport import SimTransport, VirtualClock
from healthcheck.workflows.engine import Engine
from healthcheck.workflows.request import RunRequest
from healthcheck.workflows.run import check_up
from tests.property.checkups import PLATFORM

SWEEP = Sizes(min=Bytes(1 << 30), max=Bytes(2 << 30))
STAGES = (Stage("probe"), Stage("single_node", sizes=SWEEP), Stage("multi_node", sizes=SWEEP))


class _Quiet:
    def event(self, event: Event) -> None:
        pass


class _WithoutLogs(SimTransport):
    """Nodes whose NCCL left no log."""

    def start(self, host: Host, command: Command, sink: Sink) -> Running:
        if TAKE_MARK not in command.argv:
            return super().start(host, command, sink)
        nonce = command.argv[4]
        sink.stdout(frame(nonce, ()).encode())
        return NeverStarted(CommandResult(ExitKind.EXITED, 0, 0.1))


def checked(
    folder: Path, transport: type[SimTransport], env: Mapping[str, str] | None = None, fault: str = ""
) -> RunRecord:
    clock = VirtualClock(datetime(2026, 1, 1, tzinfo=UTC))
    cluster = SimCluster(3, PLATFORM, faults=[parse_fault(fault)] if fault else [])
    simulated = transport(cluster, clock)
    engine = Engine(simulated, simulated, clock, _Quiet(), DirectoryStore.create(folder, clock))
    request = RunRequest(
        run_id="r",
        owner=Owner("u", "m", 1, "1", "t"),
        hosts=cluster.hosts(),
        playbook=Playbook("whole", STAGES, env=dict(env or {})),
        platform=PLATFORM,
        platforms={},
        tool="test",
        binary_folder="/opt/nccl-tests/build",
    )
    return check_up(request, engine, {})


def without_log(record: RunRecord) -> list[tuple[str, str]]:
    return sorted((check.stage, str(check.component)) for check in record.checks if check.rule == "unseen.no_log")


def test_a_healthy_run_has_a_log_of_every_job(tmp_path: Path) -> None:
    assert without_log(checked(tmp_path, SimTransport)) == []


def test_nodes_without_a_log_are_listed_among_what_was_not_seen(tmp_path: Path) -> None:
    record = checked(tmp_path, _WithoutLogs)
    hosts = [host.name for host in record.hosts]
    assert without_log(record) == [(stage, host) for stage in ("multi_node", "single_node") for host in hosts]
    assert record.verdict is Verdict.PASS
    (entry,) = (entry for entry in looks(record).not_read if "NCCL took" in entry.hides)
    assert entry.count == len(hosts)


def test_a_log_that_the_playbook_sends_elsewhere_is_not_missed(tmp_path: Path) -> None:
    record = checked(tmp_path, _WithoutLogs, {"NCCL_DEBUG_FILE": "/shared/nccl.%h.%p"})
    assert without_log(record) == []


def test_of_a_job_that_had_to_be_ended_no_log_is_expected(tmp_path: Path) -> None:
    record = checked(tmp_path, _WithoutLogs, fault="node02:hang")
    assert ("single_node", "node02") not in without_log(record)
    assert ("single_node", "node01") in without_log(record)
