"""A run directory damaged by a crash, a power cut or a hand: measured again or one sentence, never green by it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.walk.cli import Shell


@pytest.fixture
def interrupted(shell: Shell) -> Path:
    """A run of which everything was measured, but whose end was not written."""
    assert shell("run", "--simulate", "3", "-q").code == 0
    (folder,) = shell.folders()
    record = json.loads((folder / "record.json").read_text())
    record |= {"state": "interrupted", "exit_code": 130, "healthy_hosts": []}
    (folder / "record.json").write_text(json.dumps(record))
    return folder


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _empty(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.parametrize("damage", [_cut, _empty, Path.unlink])
def test_a_damaged_result_is_measured_again(shell: Shell, interrupted: Path, damage: Callable[[Path], None]) -> None:
    victim = interrupted / "raw" / "single_node" / "single_node.all_reduce.node02"
    damage(victim / "outcome.json")
    said = shell("run", "--resume", str(interrupted), "-q")
    assert said.code == 0 and said.out.startswith("PASS 3/3 ready")
    assert (victim.parent / f"{victim.name}.attempt1" / "stdout").exists(), "the first try is kept beside the second"


def test_a_run_without_its_raw_output_is_measured_again(shell: Shell, interrupted: Path) -> None:
    shutil.rmtree(interrupted / "raw")
    assert shell("run", "--resume", str(interrupted), "-q").code == 0
    assert len(list(interrupted.glob("raw/*/*/outcome.json"))) == 4


@pytest.mark.parametrize("name", ["record.json", "inputs/options.json"])
@pytest.mark.parametrize("damage", [_cut, _empty])
def test_a_damaged_record_is_one_sentence(
    shell: Shell, interrupted: Path, name: str, damage: Callable[[Path], None]
) -> None:
    damage(interrupted / name)
    said = shell("run", "--resume", str(interrupted), "-q")
    assert said.code == 2
    assert said.err.count("\n") == 1 and name.rpartition("/")[2] in said.err


def test_a_run_that_was_moved_away_is_still_cleaned(shell: Shell, interrupted: Path, tmp_path: Path) -> None:
    record = json.loads((interrupted / "record.json").read_text())
    record |= {"state": "incomplete", "inventory": []}
    record["owner"] |= {"pid_started": "1"}
    moved = tmp_path / "elsewhere"
    shutil.move(interrupted, moved)
    (moved / "record.json").write_text(json.dumps(record))
    assert shell("clean", str(moved)).code == 0
    assert json.loads((moved / "record.json").read_text())["state"] == "interrupted"
