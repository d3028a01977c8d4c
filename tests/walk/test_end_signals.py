"""A signal in the last seconds of a check-up: what was measured is told, then it ends as interrupted."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from healthcheck.cli import finish
from healthcheck.cli.gate_end import settle_lists
from healthcheck.edge import gate_files
from healthcheck.edge.store import write_atomically
from tests.walk.cli import Shell

LISTS = ["ok", "ok.slurm", "ok.txt", "out", "out.slurm", "out.txt"]
GATE = ("gate", "--simulate", "2", "--healthy-hosts", "ok", "--exclude-file", "out")


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("quiet", [(), ("-q",)])
def test_a_verdict_that_is_found_is_told_before_the_end(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, signum: signal.Signals, quiet: tuple[str, ...]
) -> None:
    def interrupted(*arguments: object) -> object:
        os.kill(os.getpid(), signum)
        return settle_lists(*arguments)  # type: ignore[arg-type] # as it was called

    monkeypatch.setattr(finish, "settle_lists", interrupted)
    said = shell(*GATE, *quiet)
    assert (said.code, said.out) == (128 + signum, "PASS 2/2 ready, use ok, simulated\n")
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == LISTS
    assert (shell.folders()[-1] / "report.html").is_file()


def test_the_second_one_ends_it_at_once_and_leaves_no_half_of_a_file(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fsync = _twice(os.fsync)

    def interrupted(path: Path, content: bytes) -> None:
        with monkeypatch.context() as patched:
            patched.setattr(os, "fsync", fsync)
            write_atomically(path, content)

    monkeypatch.setattr(gate_files, "write_atomically", interrupted)
    said = shell(*GATE)
    assert (said.code, said.out) == (143, "")
    assert not list(tmp_path.rglob("*.tmp"))


def _twice(then: Callable[[int], None]) -> Callable[[int], None]:
    def stopped(descriptor: int) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGTERM)
        then(descriptor)

    return stopped
