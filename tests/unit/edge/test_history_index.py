"""The index over run directories: right whatever happens to its file."""

from __future__ import annotations

import multiprocessing
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from healthcheck.edge.history_index import INDEX, DirectoryIndex
from healthcheck.model.history import Past
from healthcheck.model.record import RunRecord
from healthcheck.model.verdict import Verdict
from healthcheck.parsing.record_codec import encode_record
from tests.golden.records import healthy, interrupted, sick, single


def keep(results: Path, record: RunRecord, run_id: str) -> Path:
    folder = results / run_id
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "record.json").write_bytes(encode_record(replace(record, run_id=run_id, started_at=_started(run_id))))
    return folder


def _started(run_id: str) -> str:
    return f"{run_id[:4]}-{run_id[4:6]}-{run_id[6:8]}T02:15:03Z"


@pytest.fixture
def results(tmp_path: Path) -> Path:
    keep(tmp_path, sick(), "20260214T021503Z-mvkd")
    keep(tmp_path, healthy(), "20260114T021503Z-qhzt")
    keep(tmp_path, interrupted(), "20260314T021503Z-wxyz")
    return tmp_path


def test_runs_come_in_the_order_of_time_and_say_how_they_ended(results: Path) -> None:
    past = DirectoryIndex(results).past()
    assert [(run.run_id[:8], run.state, run.verdict, run.simulated) for run in past.runs] == [
        ("20260114", "complete", "PASS", False),
        ("20260214", "complete", "FAIL", True),
        ("20260314", "interrupted", "INCONCLUSIVE", False),
    ]
    assert past.unreadable == () and past.notes == ()
    slow = {host.name: host for host in past.runs[1].hosts}["node05"]
    assert (slow.verdict, slow.rule) == ("FAIL", "hca.rate_low")
    assert slow.reason == "mlx5_2 at 100 Gb/s, expected 200"


def test_only_its_owner_may_read_it(results: Path) -> None:
    DirectoryIndex(results).past()
    assert stat.S_IMODE((results / INDEX).stat().st_mode) == 0o600


def test_the_second_look_reads_no_record(results: Path) -> None:
    first = DirectoryIndex(results).past()
    for record in results.glob("*/record.json"):
        size, when = record.stat().st_size, record.stat().st_mtime_ns
        record.write_bytes(b"x" * size)
        os.utime(record, ns=(when, when))
    assert DirectoryIndex(results).past() == first


def test_a_record_that_changed_is_read_again(results: Path) -> None:
    DirectoryIndex(results).past()
    keep(results, replace(healthy(), verdict=Verdict.DEGRADED), "20260114T021503Z-qhzt")
    assert DirectoryIndex(results).past().runs[0].verdict == "DEGRADED"
    assert DirectoryIndex(results).past() == _without_index(results)


def test_a_run_that_is_gone_is_forgotten(results: Path) -> None:
    DirectoryIndex(results).past()
    (results / "20260114T021503Z-qhzt" / "record.json").unlink()
    assert len(DirectoryIndex(results).past().runs) == 2
    assert b"qhzt" not in (results / INDEX).read_bytes()


def _without_index(results: Path) -> Past:
    (results / INDEX).unlink(missing_ok=True)
    return DirectoryIndex(results).past()


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: b"",
    "foreign version": lambda data: data.replace(b"history_index/3", b"history_index/9"),
    "another file": lambda data: b"SQLite format 3\x00" + bytes(range(256)),
    "cut in the middle": lambda data: data[: len(data) // 2],
    "one digit of a bandwidth": lambda data: data.replace(b"231.", b"131.", 1),
    "a line twice": lambda data: data + data.splitlines()[-1] + b"\n",
    "no line ends": lambda data: data.replace(b"\n", b" "),
    "half a line of a dead process": lambda data: data + b'1234abcd {"folder":"2026',
    "not text": lambda data: data[:60] + b"\xff\xfe\x00" + data[63:],
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_index_changes_no_answer_and_is_made_again(results: Path, damage: str) -> None:
    right = DirectoryIndex(results).past()
    whole = (results / INDEX).read_bytes()
    damaged = DAMAGES[damage](whole)
    assert damaged != whole
    (results / INDEX).write_bytes(damaged)
    assert DirectoryIndex(results).past() == right
    assert sorted((results / INDEX).read_bytes().splitlines()) == sorted(whole.splitlines())


def test_a_damaged_record_is_named_and_the_others_are_there(results: Path) -> None:
    broken = results / "20260214T021503Z-mvkd" / "record.json"
    broken.write_bytes(broken.read_bytes()[:400])
    past = DirectoryIndex(results).past()
    assert len(past.runs) == 2
    (message,) = past.unreadable
    assert str(broken) in str(message) and "cannot be read as a run record" in str(message)
    assert DirectoryIndex(results).past() == past


def test_a_copy_of_a_run_under_another_name_counts_once(results: Path) -> None:
    copy = results / "backup"
    copy.mkdir()
    (copy / "record.json").write_bytes((results / "20260114T021503Z-qhzt" / "record.json").read_bytes())
    past = DirectoryIndex(results).past()
    assert past.runs[0].folder == "20260114T021503Z-qhzt"
    assert len(past.runs) == 3
    assert [str(note) for note in past.notes] == ["left out: 1 run directory with the id of another one"]


def test_without_a_folder_there_is_no_run_and_none_is_made(tmp_path: Path) -> None:
    assert DirectoryIndex(tmp_path / "none").past() == Past()
    assert not (tmp_path / "none").exists()


def test_what_cannot_be_written_is_a_note_and_the_answer_is_right(results: Path) -> None:
    right = _without_index(results)
    (results / INDEX).unlink()
    (results / INDEX).mkdir()
    (results / INDEX / "in the way").write_text("")
    past = DirectoryIndex(results).past()
    assert past.runs == right.runs
    (note,) = past.notes
    assert "the index over the runs could not be kept" in str(note) and INDEX in str(note)
    notes = DirectoryIndex(results).add(results / "20260114T021503Z-qhzt")
    assert len(notes) == 1


def test_a_run_is_added_when_it_ends(results: Path) -> None:
    index = DirectoryIndex(results)
    index.past()
    before = (results / INDEX).read_bytes()
    folder = keep(results, healthy(), "20260414T021503Z-abcd")
    assert index.add(folder) == ()
    after = (results / INDEX).read_bytes()
    assert after.startswith(before) and b"20260414T021503Z-abcd" in after
    assert index.past() == _without_index(results)


def test_the_first_run_of_all_begins_the_index(tmp_path: Path) -> None:
    folder = keep(tmp_path, healthy(), "20260114T021503Z-qhzt")
    assert DirectoryIndex(tmp_path).add(folder) == ()
    assert (tmp_path / INDEX).exists()
    assert DirectoryIndex(tmp_path).past() == _without_index(tmp_path)


def test_names_of_folders_may_be_any_bytes(results: Path) -> None:
    odd = Path(os.fsdecode(os.fsencode(results) + b"/\xff\xfe\n"))
    odd.mkdir()
    record = replace(healthy(), run_id="20260501T021503Z-oddd", started_at="2026-05-01T02:15:03Z")
    (odd / "record.json").write_bytes(encode_record(record))
    past = DirectoryIndex(results).past()
    assert len(past.runs) == 4
    assert DirectoryIndex(results).past() == past == _without_index(results)


def test_one_host_is_the_same_as_in_all_of_it(results: Path) -> None:
    everybody, one = DirectoryIndex(results).past(), DirectoryIndex(results).past({"node03"})
    for run, its_own in zip(everybody.runs, one.runs, strict=True):
        assert its_own.hosts == tuple(host for host in run.hosts if host.name == "node03")
        assert its_own.jobs == tuple(job for job in run.jobs if "node03" in job.hosts)


def _look_and_add(results: Path, number: int) -> None:
    index = DirectoryIndex(results)
    for round_ in range(8):
        index.add(keep(results, healthy(), f"202{number}01{round_ + 10}T021503Z-abcd"))
        assert len(index.past().runs) >= 3


def test_several_processes_at_once_corrupt_nothing(results: Path) -> None:
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_look_and_add, args=(results, number)) for number in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(120)
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
    past = DirectoryIndex(results).past()
    assert len(past.runs) == 3 + 3 * 8
    assert past == _without_index(results)


def test_repeats_are_one_job_at_their_median(tmp_path: Path) -> None:
    repeats = tuple(replace(single("node01", 200.0 + 10 * n), id=f"job.r{n}") for n in range(3))
    keep(tmp_path, replace(healthy(1), jobs=repeats), "20260114T021503Z-qhzt")
    (run,) = DirectoryIndex(tmp_path).past().runs
    (job,) = run.jobs
    assert job.out_of_place[-1] == repeats[1].rows[-1].out_of_place.busbw_gbyte_s  # type: ignore[union-attr]
