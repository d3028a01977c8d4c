"""Every benchmark that is started by hand says what it takes, and is not begun by asking."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

STARTED = sorted(
    path.stem
    for path in (Path(__file__).parents[2] / "benchmarks").glob("*.py")
    if "__main__" in path.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("name", STARTED)
def test_a_benchmark_tells_its_options(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", [name, "--help"])
    monkeypatch.delitem(sys.modules, f"benchmarks.{name}", raising=False)
    with pytest.raises(SystemExit) as ended:
        runpy.run_module(f"benchmarks.{name}", run_name="__main__")
    assert ended.value.code == 0
    assert "usage:" in capsys.readouterr().out


def test_a_size_that_is_none_is_told_as_usage(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["parse", "much"])
    monkeypatch.delitem(sys.modules, "benchmarks.parse", raising=False)
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("benchmarks.parse", run_name="__main__")
    assert ended.value.code == 2
    assert "MB" in capsys.readouterr().err
