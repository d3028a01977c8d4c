"""One check-up of a host at a time: lock files in a folder that several processes share."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from healthcheck.edge.clock import SystemClock
from healthcheck.edge.host_locks import LOCKS, TURN, FolderLocks, lock_name, remove_stale, stale_locks
from healthcheck.edge.owner import boot_id, current_owner, is_gone, pid_space
from healthcheck.model.lock import HELD, UNLOCKABLE, Holder, Refusal

ROUNDS = 100
HOSTS = tuple(f"gpu{number:02}" for number in range(8))
# Each line of stdin is a round: `take` all hosts and say which were had; `release` them; nothing else happens between.
WORKER = """
import sys
from pathlib import Path
from healthcheck.edge.clock import SystemClock
from healthcheck.edge.host_locks import FolderLocks
from healthcheck.edge.owner import current_owner

results, name, hosts = Path(sys.argv[1]), sys.argv[2], sys.argv[3].split(",")
locks, n = None, 0
for word in sys.stdin:
    if word == "take\\n":
        n += 1
        locks = FolderLocks(results, f"run-{name}-{n}", current_owner(), SystemClock())
        taken = locks.take(hosts)
        print(",".join(host for host in hosts if host not in taken.refused), flush=True)
    else:
        locks.release()
        print("released", flush=True)
"""


class Worker:
    """A process of its own that takes and releases when told."""

    def __init__(self, results: Path, name: str, hosts: tuple[str, ...] = HOSTS) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", WORKER, str(results), name, ",".join(hosts)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def tell(self, word: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{word}\n")
        self.process.stdin.flush()

    def answer(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def take(self) -> str:
        self.tell("take")
        return self.answer()

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def end(self) -> None:
        self.process.communicate(timeout=60)


@pytest.fixture
def two(tmp_path: Path) -> Iterator[tuple[Worker, Worker]]:
    both = Worker(tmp_path, "a"), Worker(tmp_path, "b")
    yield both
    for worker in both:
        if worker.process.poll() is None:
            worker.end()


def locks(results: Path, run_id: str = "20260314T021503Z-aaaa") -> FolderLocks:
    return FolderLocks(results, run_id, current_owner(), SystemClock())


def files(results: Path) -> list[str]:
    return sorted(path.name for path in (results / LOCKS).iterdir() if path.name != TURN)


def me() -> Holder:
    mine = current_owner()
    return Holder(
        "20260101T000000Z-gone",
        mine.user,
        mine.machine,
        mine.pid,
        mine.pid_started,
        boot_id(),
        pid_space(),
        "2026-01-01T00:00:00Z",
    )


def plant(results: Path, host: str, holder: Holder) -> Path:
    path = results / LOCKS / lock_name(host)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(msgspec.json.encode(holder))
    return path


def why(found: dict[str, Refusal]) -> dict[str, str]:
    return {host: str(refusal.message) for host, refusal in found.items()}


def test_two_starts_at_once_never_have_the_same_host(two: tuple[Worker, Worker], tmp_path: Path) -> None:
    winners = []
    for _ in range(ROUNDS):
        for worker in two:
            worker.tell("take")
        had = [set(worker.answer().split(",")) - {""} for worker in two]
        assert not had[0] & had[1]
        # And not every other host each, with which neither could do anything.
        assert sorted(map(len, had)) == [0, len(HOSTS)]
        winners.append(0 if had[0] else 1)
        for worker in two:
            worker.tell("release")
        assert [worker.answer() for worker in two] == ["released"] * 2
    assert files(tmp_path) == []
    assert len(winners) == ROUNDS


def test_two_who_take_over_from_a_dead_run_at_once_never_have_the_same_host(
    two: tuple[Worker, Worker], tmp_path: Path
) -> None:
    dead = replace(me(), pid_started="1")
    for _ in range(ROUNDS):
        for host in HOSTS:
            plant(tmp_path, host, dead)
        for worker in two:
            worker.tell("take")
        had = [set(worker.answer().split(",")) - {""} for worker in two]
        assert not had[0] & had[1]
        assert had[0] | had[1] == set(HOSTS)
        for worker in two:
            worker.tell("release")
        assert [worker.answer() for worker in two] == ["released"] * 2


def test_a_run_that_was_killed_holds_nothing_up(two: tuple[Worker, Worker], tmp_path: Path) -> None:
    first, second = two
    assert first.take() == ",".join(HOSTS)
    assert second.take() == ""
    first.kill()
    assert [lock.host for lock in stale_locks(tmp_path) if lock.dead is not None] == list(HOSTS)
    taken = locks(tmp_path).take(HOSTS)
    assert not taken.refused
    (note,) = map(str, taken.notes)
    assert f"process {first.process.pid}" in note and "run-a-1" in note and "8 hosts: taken over" in note
    assert stale_locks(tmp_path) == ()


def test_who_is_second_reads_who_has_the_host(tmp_path: Path) -> None:
    first = locks(tmp_path)
    assert not first.take(["gpu01", "gpu02"]).refused
    taken = locks(tmp_path, "20260314T030000Z-bbbb").take(["gpu02", "gpu03"])
    mine = current_owner()
    (refusal,) = taken.refused.values()
    assert list(taken.refused) == ["gpu02"] and refusal.rule == HELD
    assert str(refusal.message).startswith(
        f"in use by healthcheck run 20260314T021503Z-aaaa of {mine.user}@{mine.machine}, process {mine.pid}, since 20"
    )


def test_whoever_gets_too_few_holds_none_of_them(tmp_path: Path) -> None:
    locks(tmp_path).take(["gpu01", "gpu02"])
    middle = locks(tmp_path, "20260314T030000Z-bbbb")
    taken = middle.take(["gpu02", "gpu03"], need=2)
    assert (list(taken.refused), taken.let_go) == (["gpu02"], ("gpu03",))
    third = locks(tmp_path, "20260314T030000Z-cccc").take(["gpu03", "gpu04"], need=2)
    assert not third.refused and not third.let_go
    middle.release()
    assert (tmp_path / LOCKS / lock_name("gpu03")).exists(), "what it let go of is not its any more"


def test_runs_on_other_hosts_go_on_side_by_side_and_release_only_their_own(tmp_path: Path) -> None:
    one, other = locks(tmp_path), locks(tmp_path, "20260314T030000Z-bbbb")
    assert not one.take(["a", "b"]).refused
    assert not other.take(["c", "d"]).refused
    one.release()
    one.release()
    assert [name for name in files(tmp_path) if not name.startswith(".")] == ["c.lock", "d.lock"]
    other.release()
    assert files(tmp_path) == []


def test_a_lock_of_another_machine_is_never_judged_by_its_pid(tmp_path: Path) -> None:
    elsewhere = plant(tmp_path, "gpu01", replace(me(), machine="head2", pid_started="1"))
    contained = plant(tmp_path, "gpu02", replace(me(), pid_space="pid:[1]", pid_started="1"))
    taken = locks(tmp_path).take(["gpu01", "gpu02"])
    told = why(dict(taken.refused))
    for host, path in (("gpu01", elsewhere), ("gpu02", contained)):
        assert "cannot be seen from this machine" in told[host] and told[host].endswith(f"delete {path}")
        assert path.exists()
    assert [lock.dead for lock in stale_locks(tmp_path)] == [None, None]
    assert remove_stale(tmp_path, SystemClock()) == ()


def test_a_dead_run_of_somebody_else_on_this_machine_keeps_nobody_off(tmp_path: Path) -> None:
    plant(tmp_path, "gpu01", replace(me(), user="somebody-else", pid_started="1"))
    assert not locks(tmp_path).take(["gpu01"]).refused


def test_what_was_locked_before_a_reboot_is_free(tmp_path: Path) -> None:
    plant(tmp_path, "gpu01", replace(me(), boot="another"))
    assert not locks(tmp_path).take(["gpu01"]).refused


def test_a_lock_nobody_can_read_is_kept_and_named(tmp_path: Path) -> None:
    path = plant(tmp_path, "gpu01", me())
    path.write_bytes(b'{"run_id": "2026')
    told = why(dict(locks(tmp_path).take(["gpu01"]).refused))
    assert str(path) in told["gpu01"] and "delete it if no check-up runs" in told["gpu01"]


def test_without_a_place_for_locks_every_host_says_so(tmp_path: Path) -> None:
    (tmp_path / LOCKS).write_text("not a folder")
    taken = locks(tmp_path).take(["gpu01", "gpu02"])
    assert {refusal.rule for refusal in taken.refused.values()} == {UNLOCKABLE}
    assert str(tmp_path / LOCKS) in why(dict(taken.refused))["gpu01"]


def test_one_who_waits_too_long_for_its_turn_still_takes_nothing_from_anybody(tmp_path: Path) -> None:
    plant(tmp_path, "gpu01", replace(me(), pid_started="1"))
    (tmp_path / LOCKS / TURN).mkdir()  # no flock in this folder
    taken = locks(tmp_path).take(["gpu01", "gpu02"])
    assert list(taken.refused) == ["gpu01"]
    assert "could not be taken over" in why(dict(taken.refused))["gpu01"]


def test_stale_locks_are_told_and_removed(tmp_path: Path) -> None:
    dead = plant(tmp_path, "gpu01", replace(me(), pid_started="1"))
    alive = plant(tmp_path, "gpu02", me())
    (stale,) = stale_locks(tmp_path)
    assert (stale.host, stale.file) == ("gpu01", str(dead))
    assert str(stale.message).startswith("locked by healthcheck run")
    assert [lock.file for lock in remove_stale(tmp_path, SystemClock())] == [str(dead)]
    assert not dead.exists() and alive.exists()


def test_where_the_turn_cannot_be_opened_to_all_it_is_had_and_given_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(descriptor: int, mode: int) -> None:
        raise PermissionError(1, "made by somebody else meanwhile")

    dead = plant(tmp_path, "gpu01", replace(me(), pid_started="1"))
    monkeypatch.setattr(os, "fchmod", refused)
    before = set(Path("/proc/self/fd").iterdir())
    assert [lock.file for lock in remove_stale(tmp_path, SystemClock())] == [str(dead)]
    assert set(Path("/proc/self/fd").iterdir()) <= before


@pytest.mark.parametrize("host", ["../../etc/passwd", "fe80::1%eth0", ".hidden", "a/b", "x" * 300, "node\n1", "%", ""])
def test_any_name_is_one_file_of_the_folder(tmp_path: Path, host: str) -> None:
    held = locks(tmp_path)
    assert not held.take([host]).refused
    (path,) = (tmp_path / LOCKS).glob("*.lock")
    assert path.name == lock_name(host) and len(os.fsencode(path.name)) < 255
    held.release()
    assert files(tmp_path) == []


def test_names_that_differ_have_locks_that_differ(tmp_path: Path) -> None:
    names = ["a.b", "a%2Eb", "a_b", "a-b", "x" * 299, "x" * 300]
    assert len({lock_name(name) for name in names}) == len(names)
    assert lock_name("GPU01.cluster.") == lock_name("gpu01.cluster")


def test_localhost_is_another_host_on_every_machine() -> None:
    assert socket.gethostname() in lock_name("localhost") and socket.gethostname() in lock_name("127.0.0.1")


def test_everyone_who_may_use_the_results_may_lock(tmp_path: Path) -> None:
    tmp_path.chmod(0o2770)
    locks(tmp_path).take(["gpu01"])
    assert (tmp_path / LOCKS).stat().st_mode & 0o7777 == 0o2770
    assert (tmp_path / LOCKS / lock_name("gpu01")).stat().st_mode & 0o777 == 0o644
    assert (tmp_path / LOCKS / TURN).stat().st_mode & 0o777 == 0o660


def test_in_a_folder_where_only_owners_may_remove_files_a_dead_lock_of_somebody_else_can_still_go(
    tmp_path: Path,
) -> None:
    tmp_path.chmod(0o1777)
    locks(tmp_path).take(["gpu01"])
    assert (tmp_path / LOCKS).stat().st_mode & 0o7777 == 0o777


def test_a_process_that_ended_and_was_not_reaped_is_gone() -> None:
    child = subprocess.Popen([sys.executable, "-c", ""])
    assert child.stdout is None
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert is_gone(child.pid, "1")
    child.wait()
    assert is_gone(child.pid, "1")
    assert not is_gone(os.getpid(), current_owner().pid_started)


def test_a_lock_that_is_a_pipe_is_left_and_never_waited_for(tmp_path: Path) -> None:
    (tmp_path / LOCKS).mkdir()
    os.mkfifo(tmp_path / LOCKS / lock_name("gpu01"))
    said = subprocess.run(
        [sys.executable, "-c", WORKER, str(tmp_path), "a", "gpu01,gpu02"],
        input="take\nrelease\n",
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert said.stdout.split() == ["gpu02", "released"]
