"""The committed sample is what the code makes today, and tells nothing of the machine that made it."""

from __future__ import annotations

import getpass
import re
import socket
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.sample.making import FILES, FOLDER, SICK, sample


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The sample, made now."""
    return dict(sample(tmp_path_factory.mktemp("sample")))


@pytest.mark.parametrize("name", FILES)
def test_the_committed_sample_is_what_is_made_today(made: dict[str, str], name: str) -> None:
    committed = (FOLDER / name).read_text(encoding="utf-8")
    assert made[name] == committed, f"{name} changed; if that is meant: make sample, then read the diff"


def test_nothing_of_the_machine_is_in_it(made: dict[str, str]) -> None:
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    words = [str(Path.home() / ""), str(FOLDER.parents[1]), socket.gethostname(), today, f"user {getpass.getuser()}"]
    for name, text in made.items():
        told = [word for word in words if len(word) > 2 and re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text)]
        assert not told, name


def test_the_sick_hca_its_cause_and_the_next_command_stand_in_the_first_lines(made: dict[str, str]) -> None:
    first = made["report.md"].splitlines()[:45]
    assert first[0].startswith("# FAIL")
    assert any("node13/hca:mlx5_5" in line and "slow" in line for line in first[:8])
    assert any(line.startswith("ssh node13 ") for line in first)
    assert SICK.run_id in made["record.json"]
