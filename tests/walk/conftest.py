"""A shell for every walk, with its own results folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.walk.cli import Shell


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """The command line in an empty working directory; results go to `reports/` there, as by default."""
    monkeypatch.chdir(tmp_path)
    return Shell(capsys, tmp_path / "reports")
