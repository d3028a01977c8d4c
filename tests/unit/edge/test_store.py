"""Run directories: private, whole or absent, and never overwriting what was measured."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from healthcheck.edge.clock import SystemClock
from healthcheck.edge.owner import adopt, current_owner, is_dead
from healthcheck.edge.store import DirectoryStore, write_atomically
from healthcheck.errors import InputError, StoreError


def test_a_run_directory_is_private(tmp_path: Path) -> None:
    store = DirectoryStore.create(tmp_path / "reports", SystemClock())
    assert stat.S_IMODE(store.folder.stat().st_mode) == 0o700
    assert len(store.folder.name) == len("20260314T021503Z-qhzt")


def test_the_files_of_a_run_stay_private_wherever_they_are_moved(tmp_path: Path) -> None:
    store = DirectoryStore.create(tmp_path / "reports", SystemClock())
    old = os.umask(0)
    try:
        store.sink("job", "single_node").close()
        store.write("report.md", "text")
        store.save_look("node01", "before", "text")
        store.save_nccl_log("job", "single_node", "node01", "0.log", "text")
    finally:
        os.umask(old)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in store.folder.rglob("*") if path.is_file()}
    assert modes == dict.fromkeys(("stdout", "stderr", "report.md", "before", "0.log"), 0o600)


def test_a_place_that_cannot_be_used_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "reports").write_text("a file")
    with pytest.raises(InputError, match="--results: cannot create a run directory"):
        DirectoryStore.create(tmp_path / "reports", SystemClock())


def test_a_folder_without_a_record_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no record\.json"):
        DirectoryStore.open("20260101T000000Z-abcd", tmp_path, SystemClock())


def test_a_link_that_somebody_laid_where_the_name_was_to_be_guessed_is_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(b"theirs")
    (tmp_path / f".healthy.hosts.{os.getpid()}.tmp").symlink_to(victim)
    write_atomically(tmp_path / "healthy.hosts", b"ours")
    assert (victim.read_bytes(), (tmp_path / "healthy.hosts").read_bytes()) == (b"theirs", b"ours")


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "record.json"
    write_atomically(path, b"old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreError, match="No space left"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"


def test_a_second_attempt_keeps_the_output_of_the_first(tmp_path: Path) -> None:
    store = DirectoryStore.create(tmp_path, SystemClock())
    for text in (b"first", b"second", b"third"):
        sink = store.sink("multi_node.all_reduce.x", "multi_node")
        sink.stdout(text)
        sink.close()
    kept = {path.read_bytes() for path in store.folder.glob("raw/multi_node/*/stdout")}
    assert kept == {b"first", b"second", b"third"}
    assert store.raw_text_files("multi_node.all_reduce.x", "multi_node")[0].read_bytes() == b"third"


def test_a_job_on_an_ipv6_host_has_a_folder_of_its_own(tmp_path: Path) -> None:
    store = DirectoryStore.create(tmp_path, SystemClock())
    store.sink("single_node.all_reduce.fe80::1/../x", "single_node").close()
    (folder,) = (store.folder / "raw" / "single_node").iterdir()
    assert "/" not in folder.name and ":" not in folder.name


def test_jobs_on_hosts_with_the_longest_names_have_folders_of_their_own(tmp_path: Path) -> None:
    store = DirectoryStore.create(tmp_path, SystemClock())
    long = ".".join(["x" * 60] * 4)
    for host in (f"{long}.a", f"{long}.b"):
        for _ in range(2):
            store.sink(f"single_node.all_reduce.{host}", "single_node").close()
    folders = [folder.name for folder in (store.folder / "raw" / "single_node").iterdir()]
    assert len(folders) == 4 and sum(".attempt1" in name for name in folders) == 2


def test_an_owner_is_dead_when_its_pid_belongs_to_another_process() -> None:
    mine = current_owner()
    assert not is_dead(mine)
    assert is_dead(type(mine)(mine.user, mine.machine, mine.pid, "1", mine.token))
    assert is_dead(type(mine)(mine.user, mine.machine, 2**22 - 1, "", mine.token))
    # Nothing is known of processes on another machine, so they are not declared dead.
    assert not is_dead(type(mine)(mine.user, "elsewhere", mine.pid, "1", mine.token))


def test_a_resumed_run_keeps_its_token() -> None:
    before = current_owner()
    assert adopt(before).token == before.token
    assert current_owner().token != before.token


def test_logs_of_nodes_are_private_and_found_by_host(tmp_path: Path) -> None:
    store = DirectoryStore.create(tmp_path, SystemClock())
    job = ("multi_node.all_reduce.x", "multi_node")
    for host, name in (("n2", "nccl.n2.9"), ("fe80::1", "nccl.a.1"), ("n2", "nccl.n2.10")):
        store.save_nccl_log(*job, host, name, f"{host} {name} \ufffd")
    found = DirectoryStore(store.folder, SystemClock()).nccl_logs(*job)
    assert [(host, path.read_text()) for host, path in found] == [
        ("fe80::1", "fe80::1 nccl.a.1 \ufffd"),
        ("n2", "n2 nccl.n2.10 \ufffd"),
        ("n2", "n2 nccl.n2.9 \ufffd"),
    ]
    assert {stat.S_IMODE(path.stat().st_mode) for _, path in found} == {0o600}
    assert {stat.S_IMODE(path.parent.stat().st_mode) for _, path in found} == {0o700}
    assert store.nccl_logs("another", "multi_node") == ()


@pytest.mark.parametrize(
    "name", ["../../escape", "..", ".", "", "/etc/passwd", ".hidden", "a\nb\0c", "x" * 5000, "\udcff"]
)
def test_a_name_from_a_node_leads_nowhere_else(tmp_path: Path, name: str) -> None:
    store = DirectoryStore.create(tmp_path, SystemClock())
    for host in ("n1", name[:200] or "n2"):
        paths = [store.save_nccl_log("job", "single_node", host, name, text) for text in ("one", "two")]
        assert [path.read_text() for path in paths] == ["one", "two"], "the second does not replace the first"
        for path in paths:
            assert path.parent.parent == store.folder / "raw" / "single_node" / "job" / "nccl"
            assert not path.name.startswith(".")
    assert len(store.nccl_logs("job", "single_node")) == 4


def test_a_second_attempt_has_no_logs_of_the_first(tmp_path: Path) -> None:
    store = DirectoryStore.create(tmp_path, SystemClock())
    store.sink("job", "single_node").close()
    store.save_nccl_log("job", "single_node", "n1", "nccl.n1.1", "first")
    store.sink("job", "single_node").close()
    assert store.nccl_logs("job", "single_node") == ()
    assert [path.read_text() for path in store.folder.glob("raw/single_node/*/nccl/*/*")] == ["first"]
