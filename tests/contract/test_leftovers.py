"""The sweep against real processes of this machine."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from healthcheck.launchers.wrapper import wrap
from healthcheck.model.command import Command
from healthcheck.probes.leftovers import Leftover, parse_sweep, sweep_argv

SHELLS = [shell for shell in ("dash", "bash") if shutil.which(shell)]


class Run:
    """Processes that carry one token, all ended afterwards."""

    def __init__(self) -> None:
        self.token = f"t{uuid4().hex}"
        self._started: list[subprocess.Popen[bytes]] = []

    def process(self, *argv: str, **env: str) -> subprocess.Popen[bytes]:
        """A process in a session of its own that says "up" first."""
        process = subprocess.Popen(
            argv, env={**os.environ, **env}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
        )
        self._started.append(process)
        assert process.stdout and process.stdout.readline() == b"up\n"
        return process

    def sweep(self, shell: str = "sh", *, end: bool = False) -> tuple[Leftover, ...]:
        """As a transport runs it: in the wrapper, under another token."""
        argv = (shell, *sweep_argv(self.token, end=end)[1:])
        line = wrap(Command(argv=argv, deadline_s=60, token=f"sweep-{self.token}"))
        with subprocess.Popen(line, shell=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            assert process.stdout
            stdout = process.stdout.read().decode()
            assert process.wait(120) == 0
        left = parse_sweep(stdout)
        assert left is not None
        return left

    def close(self) -> None:
        for process in self._started:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream:
                    stream.close()


@pytest.fixture
def run() -> Iterator[Run]:
    run = Run()
    yield run
    run.close()


@pytest.mark.parametrize("shell", SHELLS)
def test_finds_a_process_by_its_environment_and_names_it(run: Run, shell: str) -> None:
    process = run.process("sh", "-c", "echo up; exec sleep 100", HEALTHCHECK_TOKEN=run.token)
    while "(sleep) S" not in Path(f"/proc/{process.pid}/stat").read_text():
        assert process.poll() is None
    started = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[19]
    assert run.sweep(shell) == (Leftover(process.pid, started, "S", "sleep"),)
    assert process.poll() is None, "a look ends nothing"


@pytest.mark.parametrize("shell", SHELLS)
def test_ends_the_willing_with_term_and_the_stubborn_with_kill(run: Run, shell: str) -> None:
    willing = run.process("sh", "-c", "echo up; exec sleep 100", HEALTHCHECK_TOKEN=run.token)
    script = "trap '' TERM INT; echo up; while :; do sleep 0.1; done"
    stubborn = run.process("sh", "-c", script, HEALTHCHECK_TOKEN=run.token)
    assert run.sweep(shell, end=True) == ()
    assert willing.wait(60) == -signal.SIGTERM
    assert stubborn.wait(60) == -signal.SIGKILL


def test_ends_a_wrapper_that_nobody_reads_any_more(run: Run) -> None:
    command = Command(argv=("sh", "-c", "echo up; exec sleep 100"), deadline_s=100, token=run.token)
    wrapper = run.process("sh", "-c", wrap(command))
    assert "sleep" in {left.name for left in run.sweep()}
    assert run.sweep(end=True) == ()
    assert wrapper.wait(60) != 0


def test_leaves_other_runs_and_mere_mentions_alone(run: Run) -> None:
    others = [
        run.process("sh", "-c", "echo up; exec sleep 100", HEALTHCHECK_TOKEN=f"{run.token}2"),
        run.process("sh", "-c", "echo up; exec sleep 100", NOTE=f"HEALTHCHECK_TOKEN={run.token}"),
        run.process("sh", "-c", "echo up; sleep 100; :", "healthcheck-sweep", run.token),
        run.process("sh", "-c", "echo up; sleep 100; :", "healthcheck-run", f"{run.token}2"),
    ]
    assert run.sweep(end=True) == ()
    assert [process.poll() for process in others] == [None] * len(others)


def test_lines_of_login_files_are_passed_over() -> None:
    assert parse_sweep("Welcome!\nleft shoe\nleft 12 345 D a b\nswept\n") == (Leftover(12, "345", "D", "a b"),)


@pytest.mark.parametrize("broken", ["", "left 12 345 D a", "Welcome!\n"])
def test_an_answer_that_broke_off_is_not_nothing_left(broken: str) -> None:
    assert parse_sweep(broken) is None
