"""What changed since the last run stands on the pages, stays the same when they are made again, and stops nothing."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from tests.sample.making import FOLDER as SAMPLE
from tests.walk.cli import Shell

NODES = 8
SLOW = ("--fault", "node03:nvlink=0.9")
EARLIER = Path("inputs") / "earlier.json"


def _check_up(shell: Shell, *words: str, nodes: int = NODES, seed: int = 3) -> Path:
    """The folder of one more run in the results folder."""
    known = set(shell.folders()) if shell.results.is_dir() else set()
    simulated = ("--simulate", str(nodes), "--seed", str(seed), "-o", str(shell.results), "-q")
    said = shell("run", "quick", *simulated, *words)
    assert said.code in (0, 1, 4), said.err
    return next(folder for folder in shell.folders() if folder not in known)


def _since(folder: Path) -> str:
    """The words of the section; empty where there is none."""
    page = (folder / "report.html").read_text(encoding="utf-8")
    section = re.search(r'<section id="since">(.*?)</section>', page, re.S)
    return " ".join(re.sub(r"<[^>]+>", " ", section[1]).split()) if section else ""


def test_the_second_run_is_held_against_the_first(shell: Shell) -> None:
    first = _check_up(shell)
    assert "No earlier run of these nodes" in _since(first)

    told = _since(_check_up(shell, *SLOW))
    assert first.name in told
    assert "1 node got worse" in told
    assert re.search(r"node03 Inside a node, all_reduce \S+ GB/s \S+ GB/s -\S+ % worse", told)
    assert "topology" in told  # what was changed


def test_the_pages_are_the_same_when_the_earlier_run_is_long_gone(shell: Shell) -> None:
    first, second = _check_up(shell), _check_up(shell, *SLOW)
    pages = {name: (second / name).read_bytes() for name in ("report.html", "report.md")}
    shutil.rmtree(first)
    assert shell("report", str(second)).code == 0
    assert {name: (second / name).read_bytes() for name in pages} == pages


def _made(folder: Path) -> dict[str, bytes]:
    """Everything that is made of a record, judged again or not."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix in (".html", ".md", ".sh", ".xml", ".prom", ".hosts")
    }


@pytest.mark.parametrize("alone", [False, True], ids=["second", "first"])
def test_a_run_that_was_moved_tells_what_it_told(shell: Shell, tmp_path: Path, alone: bool) -> None:
    run = _check_up(shell, *SLOW) if alone else (_check_up(shell), _check_up(shell, *SLOW))[1]
    assert shell("rejudge", str(run), "--healthy", "0.5").code in (0, 1, 4)
    first = _made(run)
    assert len(first) == 14
    for folder in (run, run / "rejudged"):
        assert shell("report", str(folder)).code == 0
    assert _made(run) == first, "made again where it was"

    other = tmp_path / "elsewhere" / "a run that was moved"
    other.parent.mkdir()
    _check_up(shell, seed=9)
    shutil.copytree(shell.results, other.parent, dirs_exist_ok=True)
    shutil.move(run, other)
    for folder in (other, other / "rejudged"):
        assert shell("report", str(folder)).code == 0
    assert _made(other) == first


def test_a_record_that_was_taken_out_of_its_run_says_that_its_past_is_not_there(shell: Shell, tmp_path: Path) -> None:
    _check_up(shell)
    second = _check_up(shell, *SLOW)
    shutil.copy(second / "record.json", tmp_path)
    assert shell("report", str(tmp_path)).code == 0
    assert "What this run was held against is not in its folder" in _since(tmp_path)
    assert "is not in its folder" in (tmp_path / "report.md").read_text(encoding="utf-8")
    assert not (tmp_path / EARLIER).exists(), "what is not known is not kept"


def test_the_committed_sample_is_told_again_as_it_was(shell: Shell, tmp_path: Path) -> None:
    copy = tmp_path / "sample"
    shutil.copytree(SAMPLE, copy)
    assert shell("report", str(copy)).code == 0
    assert _made(copy) == _made(SAMPLE)
    assert "got worse" in _since(copy)


def test_a_run_that_was_to_measure_and_did_not_says_so(shell: Shell) -> None:
    _check_up(shell)
    silent = [word for number in range(1, NODES + 1) for word in ("--fault", f"node{number:02d}:unreachable")]
    simulated = ("--simulate", str(NODES), "-o", str(shell.results), "-q")
    assert shell("run", "quick", *simulated, *silent).code == 3
    told = max(shell.folders(), key=lambda folder: (folder / "report.html").stat().st_mtime_ns)
    assert "This run measured no bandwidth" in _since(told)
    before = _made(told)
    assert shell("report", str(told)).code == 0
    assert _made(told) == before


def test_a_judgement_has_the_past_of_its_run_and_changes_nothing_in_it(shell: Shell) -> None:
    first, second = _check_up(shell), _check_up(shell)
    before = sorted((path, path.stat().st_mtime_ns) for path in second.rglob("*") if path.is_file())
    assert shell("rejudge", str(second), "--healthy", "0.9").code == 4
    judged = second / "rejudged"
    assert first.name in _since(judged)
    assert "PASS DEGRADED" in _since(judged)
    inside = [path for path in second.rglob("*") if path.is_file() and judged not in path.parents]
    assert sorted((path, path.stat().st_mtime_ns) for path in inside) == before


def test_a_run_of_a_version_that_kept_no_past_finds_it_when_it_is_told_again(shell: Shell) -> None:
    first, second = _check_up(shell), _check_up(shell)
    (second / EARLIER).unlink()
    assert shell("report", str(second)).code == 0
    assert first.name in _since(second)
    assert (second / EARLIER).is_file()


def test_an_earlier_run_that_is_damaged_is_passed_over_and_said(shell: Shell) -> None:
    first, second = _check_up(shell), _check_up(shell)
    # Its line in the index still holds: nobody has looked at the record since.
    record = second / "record.json"
    stamp = record.stat()
    whole = record.read_bytes()
    record.write_bytes(whole[: len(whole) // 2].ljust(len(whole)))
    os.utime(record, ns=(stamp.st_mtime_ns, stamp.st_mtime_ns))
    told = _since(_check_up(shell))
    assert first.name in told
    assert "An earlier run could not be used" in told
    assert second.name in told


def test_a_kept_past_that_is_damaged_stops_no_page(shell: Shell) -> None:
    _check_up(shell)
    second = _check_up(shell)
    for damage in (b"", b"{", b'{"schema": "of tomorrow"}', b"\xff\xfe"):
        (second / EARLIER).write_bytes(damage)
        said = shell("report", str(second))
        assert said.code == 0, said.err
        assert "An earlier run could not be used" in _since(second)


def test_other_machines_of_the_same_names_are_no_past(shell: Shell) -> None:
    _check_up(shell, seed=4)
    assert "No earlier run of these nodes" in _since(_check_up(shell, seed=5))


def test_a_cluster_of_which_most_nodes_are_others_is_another_one(shell: Shell) -> None:
    _check_up(shell, nodes=3)
    assert "No earlier run of these nodes" in _since(_check_up(shell, nodes=8))


def test_a_run_that_measured_nothing_has_nothing_to_compare(shell: Shell) -> None:
    _check_up(shell)
    said = shell("probe", "--simulate", str(NODES), "--seed", "3", "-o", str(shell.results), "-q")
    assert said.code == 0, said.err
    looked = max(shell.folders(), key=lambda folder: (folder / "report.html").stat().st_mtime_ns)
    assert _since(looked) == ""
    assert not (looked / EARLIER).exists()
