"""Where the lists of a gate may lie, and whose they are: nothing of anybody else is taken away or taken for them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from healthcheck.workflows import probing
from healthcheck.workflows import run as run_workflow
from healthcheck.workflows.engine import Engine
from healthcheck.workflows.ledger import Ledger
from tests.walk.cli import Shell


@pytest.mark.parametrize("leads_to", ["yesterday", "nowhere", "/proc/self/fd/1"])
@pytest.mark.parametrize("link", ["ok", "ok.slurm", "ok.txt"])
def test_a_link_is_no_place_for_a_list(shell: Shell, leads_to: str, link: str) -> None:
    Path("yesterday").write_text("gpu-01\n")
    Path(link).symlink_to(leads_to)
    said = shell("gate", "--simulate", "2", "--healthy-hosts", "ok")
    assert said.code == 2 and f"{link} is a symbolic link" in said.err and not shell.results.exists()
    assert Path("yesterday").exists() and Path(link).readlink() == Path(leads_to)


@pytest.mark.parametrize("option", ["--healthy-hosts", "--exclude-file"])
@pytest.mark.parametrize("mine", ["known-bad", "known-bad.txt", "known-bad.slurm"])
def test_a_file_that_no_gate_wrote_is_not_lost_to_whoever_takes_the_option_for_an_input(
    shell: Shell, option: str, mine: str
) -> None:
    Path(mine).write_text("gpu-07  # bad fan, ticket 4711\n")
    said = shell("gate", "--simulate", "2", option, "known-bad")
    assert said.code == 2 and f"{mine} is there and no gate wrote it" in said.err and said.err.count("\n") == 1
    assert "ticket 4711" in Path(mine).read_text() and not shell.results.exists()


def test_an_empty_file_and_what_a_killed_gate_left_are_replaced(shell: Shell) -> None:
    Path("made-by-mktemp").touch()
    for name in ("cut.txt", "cut.slurm"):
        Path(name).write_text("node09\n")
    said = shell("gate", "--simulate", "2", "--healthy-hosts", "made-by-mktemp", "--exclude-file", "cut", "-q")
    assert said.code == 0 and Path("made-by-mktemp.txt").read_text() == "node01\nnode02\n"
    assert Path("cut.txt").read_text() == ""


@pytest.mark.parametrize("letters", [201, 250, 300])
def test_a_name_that_no_folder_can_hold_is_told_first(shell: Shell, letters: int) -> None:
    said = shell("gate", "--simulate", "2", "--exclude-file", "x" * letters)
    assert said.code == 2 and "more than 200 bytes" in said.err and not shell.results.exists()


@pytest.mark.parametrize("file", ["locks/node01", "locks", "history.index", "{run}/record.json", "{run}/mine"])
def test_what_the_results_folder_needs_is_no_list(shell: Shell, file: str) -> None:
    shell("gate", "--simulate", "2")
    (shell.results / "locks").mkdir(exist_ok=True)
    before = {path: path.stat().st_mtime_ns for path in shell.results.rglob("*")}
    said = shell("gate", "--simulate", "2", "--exclude-file", f"reports/{file.format(run=shell.folders()[0].name)}")
    assert said.code == 2 and said.err.startswith("error: --exclude-file: ") and said.err.count("\n") == 1
    assert {path: path.stat().st_mtime_ns for path in shell.results.rglob("*")} == before


def test_a_list_of_somebody_else_that_cannot_be_removed_is_told_first(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "everybodys"
    folder.mkdir()
    folder.chmod(0o1777)
    (folder / "ok").write_text("yesterday\n")
    monkeypatch.setattr(os, "geteuid", lambda: 4711)
    said = shell("gate", "--simulate", "2", "--healthy-hosts", str(folder / "ok"))
    assert said.code == 2 and "ok is somebody else's in a folder" in said.err
    assert not shell.results.exists()


@pytest.mark.parametrize("name", ["ok.hosts", "ok.hosts.slurm", "ok.hosts.txt"])
def test_the_list_of_a_gate_that_ended_meanwhile_is_neither_taken_nor_replaced(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    def meanwhile(ledger: Ledger, engine: Engine) -> None:
        Path(name).write_text("node07\n")
        real(ledger, engine)

    real = probing.probe_after
    monkeypatch.setattr(run_workflow, "probe_after", meanwhile)
    said = shell("gate", "--simulate", "4", "--healthy-hosts", "ok.hosts", "-q")
    assert said.code == shell.record().exit_code == 3
    assert f"ok.hosts not written: {name} came to be there meanwhile" in said.out and ", use " not in said.out
    assert [path.name for path in Path().glob("ok*")] == [name] and Path(name).read_text() == "node07\n"
