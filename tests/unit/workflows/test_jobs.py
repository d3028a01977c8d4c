"""The loop that starts, watches and ends jobs, on virtual time and with scripted commands."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from healthcheck.edge.sink import FileJobSink
from healthcheck.edge.store import DirectoryStore
from healthcheck.errors import Interrupted, StoreError
from healthcheck.launchers.rank_log import ALL, LOWEST_PID, NONE, TAKE_MARK, frame
from healthcheck.model.command import CollectiveJob, Command, CommandResult, ExitKind, JobOutcome
from healthcheck.model.host import Host
from healthcheck.model.message import say
from healthcheck.model.playbook import Playbook, Stage
from healthcheck.planning.stages import single_node_jobs
from healthcheck.ports import Event, PushResult, Reached, Running, Sink
from healthcheck.simulator.transport import VirtualClock
from healthcheck.workflows.engine import Cancel, Engine
from healthcheck.workflows.jobs import Launch, Refused, run_jobs

TABLE = (Path(__file__).parents[2] / "fixtures" / "nccl_tests" / "v2.17.10-mpi-np16-2hosts.txt").read_bytes()
HOSTS = tuple(Host(f"n{i}", f"n{i}", slots=8) for i in range(6))
Script = list[tuple[float, bytes]]


class _Scripted:
    """A command that prints pieces at given seconds and ends with the last, or hangs when `ends` is False."""

    def __init__(self, script: Script, ends: bool, sink: Sink, clock: VirtualClock, place: Place) -> None:
        self.script, self.ends, self.sink, self.clock, self.place = list(script), ends, sink, clock, place
        self.begin = clock.monotonic()
        self.stopped = False

    def poll(self) -> CommandResult | None:
        now = self.clock.monotonic() - self.begin
        while self.script and self.script[0][0] <= now:
            self.sink.stdout(self.script.pop(0)[1])
        if self.stopped or (self.ends and not self.script):
            self.place.running.discard(self)
            code = None if self.stopped else 0
            return CommandResult(ExitKind.STOPPED if self.stopped else ExitKind.EXITED, code, now)
        return None

    def wait(self, timeout_s: float) -> CommandResult | None:
        return self.poll()

    def stop(self) -> None:
        self.stopped = True


class Place:
    """A transport of scripted commands: sweeps find nothing, every node has one log. Notes the most jobs at once."""

    def __init__(self, clock: VirtualClock, script: Script, ends: bool = True) -> None:
        self.clock, self.script, self.ends = clock, script, ends
        self.running: set[_Scripted] = set()
        self.most = 0
        self.swept: list[str] = []
        self.taken: list[tuple[str, str]] = []
        self.lock = threading.Lock()

    def connect(self, host: Host) -> Reached:
        return Reached()

    def start(self, host: Host, command: Command, sink: Sink) -> Running:
        if "healthcheck-sweep" in command.argv:
            self.swept.append(host.name)
            return _Scripted([(0.0, b"swept\n")], True, sink, self.clock, self)
        if TAKE_MARK in command.argv:
            nonce, _, _, _, which = command.argv[4:]
            self.taken.append((host.name, which))
            files = () if which == NONE else (("nccl.x.1", f"log of {host.name}"),)
            return _Scripted([(0.0, frame(nonce, files).encode())], True, sink, self.clock, self)
        with self.lock:
            job = _Scripted(self.script, self.ends, sink, self.clock, self)
            self.running.add(job)
            self.most = max(self.most, len(self.running))
        return job

    def push(self, host: Host, folder: str, files: object) -> PushResult:
        return PushResult(folder)

    def close(self) -> None:
        pass


class _SecondSignal(Cancel):
    """Raises where the main thread looks, as the handler of a second Ctrl-C does."""

    armed = False

    @property
    def wanted(self) -> bool:
        if self.armed and threading.current_thread() is threading.main_thread():
            raise Interrupted(2)
        return False


class _Quiet:
    def event(self, event: Event) -> None:
        pass


def _run(
    tmp_path: Path, script: Script, *, ends: bool = True, repeats: int = 1, parallel: int = 100, stall_s: float = 60.0
) -> tuple[list[JobOutcome | Refused], Place, Engine]:
    clock = VirtualClock(datetime(2026, 1, 1, tzinfo=UTC))
    place = Place(clock, script, ends)
    engine = Engine(place, place, clock, _Quiet(), DirectoryStore.create(tmp_path, clock), parallel=parallel)
    jobs = single_node_jobs(Playbook("x", ()), Stage("single_node", repeats=repeats), HOSTS)
    launches = [
        Launch(job, Command(("mpirun",), 600, "t"), host, place, (host,), stall_s)
        for job in jobs
        for host in HOSTS
        if host.name == job.hosts[0]
    ]
    return list(run_jobs(launches, lambda launch: (), engine)), place, engine


def _outcomes(found: list[JobOutcome | Refused]) -> list[JobOutcome]:
    assert all(isinstance(ended, JobOutcome) for ended in found)
    return [ended for ended in found if isinstance(ended, JobOutcome)]


WHOLE: Script = [(1.0, TABLE[:900]), (5.0, TABLE[900:])]


def test_jobs_on_different_hosts_run_all_at_once(tmp_path: Path) -> None:
    found, place, engine = _run(tmp_path, WHOLE)
    assert len(_outcomes(found)) == 6 and place.most == 6
    assert set(engine.store.outcomes()) == {outcome.job.id for outcome in _outcomes(found)}
    assert not place.swept, "a job that ended by itself leaves nothing to look for"


def test_the_bound_on_jobs_at_once_holds(tmp_path: Path) -> None:
    found, place, _ = _run(tmp_path, WHOLE, parallel=2)
    assert len(found) == 6 and place.most <= 2


def test_jobs_that_share_a_host_follow_each_other(tmp_path: Path) -> None:
    found, place, _ = _run(tmp_path, WHOLE, repeats=3)
    assert len(found) == 18 and place.most <= len(HOSTS)


def test_the_logs_of_a_job_are_here_before_the_next_one_begins_on_its_host(tmp_path: Path) -> None:
    begun: list[tuple[str, int]] = []
    clock = VirtualClock(datetime(2026, 1, 1, tzinfo=UTC))
    place = Place(clock, WHOLE)
    engine = Engine(place, place, clock, _Quiet(), DirectoryStore.create(tmp_path, clock))
    jobs = single_node_jobs(Playbook("x", ()), Stage("single_node", repeats=3), HOSTS[:1])
    launches = [Launch(job, Command(("mpirun",), 600, "t"), HOSTS[0], place, HOSTS[:1], 60.0) for job in jobs]

    def last_look(launch: Launch) -> tuple[()]:
        begun.append((launch.job.id, len(list(engine.store.folder.glob("raw/*/*/nccl/n0/*")))))
        return ()

    assert len(list(run_jobs(launches, last_look, engine, lambda outcome: outcome.job.repeat == 0))) == 3
    assert begun == [(job.id, number) for number, job in enumerate(jobs)]
    assert place.taken == [("n0", LOWEST_PID), ("n0", ALL), ("n0", ALL)]


def test_silence_is_ended_as_a_hang_and_every_host_is_swept(tmp_path: Path) -> None:
    found, place, engine = _run(tmp_path, [(1.0, TABLE[:900])], ends=False)
    for outcome in _outcomes(found):
        assert outcome.result.kind is ExitKind.STALLED
        assert outcome.output.tables, "what was printed before the hang is kept"
    assert sorted(place.swept) == [host.name for host in HOSTS]
    assert 60 < engine.clock.monotonic() < 120


def test_a_job_that_keeps_printing_is_not_a_hang(tmp_path: Path) -> None:
    slow: Script = [(50.0 * n, TABLE[n * 300 : (n + 1) * 300]) for n in range(len(TABLE) // 300 + 1)]
    assert {outcome.result.kind for outcome in _outcomes(_run(tmp_path, slow)[0])} == {ExitKind.EXITED}


def test_a_complete_table_counts_though_mpirun_hangs_afterwards(tmp_path: Path) -> None:
    found, _, engine = _run(tmp_path, [(1.0, TABLE)], ends=False)
    assert {outcome.result.kind for outcome in _outcomes(found)} == {ExitKind.TEARDOWN_HUNG}
    assert engine.clock.monotonic() < 60


def test_each_job_is_looked_at_once_and_only_while_its_table_is_being_filled(tmp_path: Path) -> None:
    clock = VirtualClock(datetime(2026, 1, 1, tzinfo=UTC))
    head = TABLE.index(b"#       size") + 60
    place = Place(clock, [(1.0, TABLE[:100]), (5.0, TABLE[100:head]), (9.0, TABLE[head:-400]), (20.0, TABLE[-400:])])
    engine = Engine(place, place, clock, _Quiet(), DirectoryStore.create(tmp_path, clock))
    jobs = single_node_jobs(Playbook("x", ()), Stage("single_node"), HOSTS)
    looks: list[tuple[str, float, bool]] = []
    launches = [
        Launch(job, Command(("mpirun",), 600, "t"), host, place, (host,), 60.0)
        for job, host in zip(jobs, HOSTS, strict=True)
    ]

    def look(job: CollectiveJob, hosts: tuple[Host, ...], measuring: Callable[[], bool]) -> None:
        looks.append((hosts[0].name, clock.monotonic(), measuring()))

    found = list(run_jobs(launches, lambda launch: (), engine, under_load=look))
    assert len(_outcomes(found)) == len(HOSTS)
    assert sorted(name for name, _, _ in looks) == [host.name for host in HOSTS]
    assert all(5.0 <= at < 20.0 and still for _, at, still in looks)


def test_a_look_that_breaks_after_the_last_job_is_not_lost(tmp_path: Path) -> None:
    clock = VirtualClock(datetime(2026, 1, 1, tzinfo=UTC))
    head = TABLE.index(b"#       size") + 60
    place = Place(clock, [(1.0, TABLE[:head]), (9.0, TABLE[head:])])
    engine = Engine(place, place, clock, _Quiet(), DirectoryStore.create(tmp_path, clock))
    (job,) = single_node_jobs(Playbook("x", ()), Stage("single_node"), HOSTS[:1])
    launch = Launch(job, Command(("mpirun",), 600, "t"), HOSTS[0], place, HOSTS[:1], 60.0)
    over = threading.Event()

    def look(job: CollectiveJob, hosts: tuple[Host, ...], measuring: Callable[[], bool]) -> None:
        clock.sleep(20.0)  # the job ends meanwhile
        over.wait(10.0)
        raise StoreError("cannot write: No space left on device")

    with pytest.raises(StoreError, match="No space left"):
        for _ in run_jobs([launch], lambda _: (), engine, under_load=look):
            over.set()
    assert over.is_set()


def test_a_job_that_is_over_at_once_is_not_looked_at(tmp_path: Path) -> None:
    clock = VirtualClock(datetime(2026, 1, 1, tzinfo=UTC))
    place = Place(clock, [(1.0, TABLE)])
    engine = Engine(place, place, clock, _Quiet(), DirectoryStore.create(tmp_path, clock))
    (job,) = single_node_jobs(Playbook("x", ()), Stage("single_node"), HOSTS[:1])
    launch = Launch(job, Command(("mpirun",), 600, "t"), HOSTS[0], place, HOSTS[:1], 60.0)
    looks: list[object] = []
    list(run_jobs([launch], lambda launch: (), engine, under_load=lambda *seen: looks.append(seen)))
    assert not looks


def test_a_cancel_stops_what_runs_begins_nothing_more_and_keeps_the_output(tmp_path: Path) -> None:
    clock = VirtualClock(datetime(2026, 1, 1, tzinfo=UTC))
    place = Place(clock, [(1.0, TABLE[:900]), (500.0, TABLE[900:])])
    engine = Engine(place, place, clock, _Quiet(), DirectoryStore.create(tmp_path, clock), parallel=3)
    jobs = single_node_jobs(Playbook("x", ()), Stage("single_node"), HOSTS)
    started: list[str] = []

    def last_look(launch: Launch) -> tuple[()]:
        started.append(launch.job.id)
        if len(started) == 3:
            engine.cancel.set(2)
        return ()

    launches = [
        Launch(job, Command(("mpirun",), 600, "t"), host, place, (host,), 900.0)
        for job, host in zip(jobs, HOSTS, strict=True)
    ]
    found = list(run_jobs(launches, last_look, engine))
    outcomes = [ended for ended in found if isinstance(ended, JobOutcome)]
    assert {outcome.result.kind for outcome in outcomes} <= {ExitKind.STOPPED}
    assert len(found) == len(started) == 3
    assert len(place.swept) == len(outcomes) <= 2, "who was looked at when the wish came is not loaded any more"


def test_a_look_that_a_cancel_cut_short_starts_nothing(tmp_path: Path) -> None:
    clock = VirtualClock(datetime(2026, 1, 1, tzinfo=UTC))
    place = Place(clock, WHOLE)
    engine = Engine(place, place, clock, _Quiet(), DirectoryStore.create(tmp_path, clock))
    (job,) = single_node_jobs(Playbook("x", ()), Stage("single_node"), HOSTS[:1])

    def cut_short(_: Launch) -> tuple[()]:
        engine.cancel.set(2)
        return ()

    launch = Launch(job, Command(("mpirun",), 600, "t"), HOSTS[0], place, HOSTS[:1], 60.0)
    assert list(run_jobs([launch], cut_short, engine)) == [Refused(job, ())]
    assert place.most == 0


def test_a_line_like_the_footer_in_a_banner_ends_no_job(tmp_path: Path) -> None:
    banner = b"# Avg bus bandwidth    : 42.0\n"
    slow: Script = [(1.0, banner), (50.0, TABLE[:900]), (100.0, TABLE[900:])]
    assert {outcome.result.kind for outcome in _outcomes(_run(tmp_path / "a", slow)[0])} == {ExitKind.EXITED}
    hung = _outcomes(_run(tmp_path / "b", slow[:2], ends=False)[0])
    assert {outcome.result.kind for outcome in hung} == {ExitKind.STALLED}
    whole = _outcomes(_run(tmp_path / "c", slow, ends=False)[0])
    assert {outcome.result.kind for outcome in whole} == {ExitKind.TEARDOWN_HUNG}


def test_a_full_disk_ends_every_job_and_looks_after_its_hosts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(sink: FileJobSink, data: bytes) -> None:
        raise StoreError("cannot write stdout: No space left on device")

    monkeypatch.setattr(FileJobSink, "stdout", full)
    clock = VirtualClock(datetime(2026, 1, 1, tzinfo=UTC))
    place = Place(clock, WHOLE)
    engine = Engine(place, place, clock, _Quiet(), DirectoryStore.create(tmp_path, clock))
    jobs = single_node_jobs(Playbook("x", ()), Stage("single_node"), HOSTS)
    launches = [
        Launch(job, Command(("mpirun",), 600, "t"), host, place, (host,), 60.0)
        for job, host in zip(jobs, HOSTS, strict=True)
    ]
    with pytest.raises(StoreError, match="No space left"):
        list(run_jobs(launches, lambda _: (), engine))
    assert all(job.stopped for job in place.running)
    assert {host.name for host in HOSTS} == set(place.swept)
    assert {(host.name, NONE) for host in HOSTS} <= set(place.taken), (
        "logs that cannot be kept are deleted all the same"
    )


def test_a_second_signal_waits_for_no_worker(tmp_path: Path) -> None:
    clock = VirtualClock(datetime(2026, 1, 1, tzinfo=UTC))
    place = Place(clock, WHOLE)
    cancel = _SecondSignal()
    engine = Engine(place, place, clock, _Quiet(), DirectoryStore.create(tmp_path, clock), cancel)
    (job,) = single_node_jobs(Playbook("x", ()), Stage("single_node"), HOSTS[:1])
    held = threading.Event()
    given_up: list[str] = []

    def slow_look(launch: Launch) -> tuple[()]:
        cancel.armed = True
        if not held.wait(20):
            given_up.append(launch.job.id)
        return ()

    launch = Launch(job, Command(("mpirun",), 600, "t"), HOSTS[0], place, HOSTS[:1], 60.0)
    with pytest.raises(Interrupted):
        list(run_jobs([launch], slow_look, engine))
    waited_for = tuple(given_up)
    held.set()
    assert waited_for == ()
    assert place.most == 0


def test_a_host_that_became_busy_is_left_alone(tmp_path: Path) -> None:
    from healthcheck.model.component import node
    from healthcheck.model.finding import CheckResult
    from healthcheck.model.verdict import Verdict

    clock = VirtualClock(datetime(2026, 1, 1, tzinfo=UTC))
    place = Place(clock, WHOLE)
    engine = Engine(place, place, clock, _Quiet(), DirectoryStore.create(tmp_path, clock))
    (job,) = single_node_jobs(Playbook("x", ()), Stage("single_node"), HOSTS[:1])
    busy = CheckResult("node.busy", node("n0"), Verdict.SKIPPED, say("job.stopped"), "busy.foreign")
    launch = Launch(job, Command(("mpirun",), 600, "t"), HOSTS[0], place, HOSTS[:1], 60.0)
    found = list(run_jobs([launch], lambda _: (busy,), engine))
    assert found == [Refused(job, (busy,))]
    assert place.most == 0
