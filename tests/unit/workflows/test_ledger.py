"""What the record says about hosts, from outcomes that were judged."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from msgspec.structs import replace

from healthcheck.edge.shipped import load_platform
from healthcheck.edge.store import DirectoryStore
from healthcheck.evaluation.stage import judge_jobs
from healthcheck.model.command import ExitKind
from healthcheck.model.host import Host
from healthcheck.model.playbook import Playbook, Stage
from healthcheck.model.record import Owner
from healthcheck.model.verdict import Verdict
from healthcheck.ports import Event
from healthcheck.simulator.cluster import SimCluster
from healthcheck.simulator.transport import SimTransport, VirtualClock
from healthcheck.workflows.engine import Engine
from healthcheck.workflows.ledger import Ledger
from healthcheck.workflows.request import RunRequest
from tests.unit.evaluation.builders import outcome, sweep

PLATFORM, _ = load_platform("a100-sxm4-8gpu-8x200")
ALONE = Stage("single_node")
BOOK = Playbook("x", (ALONE,))


class _Quiet:
    def event(self, event: Event) -> None:
        pass


def _engine(tmp_path: Path) -> Engine:
    clock = VirtualClock(datetime(2026, 1, 1, tzinfo=UTC))
    transport = SimTransport(SimCluster(1, PLATFORM), clock)
    return Engine(transport, transport, clock, _Quiet(), DirectoryStore.create(tmp_path, clock))


REQUEST = RunRequest("r", Owner("u", "m", 1, "1", "t"), (Host("node01", "node01"),), BOOK, PLATFORM, {}, "test")


def test_a_fast_node_on_which_our_ranks_may_still_run_is_no_place_to_start(tmp_path: Path) -> None:
    engine, request = _engine(tmp_path), REQUEST
    hung = outcome(sweep(230.0), kind=ExitKind.TEARDOWN_HUNG, exit_code=None)
    found = {}
    for left in ((), ("node01", "localhost")):
        ledger = Ledger(request, engine)
        ledger.add_jobs(judge_jobs(ALONE, [replace(hung, may_still_run=left)], BOOK, PLATFORM))
        found[left] = ledger.record("complete")
    clean, doubtful = found.values()
    assert clean.exit_code == 0 and clean.healthy_hosts == ("node01",)
    assert doubtful.exit_code == 3 and doubtful.healthy_hosts == ()
    (host,) = doubtful.hosts
    assert host.may_still_run and host.verdict is Verdict.INCONCLUSIVE
    assert [reason.code for reason in host.reasons] == ["host.may_still_run"]
    assert any("healthcheck clean" in command for finding in doubtful.findings for command in finding.commands)


def test_logs_that_may_lie_on_a_node_are_named_with_their_place_until_a_later_visit_has_deleted_them(
    tmp_path: Path,
) -> None:
    first = outcome(sweep(230.0))
    later = replace(first, job=replace(first.job, repeat=1))
    for outcomes, named in (
        ((replace(first, nccl_left=("node01",)),), True),
        ((replace(first, nccl_left=("node01",)), later), False),
    ):
        ledger = Ledger(REQUEST, _engine(tmp_path / str(named)))
        ledger.add_jobs(judge_jobs(ALONE, outcomes, BOOK, PLATFORM))
        record = ledger.record("complete")
        notes = [str(note) for note in record.notes if note.code == "run.logs_left"]
        assert bool(notes) is named
        assert record.exit_code == 0, "a log that stayed says nothing about a node"
        assert all("node01" in note and "/tmp/healthcheck-t.*" in note and "clean r" in note for note in notes)
