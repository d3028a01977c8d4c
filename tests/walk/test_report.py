"""`healthcheck report RUN`: the files of a stored run are made again from its record alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from healthcheck.__main__ import run
from healthcheck.model.earlier import Earlier
from healthcheck.model.message import say
from healthcheck.parsing.record_codec import encode_record
from healthcheck.reporting.files import report_files
from tests.golden.records import sick

FILES = {
    "report.html",
    "report.md",
    "healthy.hosts",
    "exclude.hosts",
    "suggested-actions.sh",
    "junit.xml",
    "metrics.prom",
}


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    folder = tmp_path / "reports" / sick().run_id
    folder.mkdir(parents=True)
    (folder / "record.json").write_bytes(encode_record(sick()))
    return folder


def test_a_run_directory_is_rendered_again(stored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (stored / "report.md").write_text("old")
    assert run(["report", str(stored)]) == 0
    assert {path.name for path in stored.iterdir()} == FILES | {"record.json"}
    assert (stored / "report.md").read_text(encoding="utf-8").startswith("# FAIL (SIMULATED)")
    assert capsys.readouterr().out.startswith("FAIL 4/8 ready, simulated")


def test_a_run_is_found_by_its_id_below_the_results(stored: Path) -> None:
    assert run(["report", stored.name, "-o", str(stored.parent)]) == 0
    assert (stored / "report.html").is_file()


def test_a_stored_record_gives_the_very_same_pages(stored: Path) -> None:
    assert run(["report", str(stored)]) == 0
    expected = report_files(sick(), Earlier(why=say("report.since.not_kept")))
    assert set(expected) == FILES
    for name, text in expected.items():
        assert (stored / name).read_text(encoding="utf-8") == text


def test_with_json_the_record_is_printed_and_nothing_else(stored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["report", str(stored), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads((stored / "record.json").read_bytes())


@pytest.mark.parametrize("name", ["record.json", "report.html"])
def test_a_file_of_a_run_stands_for_the_run(name: str, stored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (stored / "report.html").write_text("old")
    assert run(["report", str(stored / name)]) == 0
    assert capsys.readouterr().out.startswith("FAIL 4/8 ready")


def test_clean_without_anything_to_clean_is_still_one_document(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["clean", "--json", "-o", str(tmp_path)]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out) == {"schema": "healthcheck.clean/1", "runs": [], "locks_removed": []}
    assert "nothing to clean" in printed.err


def test_a_folder_that_is_no_run_is_one_sentence_and_exit_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["report", str(tmp_path), "-o", str(tmp_path)]) == 2
    said = capsys.readouterr().err.strip()
    assert said.count("\n") == 0
    assert str(tmp_path) in said


def test_a_record_that_is_cut_is_one_sentence_and_exit_2(stored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = (stored / "record.json").read_bytes()
    (stored / "record.json").write_bytes(whole[: len(whole) // 2])
    assert run(["report", str(stored)]) == 2
    said = capsys.readouterr().err.strip()
    assert said.count("\n") == 0
    assert "record.json" in said
