"""`healthcheck prune`: the newest runs of each kind stay; nothing else is touched."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

import pytest
from msgspec.structs import replace

from healthcheck.edge.history_index import INDEX, DirectoryIndex
from healthcheck.edge.owner import current_owner
from healthcheck.edge.run_folders import kept_runs, remove_run
from healthcheck.errors import StoreError
from healthcheck.model.gate import GateAsked, GateRecord
from healthcheck.model.record import RunRecord
from healthcheck.parsing.record_codec import encode_record
from tests.golden.records import healthy
from tests.walk.cli import Shell

State = Literal["incomplete", "complete", "interrupted"]


def put(results: Path, day: int, playbook: str = "monthly", state: State = "complete", **fields: object) -> Path:
    """A run of that day of March, with a raw file of 1,000 bytes."""
    run_id = f"202603{day:02}T021503Z-aaaa"
    record: RunRecord = replace(healthy(), run_id=run_id, state=state, **fields)
    record = replace(record, playbook=replace(record.playbook, name=playbook))
    folder = results / run_id
    (folder / "raw").mkdir(parents=True)
    (folder / "raw" / "stdout").write_bytes(b"x" * 1000)
    (folder / "record.json").write_bytes(encode_record(record))
    return folder


def days(results: Path) -> list[int]:
    """The days of the runs that are left."""
    return sorted(int(path.name[6:8]) for path in results.glob("2*") if path.is_dir() and not path.is_symlink())


@pytest.fixture
def results(shell: Shell) -> Path:
    shell.results.mkdir()
    return shell.results


def test_the_newest_complete_runs_stay_and_the_line_counts(shell: Shell, results: Path) -> None:
    for day in range(1, 8):
        put(results, day)
    said = shell("prune", "--keep", "3")
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith("removed 4 runs (") and said.out.endswith(" MB), 3 stay\n")
    assert days(results) == [5, 6, 7]
    assert shell("prune", "--keep", "3").out == "removed 0 runs (0.0 MB), 3 stay\n"


def test_an_afternoon_of_gates_displaces_no_check_up(shell: Shell, results: Path) -> None:
    for day in (1, 2):
        put(results, day)
    gate = GateRecord(GateAsked(300.0))
    for day in range(10, 14):
        put(results, day, gate=gate)
    provenance = replace(healthy().provenance, only="probe")
    for day in range(20, 24):
        put(results, day, provenance=provenance)
    put(results, 25, "quick")
    put(results, 26, simulated=True)
    assert shell("prune", "--keep", "2").code == 0
    assert days(results) == [1, 2, 12, 13, 22, 23, 25, 26]


def test_a_dry_run_names_what_would_go_and_removes_nothing(shell: Shell, results: Path) -> None:
    for day in (1, 2, 3):
        put(results, day)
    before = sorted(results.rglob("*"))
    said = shell("prune", "--keep", "1", "--dry-run")
    assert said.out.startswith("would remove 2 runs (") and said.out.endswith("1 stay\n")
    assert "would go: 20260301T021503Z-aaaa (monthly complete)" in said.err
    assert sorted(results.rglob("*")) == before


def test_a_run_that_is_not_over_stays_however_old(shell: Shell, results: Path) -> None:
    mine = current_owner()
    put(results, 1, state="incomplete", owner=mine)
    put(results, 2, state="incomplete", owner=replace(mine, machine="elsewhere", pid_started="1"))
    put(results, 3, state="incomplete", owner=replace(mine, pid_started="1"))
    for day in (4, 5):
        put(results, day)
    said = shell("prune", "--keep", "1")
    assert days(results) == [1, 2, 3, 5]
    assert f"20260301T021503Z-aaaa is not over and stays: process {mine.pid} of {mine.user}" in said.err
    assert "20260302T021503Z-aaaa is not over and stays" in said.err and "on elsewhere" in said.err
    assert "20260303T021503Z-aaaa was cut off and stays until healthcheck clean" in said.err


def test_an_interrupted_run_takes_no_place_and_goes_when_all_that_stay_are_newer(shell: Shell, results: Path) -> None:
    put(results, 1, state="interrupted")
    put(results, 2)
    put(results, 3, state="interrupted")
    put(results, 4)
    assert shell("prune", "--keep", "2").out.startswith("removed 1 run (")
    assert days(results) == [2, 3, 4]
    assert shell("prune", "--keep", "5").out.startswith("removed 0 runs")


def test_what_is_no_run_of_ours_is_passed_over(shell: Shell, results: Path, tmp_path: Path) -> None:
    outside = put(tmp_path / "archive", 1)
    (results / "20260301T021503Z-aaaa").symlink_to(outside)
    (results / "20260302T021503Z-aaaa").mkdir()
    (results / "20260302T021503Z-aaaa" / "thesis.tex").write_text("years of work")
    put(results, 3).rename(results / "before-the-move")
    copied = put(results, 4)
    copied.rename(results / "20260305T021503Z-bbbb")
    foreign = put(results, 6)
    (foreign / "record.json").write_text('{"schema": "somebody.else/1"}')
    (results / "notes").mkdir()
    (results / "20260307T021503Z-aaaa").write_text("a file")
    for day in (20, 21):
        put(results, day)
    said = shell("prune", "--keep", "1")
    assert said.out.endswith("1 stay\n") and said.out.startswith("removed 1 run (")
    assert days(results) == [2, 5, 6, 21]
    assert (outside / "raw" / "stdout").exists() and (results / "20260301T021503Z-aaaa").is_symlink()
    assert (results / "before-the-move").is_dir() and (results / "notes").is_dir()
    assert (results / "20260302T021503Z-aaaa" / "thesis.tex").exists()
    assert said.err.count("passed over:") == 5
    assert "is a link" in said.err and "is the record of '20260304T021503Z-aaaa'" in said.err


def test_links_inside_a_run_lead_nothing_else_away(shell: Shell, results: Path, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "data").write_text("kept")
    old = put(results, 1)
    (old / "raw" / "link").symlink_to(precious)
    (old / "raw" / "file").symlink_to(precious / "data")
    put(results, 2)
    assert shell("prune", "--keep", "1").code == 0
    assert days(results) == [2] and (precious / "data").read_text() == "kept"


def test_history_follows(shell: Shell, results: Path) -> None:
    for day in (1, 2, 3):
        put(results, day)
    assert len(DirectoryIndex(results).past().runs) == 3
    shell("prune", "--keep", "1")
    assert b"20260301" not in (results / INDEX).read_bytes()
    assert [run.run_id[:8] for run in DirectoryIndex(results).past().runs] == ["20260303"]


def test_a_run_that_is_resumed_in_this_moment_comes_back(results: Path) -> None:
    folder = put(results, 1, state="interrupted")
    (run,), _ = kept_runs(results)
    record = replace(healthy(), run_id=run.run_id, state="incomplete", owner=current_owner())
    (folder / "record.json").write_bytes(encode_record(record))
    with pytest.raises(StoreError, match="has changed since it was looked at; it stays"):
        remove_run(results, run)
    assert (folder / "raw" / "stdout").exists()
    assert [path.name for path in results.iterdir()] == [run.run_id]


def test_what_a_killed_removal_left_goes_with_the_next(shell: Shell, results: Path) -> None:
    put(results, 1).rename(results / ".pruned-20260301T021503Z-aaaa")
    put(results, 2)
    assert shell("prune", "--keep", "1").out == "removed 0 runs (0.0 MB), 1 stay\n"
    assert sorted(path.name for path in results.iterdir()) == ["20260302T021503Z-aaaa"]


def test_json_is_one_document(shell: Shell, results: Path) -> None:
    put(results, 1, state="incomplete", owner=replace(current_owner(), machine="elsewhere"))
    for day in (2, 3):
        put(results, day)
    said = shell("prune", "--keep", "1", "--json", "-q")
    document = json.loads(said.out)
    assert said.err == "" and document["schema"] == "healthcheck.prune/1"
    assert document["removed"] == [
        {"run_id": "20260302T021503Z-aaaa", "playbook": "monthly", "state": "complete"},
    ]
    assert document["stay"] == 2 and document["removed_bytes"] > 1000 and document["failed"] == []
    assert [run["run_id"] for run in document["not_over"]] == ["20260301T021503Z-aaaa"]


@pytest.mark.parametrize("words", [["--keep", "0"], ["--keep", "-1"], ["--keep", "two"], []])
def test_how_many_stay_is_a_number_above_zero(shell: Shell, results: Path, words: list[str]) -> None:
    for day in (1, 2):
        put(results, day)
    said = shell("prune", *words)
    assert said.code == 2 and said.err.count("\n") == 1 and "--keep" in said.err
    assert days(results) == [1, 2]


def test_a_folder_that_is_not_there_or_is_a_run_is_one_sentence(shell: Shell, results: Path) -> None:
    run = put(results, 1)
    gone, inside = shell("prune", "--keep", "1", "-o", "nowhere"), shell("prune", "--keep", "1", "-o", str(run))
    assert gone.code == inside.code == 2
    assert "there is no folder nowhere" in gone.err and "is one run; name the folder above it" in inside.err
    assert [path.name for path in results.iterdir()] == [run.name]
