"""The in-process front: output that grows as time passes, ends as real commands end, and costs next to nothing."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from healthcheck.model.command import Command, CommandResult, ExitKind
from healthcheck.ports import PushFile, Running
from healthcheck.simulator.cluster import SimCluster
from healthcheck.simulator.transport import SimTransport, VirtualClock
from healthcheck.workflows.cleanup import tidy_command
from tests.sinks import Kept
from tests.unit.simulator.sim import cluster, mpirun, parsed, run_single

START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
SINGLE = Command(mpirun("--host localhost:8", 8), deadline_s=600.0, token="t0")


class Taken(Kept):
    """A sink that keeps everything, and knows which lines are rows of a table."""

    @property
    def rows(self) -> int:
        return sum(1 for line in self.out.splitlines() if line.split()[:1] and line.split()[0].isdigit())


def started(sim: SimCluster, name: str, command: Command = SINGLE) -> tuple[Running, Taken, VirtualClock]:
    clock = VirtualClock(START)
    sink = Taken()
    host = next(host for host in sim.hosts() if host.name == name)
    return SimTransport(sim, clock).start(host, command, sink), sink, clock


def test_output_grows_from_head_to_footer_over_the_duration_of_the_job() -> None:
    running, sink, clock = started(cluster(job_seconds=20.0), "node01")
    seen = []
    while (result := running.poll()) is None:
        seen.append((sink.rows, b"Avg bus bandwidth" in sink.out))
        clock.sleep(2.0)
    assert b"# Using devices" in sink.out
    assert [rows for rows, _ in seen] == sorted(rows for rows, _ in seen)
    assert len({rows for rows, _ in seen}) == 6
    assert not any(footer for _, footer in seen)
    assert b"Avg bus bandwidth" in sink.out
    assert result == CommandResult(ExitKind.EXITED, 0, 20.0)
    assert clock.monotonic() == pytest.approx(20.0)


def test_a_command_without_a_duration_has_ended_at_the_first_look() -> None:
    running, sink, clock = started(cluster(), "node01", Command(("true",), 10.0, "t0"))
    assert running.wait(5.0) == CommandResult(ExitKind.EXITED, 0, 0.0)
    assert clock.monotonic() == 0.0
    assert sink.out == b""


def test_wait_lets_no_more_time_pass_than_the_command_needs() -> None:
    running, _, clock = started(cluster(job_seconds=20.0), "node01")
    assert running.wait(5.0) is None
    assert clock.monotonic() == 5.0
    assert running.wait(500.0) is not None
    assert clock.monotonic() == 20.0


def test_a_hang_stays_silent_after_its_head_until_the_deadline_ends_it() -> None:
    running, sink, clock = started(cluster("node01:hang"), "node01")
    assert running.poll() is None
    head = sink.out
    assert b"# Using devices" in head
    clock.sleep(599.0)
    assert running.poll() is None
    clock.sleep(1.0)
    result = running.poll()
    assert result is not None
    assert (result.kind, result.exit_code, result.duration_s) == (ExitKind.TIMED_OUT, None, 600.0)
    assert sink.out == head


def test_stop_ends_a_hang_at_once_and_keeps_what_was_printed() -> None:
    running, sink, clock = started(cluster("node01:hang"), "node01")
    running.poll()
    clock.sleep(30.0)
    running.stop()
    result = running.poll()
    assert result is not None
    assert (result.kind, result.duration_s) == (ExitKind.STOPPED, 30.0)
    assert b"# Using devices" in sink.out
    running.stop()
    assert running.poll() == result


def test_what_mpirun_says_about_a_failure_arrives_on_stderr() -> None:
    running, sink, _ = started(cluster("node01:corrupt"), "node01")
    result = running.poll()
    assert result is not None
    assert result.exit_code == 7
    assert b"Exit code:    7" in sink.err


def test_an_unreachable_node_is_a_result_for_every_kind_of_request() -> None:
    sim = cluster("node04:unreachable")
    transport = SimTransport(sim, VirtualClock(START))
    dead = sim.hosts()[3]
    reached = transport.connect(dead).result
    assert reached is not None
    assert reached.kind is ExitKind.UNREACHABLE
    assert str(reached.reason) == "no answer on port 22: Connection refused (simulated)"
    assert transport.start(dead, SINGLE, Taken()).poll() == reached
    assert transport.push(dead, "run/t0", []).folder is None
    assert transport.connect(sim.hosts()[0]).result is None


def test_pushed_files_reach_the_launcher_and_are_copied_once(tmp_path: Path) -> None:
    sim = cluster(nodes=2)
    transport = SimTransport(sim, VirtualClock(START))
    first = sim.hosts()[0]
    local = tmp_path / "all_reduce_perf"
    local.write_bytes(b"\x7fELF")
    files = [
        PushFile("hostfile", 0o600, content=b"node01 slots=8\nnode02 slots=8\n"),
        PushFile("all_reduce_perf", 0o755, source=str(local)),
    ]
    pushed = transport.push(first, "run/t0", files)
    assert pushed.folder is not None
    assert pushed.copied == ("hostfile", "all_reduce_perf")
    assert transport.push(first, "run/t0", files).copied == ()
    sink = Taken()
    command = Command(mpirun(f"--hostfile {pushed.folder}/hostfile", 16), 600.0, "t0")
    assert transport.start(first, command, sink).poll() == CommandResult(ExitKind.EXITED, 0, 0.0)
    assert b"on     node02 device  7" in sink.out
    transport.start(first, tidy_command("run/t0", "t0"), Taken())
    assert transport.push(first, "run/t0", files).copied == ("hostfile", "all_reduce_perf")


def test_a_clock_that_many_wait_on_never_goes_back() -> None:
    clock = VirtualClock(START)
    clock.sleep(5.0)
    clock.advance_to(3.0)
    assert clock.monotonic() == 5.0
    assert (clock.now() - START).total_seconds() == 5.0


def test_a_thousand_jobs_of_20_s_take_a_fraction_of_a_second_of_cpu() -> None:
    sim = cluster(nodes=1000, job_seconds=20.0)
    clock = VirtualClock(START)
    transport = SimTransport(sim, clock)
    before = time.process_time()
    running = [transport.start(host, SINGLE, Taken()) for host in sim.hosts()]
    while [one.poll() for one in running].count(None):
        clock.sleep(0.2)
    assert time.process_time() - before < 3.0
    assert clock.monotonic() == pytest.approx(20.0, abs=0.2)


def test_the_printed_table_is_the_one_the_answer_holds() -> None:
    running, sink, clock = started(cluster(job_seconds=3.0), "node02")
    while running.poll() is None:
        clock.sleep(0.1)
    assert sink.out.decode() == run_single(cluster(job_seconds=3.0), "node02").stdout
    assert len(parsed(run_single(cluster(), "node02")).tables[0].rows) == 5
