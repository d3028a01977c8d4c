"""Every benchmark that is started by hand says what it takes, and is not begun by asking."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STARTED = sorted(
    path.stem for path in (ROOT / "benchmarks").glob("*.py") if "__main__" in path.read_text(encoding="utf-8")
)
LEFT_OUT = re.findall(r"grep -Ev '/\(([a-z_|]+)\)", (ROOT / "Makefile").read_text(encoding="utf-8"))[0].split("|")
"""What `make bench` does not start."""


@pytest.mark.parametrize("name", STARTED)
def test_a_benchmark_tells_its_options(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", [name, "--help"])
    monkeypatch.delitem(sys.modules, f"benchmarks.{name}", raising=False)
    with pytest.raises(SystemExit) as ended:
        runpy.run_module(f"benchmarks.{name}", run_name="__main__")
    assert ended.value.code == 0
    usage = capsys.readouterr().out.partition("\n\n")[0]
    assert usage.startswith(f"usage: {name} ")
    # `make bench` gives no word, so none may be wanted.
    wanted = re.sub(r"\[[^][]*\]", "", usage.replace("...", "")).split()[2:]
    assert not wanted or name in LEFT_OUT


def test_a_size_that_is_none_is_told_as_usage(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["parse", "much"])
    monkeypatch.delitem(sys.modules, "benchmarks.parse", raising=False)
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("benchmarks.parse", run_name="__main__")
    assert ended.value.code == 2
    assert "MB" in capsys.readouterr().err
