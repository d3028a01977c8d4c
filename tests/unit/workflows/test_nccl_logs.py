"""Logs on their way from the nodes to the run directory: which, how much of them, and what is said when one stays."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from healthcheck.edge.store import DirectoryStore
from healthcheck.errors import StoreError
from healthcheck.launchers.rank_log import ALL, LOWEST_PID, NONE, TAKE_MARK, frame
from healthcheck.model.command import Command, CommandResult, ExitKind, JobOutcome
from healthcheck.model.host import Host
from healthcheck.model.measurement import Failure, FailureKind, OutputState, ParsedOutput
from healthcheck.model.playbook import Playbook, Stage
from healthcheck.planning.stages import multi_node_jobs
from healthcheck.ports import Event, NeverStarted, PushFile, PushResult, Reached, Running, Sink
from healthcheck.probes.leftovers import SWEEP_END, SWEEP_MARK
from healthcheck.simulator.transport import VirtualClock
from healthcheck.workflows.clean import clean_run
from healthcheck.workflows.cleanup import TIDY_MARK, after_job
from healthcheck.workflows.engine import NCCL_LOG_BYTES, Budget, Engine
from healthcheck.workflows.nccl_logs import LEAST_BYTES, MOST_BYTES, Turns, delete_logs
from tests.golden.records import healthy

HOSTS = tuple(Host(f"n{i}", f"n{i}", slots=2) for i in range(4))
(JOB,) = multi_node_jobs(Playbook("x", ()), Stage("multi_node"), HOSTS, "n0")
DONE = CommandResult(ExitKind.EXITED, 0, 9.0)
HUNG = CommandResult(ExitKind.STALLED, None, 9.0)
OUTPUT = ParsedOutput(OutputState.EMPTY, None, None)


class Nodes:
    """Nodes with two logs each of `size` letters. `deaf` ones never answer, `full` ones keep what they should delete,
    `slow` ones have no time to send anything."""

    def __init__(self, size: int = 10, deaf: str = "", full: str = "", slow: str = "") -> None:
        self.size, self.deaf, self.full, self.slow = size, deaf, full, slow
        self.asked: list[tuple[str, str]] = []

    def connect(self, host: Host) -> Reached:
        return Reached()

    def push(self, host: Host, folder: str, files: Sequence[PushFile]) -> PushResult:
        return PushResult(folder)

    def start(self, host: Host, command: Command, sink: Sink) -> Running:
        if host.name == self.deaf:
            return NeverStarted(CommandResult(ExitKind.CONNECTION_LOST, None, 1.0))
        if SWEEP_MARK in command.argv:
            self.asked.append((host.name, "sweep"))
            sink.stdout(f"{SWEEP_END}\n".encode())
            return NeverStarted(DONE)
        if TIDY_MARK in command.argv:
            return NeverStarted(DONE)
        assert TAKE_MARK in command.argv
        nonce, _, _, limit, which = command.argv[4:]
        self.asked.append((host.name, which))
        if which != NONE and host.name == self.slow:
            return NeverStarted(CommandResult(ExitKind.TIMED_OUT, None, 30.0))
        pids = {ALL: (7, 8), LOWEST_PID: (7,), NONE: ()}[which]
        text = "x" * min(self.size, int(limit) // 2)
        left = 1 if host.name == self.full else 0
        sink.stdout(frame(nonce, tuple((f"nccl.{host.name}.{pid}", text) for pid in pids), left).encode())
        return NeverStarted(DONE)

    def close(self) -> None:
        pass


class _Quiet:
    def event(self, event: Event) -> None:
        pass


def engine(tmp_path: Path, nodes: Nodes) -> Engine:
    clock = VirtualClock(datetime(2026, 1, 1, tzinfo=UTC))
    return Engine(nodes, nodes, clock, _Quiet(), DirectoryStore.create(tmp_path, clock))


def ended(result: CommandResult) -> JobOutcome:
    return JobOutcome(JOB, ("mpirun",), "2026-01-01T00:00:00Z", result, OUTPUT)


def after(outcome: JobOutcome, outside: Engine, *, passed: bool = False) -> JobOutcome:
    return after_job(outcome, HOSTS, "t0", outside, lambda _: passed)


def kept(outside: Engine) -> list[str]:
    return [path.name for _, path in outside.store.nccl_logs(JOB.id, JOB.stage)]


def test_of_a_good_job_one_log_a_node_is_kept_of_any_other_all(tmp_path: Path) -> None:
    good = engine(tmp_path / "good", Nodes())
    assert after(ended(DONE), good, passed=True).nccl_left == ()
    assert kept(good) == [f"nccl.{host.name}.7" for host in HOSTS]
    bad = engine(tmp_path / "bad", Nodes())
    after(ended(DONE), bad)
    assert len(kept(bad)) == 2 * len(HOSTS)


def test_a_job_that_never_began_costs_no_visit(tmp_path: Path) -> None:
    nodes = Nodes()
    outcome = ended(CommandResult(ExitKind.UNREACHABLE, None, 0.0))
    assert after(outcome, engine(tmp_path, nodes)) == outcome
    assert nodes.asked == []


def test_what_hangs_is_ended_before_its_logs_are_taken(tmp_path: Path) -> None:
    nodes = Nodes()
    after(ended(HUNG), engine(tmp_path, nodes))
    for host in HOSTS:
        assert [what for name, what in nodes.asked if name == host.name] == ["sweep", ALL]


def test_a_host_that_does_not_answer_is_named_and_asked_once(tmp_path: Path) -> None:
    outside = engine(tmp_path, Nodes(deaf="n2"))
    outcome = after(ended(HUNG), outside)
    assert outcome.may_still_run == outcome.nccl_left == ("n2",)
    assert len(kept(outside)) == 6
    assert after(ended(DONE), engine(tmp_path, Nodes(deaf="n1"))).nccl_left == ("n1",)


def test_a_host_that_cannot_delete_is_named(tmp_path: Path) -> None:
    outside = engine(tmp_path, Nodes(full="n3"))
    assert after(ended(DONE), outside).nccl_left == ("n3",)
    assert len(kept(outside)) == 8
    assert delete_logs(HOSTS, "t0", outside) == ("n3",)


def test_where_there_is_no_time_to_send_there_is_time_to_delete(tmp_path: Path) -> None:
    nodes = Nodes(slow="n1")
    assert after(ended(DONE), engine(tmp_path, nodes)).nccl_left == ()
    assert [what for name, what in nodes.asked if name == "n1"] == [ALL, NONE]


def test_all_logs_of_a_run_stay_within_the_bound_and_the_last_host_still_has_a_share(tmp_path: Path) -> None:
    nodes = Nodes(size=MOST_BYTES)
    outside = engine(tmp_path, nodes)
    for _ in range(50):
        after(ended(DONE), outside)
    sizes = [path.stat().st_size for _, path in outside.store.nccl_logs(JOB.id, JOB.stage)]
    assert NCCL_LOG_BYTES / 2 < sum(sizes) <= NCCL_LOG_BYTES
    assert min(sizes) > 10_000


def granted(
    budget: Budget, hosts: Sequence[Host], failures: Sequence[Failure] = (), wanted: int = 2_400_000
) -> list[int]:
    """What each host may send, in the order of the visits, 64 of them at once; no host has more than `wanted`."""
    turns = Turns(hosts, failures, budget)
    shares: list[int] = []
    for begin in range(0, len(turns.hosts), 64):
        at_once = [turns.take(host, MOST_BYTES) for host in turns.hosts[begin : begin + 64]]
        for share in at_once:
            budget.give_back(share - min(wanted, share))
        shares += [min(wanted, share) for share in at_once]
    return shares


FLEET = tuple(Host(f"n{i:04d}", f"n{i:04d}") for i in range(4000))


def test_every_node_of_a_large_job_that_failed_has_its_share() -> None:
    shares = granted(Budget(NCCL_LOG_BYTES), FLEET)
    assert min(shares) > 4 * LEAST_BYTES
    assert NCCL_LOG_BYTES / 2 < sum(shares) <= NCCL_LOG_BYTES
    assert max(shares) - min(shares) < 100
    assert granted(Budget(NCCL_LOG_BYTES), FLEET[:20]) == [2_400_000] * 20


def test_nodes_that_the_output_names_come_first_and_may_send_all_they_have() -> None:
    budget = Budget(NCCL_LOG_BYTES)
    hosts = tuple(Host(f"{host.name}.example.org", host.address) for host in FLEET)
    failures = [Failure(FailureKind.NCCL, "unhandled system error", name) for name in ("n3999", "n2000")]
    assert [host.name for host in Turns(hosts, failures, budget).hosts[:3]] == [
        "n2000.example.org",
        "n3999.example.org",
        "n0000.example.org",
    ]
    shares = granted(budget, hosts, failures)
    assert shares[:2] == [2_400_000] * 2
    assert min(shares) > 4 * LEAST_BYTES
    all_named = granted(Budget(NCCL_LOG_BYTES), hosts, [Failure(FailureKind.NCCL, "x", host.name) for host in FLEET])
    assert min(all_named) > 2 * LEAST_BYTES


def test_nodes_that_failed_alone_leave_half_for_the_jobs_they_do_together() -> None:
    budget = Budget(NCCL_LOG_BYTES)
    budget.expect(host.name for host in FLEET)
    alone = [granted(budget, [host])[0] for host in FLEET]
    assert min(alone) > 4 * LEAST_BYTES
    assert max(alone) < 2 * min(alone)
    together = granted(budget, FLEET)
    assert min(together) > 4 * LEAST_BYTES


def test_the_one_sick_node_of_many_may_send_more_than_an_equal_share() -> None:
    budget = Budget(NCCL_LOG_BYTES)
    budget.expect(host.name for host in FLEET[:200])
    for host in FLEET[:199]:
        granted(budget, [host], wanted=100_000)
    assert granted(budget, [FLEET[199]]) > [NCCL_LOG_BYTES // 400]


def test_a_disk_that_is_full_here_leaves_nothing_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: str) -> Path:
        raise StoreError("cannot write below raw: No space left on device")

    monkeypatch.setattr(DirectoryStore, "save_nccl_log", full)
    nodes = Nodes()
    with pytest.raises(StoreError, match="No space left"):
        after(ended(DONE), engine(tmp_path, nodes))
    assert {name for name, _ in nodes.asked} == {host.name for host in HOSTS}


def test_clean_is_not_settled_while_logs_of_the_run_lie_on_a_host(tmp_path: Path) -> None:
    record = replace(healthy(), inventory=HOSTS)
    done = clean_run(record, engine(tmp_path / "a", Nodes(full="n1")))
    assert (done.logs, done.clean, done.settled) == (("n1",), ("n0", "n2", "n3"), False)
    assert clean_run(record, engine(tmp_path / "b", Nodes())).settled
    unseen = clean_run(record, engine(tmp_path / "c", Nodes(deaf="n2")))
    assert (unseen.unknown, unseen.logs) == (("n2",), ())
