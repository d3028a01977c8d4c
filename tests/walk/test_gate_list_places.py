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
