"""`healthcheck compare BEFORE AFTER` as a user meets it, on simulated check-ups."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.walk.cli import Shell

SEED = ("--seed", "3")


def checkup(shell: Shell, nodes: int, *words: str) -> str:
    """The id of a new simulated run. Ids begin with the second they were made in, so each gets a name of its own."""
    had = set(shell.folders()) if shell.results.is_dir() else set()
    shell("run", "quick", "--simulate", str(nodes), "-q", *SEED, *words)
    made = next(folder for folder in shell.folders() if folder not in had)
    return made.rename(made.with_name(f"{len(had):04d}-{made.name}")).name


def test_a_slow_node_and_a_changed_driver_are_named(shell: Shell) -> None:
    before = checkup(shell, 8)
    after = checkup(shell, 8, "--fault", "node03:nvlink=0.9", "--fault", "node02:driver=535.54.03")
    said = shell("compare", before, after)
    assert said.code == 4
    assert said.out.startswith("WORSE 2 of 8 nodes, simulated, fleet ") and said.out.count("\n") == 1
    assert "node03  single_node all_reduce" in said.err and "-10.0 %" in said.err
    assert "535.54.03  on node02 (1 of 8)" in said.err
    assert "its numbers moved within noise" in " ".join(said.err.split())
    back = shell("compare", after, before)
    assert back.code in (0, 3) and "WORSE" not in back.out


def test_the_same_check_up_twice_is_the_same(shell: Shell) -> None:
    said = shell("compare", checkup(shell, 8), checkup(shell, 8))
    assert said.code == 0 and said.out.startswith("SAME 8 nodes, simulated")
    assert "Nothing moved beyond noise" in said.err


def test_a_node_less_is_named_and_is_not_fine(shell: Shell) -> None:
    said = shell("compare", checkup(shell, 8), checkup(shell, 7))
    assert said.code == 3 and said.out.startswith("INCOMPLETE 7 of 8 nodes compared")
    assert "node08  single_node: not among the hosts of that run" in said.err
    assert "8 nodes together before, 7 now" in said.err


def test_a_node_that_does_not_answer_any_more_is_missing_and_a_hanging_one_is_worse(shell: Shell) -> None:
    before = checkup(shell, 8)
    after = checkup(shell, 8, "--fault", "node04:unreachable", "--fault", "node05:hang")
    said = shell("compare", before, after)
    assert said.code == 4 and said.out.startswith("WORSE 1 of 8 nodes")
    assert "node05  PASS -> FAIL" in said.err
    assert "node04  single_node: no answer on port 22" in said.err


def test_json_is_one_document_and_carries_the_exit_code(shell: Shell) -> None:
    before, after = checkup(shell, 8), checkup(shell, 8, "--fault", "node03:nvlink=0.9")
    said = shell("compare", before, after, "--json", "-q")
    document = json.loads(said.out)
    assert (document["schema"], document["exit_code"], said.code) == ("healthcheck.compare/1", 4, 4)
    assert document["worse"] == ["node03"] and said.err == ""


def test_html_writes_one_page_and_a_place_that_is_none_is_refused(shell: Shell, tmp_path: Path) -> None:
    before, after = checkup(shell, 2), checkup(shell, 2)
    file = tmp_path / "compared.html"
    assert shell("compare", before, after, "--html", str(file)).code == 0
    assert "SIMULATED" in file.read_text(encoding="utf-8")
    for wrong in (tmp_path / "nowhere" / "page.html", tmp_path):
        said = shell("compare", before, after, "--html", str(wrong))
        assert said.code == 2 and said.out == "" and "--html" in said.err


def test_last_takes_the_two_newest_that_fit_and_says_which(shell: Shell) -> None:
    first, second = checkup(shell, 8), checkup(shell, 8, "--fault", "node03:nvlink=0.9")
    looked = shell("probe", "--simulate", "8", "-q")
    assert looked.code == 0
    said = shell("compare", "--last")
    assert said.code == 4
    assert first[5:] in said.err and second[5:] in said.err and "was passed over: it measured no bandwidth" in said.err


def test_where_no_two_runs_fit_it_says_how_many_there_are_and_why(shell: Shell) -> None:
    shell.results.mkdir()
    none = shell("compare", "--last")
    assert (none.code, none.out) == (3, "") and "no run below reports" in none.err
    alone = checkup(shell, 2)
    assert shell("probe", "--simulate", "2", "-q").code == 0
    said = shell("compare", "--last", "--json")
    document = json.loads(said.out)
    assert said.code == document["exit_code"] == 3
    assert document["schema"] == "healthcheck.compare/1" and document["before"] is None and document["runs"] == 2
    assert f"of 2 runs below reports no other one is complete and fits {alone[5:]}" in said.err
    assert "was passed over: it measured no bandwidth" in said.err


def test_a_folder_of_the_run_names_it_too(shell: Shell, tmp_path: Path) -> None:
    before, after = checkup(shell, 2), checkup(shell, 2)
    moved = shutil.copytree(shell.results / before, tmp_path / "elsewhere")
    assert shell("compare", str(moved), str(shell.results / after / "record.json")).code == 0


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("compare",), "two runs are needed"),
        (("compare", "one"), "two runs are needed"),
        (("compare", "one", "--last"), "--last alone"),
        (("compare", "--last", "-o", "nowhere"), "-o: there is no folder nowhere"),
        (("compare", "one", "two"), "one: is neither a run directory nor a folder"),
    ],
)
def test_what_names_no_two_runs_is_one_sentence_and_exit_2(shell: Shell, words: tuple[str, ...], part: str) -> None:
    said = shell(*words)
    assert said.code == 2 and said.out == ""
    assert part in said.err and said.err.count("\n") == 1


def test_a_folder_of_several_runs_is_asked_to_be_one(shell: Shell) -> None:
    after = checkup(shell, 2)
    checkup(shell, 2)
    said = shell("compare", str(shell.results), after)
    assert said.code == 2 and "holds 2 runs; name one of them" in said.err


def test_a_record_that_is_cut_is_one_sentence_and_exit_2(shell: Shell) -> None:
    before, after = checkup(shell, 2), checkup(shell, 2)
    path = shell.results / before / "record.json"
    path.write_bytes(path.read_bytes()[:1000])
    said = shell("compare", before, after)
    assert said.code == 2 and "record.json" in said.err and said.err.count("\n") == 1
