"""What changed since the last run stands on the pages, stays the same when they are made again, and stops nothing."""

from __future__ import annotations

import os
import re
import shutil
import time
from pathlib import Path

from tests.walk.cli import Shell

NODES = 8
SLOW = ("--fault", "node03:nvlink=0.9")
EARLIER = Path("inputs") / "earlier.json"


def _check_up(shell: Shell, *words: str, nodes: int = NODES, seed: int = 3) -> Path:
    """The folder of one more run in the results folder; a second later than the last, which is what run ids tell."""
    time.sleep(1.01 if shell.results.is_dir() else 0)
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
