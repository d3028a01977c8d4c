"""What is around the command is sick, not the cluster: one clear sentence or none needed, and never a traceback."""

from __future__ import annotations

import os
import pwd
import resource
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from healthcheck.cli.finish import shown
from tests.walk.cli import Shell

COMMAND = f"{sys.executable} -m healthcheck"


def _bash(script: str, folder: Path, file_limit: int | None = None) -> subprocess.CompletedProcess[str]:
    """What a shell of the user says; no file can grow beyond `file_limit` bytes, as on a full disk."""

    def limit() -> None:
        if file_limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (file_limit, file_limit))

    return subprocess.run(
        ["bash", "-c", script], cwd=folder, capture_output=True, text=True, timeout=120, check=False, preexec_fn=limit
    )


@pytest.fixture
def gone(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A working directory that somebody has deleted, after the shell went there."""
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()


@pytest.fixture
def nameless(monkeypatch: pytest.MonkeyPatch) -> None:
    """A user without an entry, without HOME: `docker run --user 12345`."""

    def unknown(uid: int) -> pwd.struct_passwd:
        raise KeyError(f"getpwuid(): uid not found: {uid}")

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    for name in ("HOME", "LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("gone")
@pytest.mark.parametrize("words", [("run", "--simulate", "2"), ("history",), ("parse", "-"), ("clean",)])
def test_a_working_directory_that_is_gone_is_one_sentence(shell: Shell, tmp_path: Path, words: tuple[str, ...]) -> None:
    for where in ((), ("-o", str(tmp_path / "results"))) if words[0] != "parse" else ((),):
        said = shell(*words, *where)
        assert said.code == 2
        assert said.err == "error: working directory: is gone; change to a folder that exists (cd) and try again\n"
    assert not (tmp_path / "results").exists()


@pytest.mark.usefixtures("gone")
def test_the_end_is_told_when_the_working_directory_goes_meanwhile(tmp_path: Path) -> None:
    assert shown(tmp_path / "results") == str(tmp_path / "results")


@pytest.mark.usefixtures("nameless")
def test_a_user_without_a_name_or_a_home_is_a_user(shell: Shell) -> None:
    assert shell("run", "--simulate", "2", "-q").code == 0
    assert shell.record().owner.user == str(os.getuid())
    assert shell("clean").code == 0
    assert "ssh" in shell("doctor").out


def test_closed_standard_input_has_nothing_to_parse(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    said = shell("parse", "-")
    assert (said.code, said.err.count("\n")) == (2, 1)
    assert said.err.startswith("error: -: standard input is closed")


@pytest.mark.parametrize("buffered", ["PYTHONUNBUFFERED=", "PYTHONUNBUFFERED=1"])
@pytest.mark.parametrize("words", ["--help", "--version", "run --help"])
def test_help_that_finds_no_room_is_one_sentence(tmp_path: Path, words: str, buffered: str) -> None:
    said = _bash(f"{buffered} {COMMAND} {words} >/dev/full", tmp_path)
    assert said.returncode == 3
    assert said.stderr.startswith("error: cannot write ") and said.stderr.endswith(": No space left on device\n")
    assert said.stderr.count("\n") == 1


def test_what_is_written_can_be_read_again_whatever_the_umask(tmp_path: Path) -> None:
    said = _bash(f"umask 0777; {COMMAND} run --simulate 2 -q", tmp_path)
    assert said.returncode == 0, said.stderr
    (folder,) = tmp_path.glob("reports/*Z-*")
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir() if path.is_file()} == {0o600}


def test_a_machine_that_starts_no_more_threads_is_one_sentence(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refused)
    said = shell("run", "--simulate", "2", "-q")
    assert said.code == 3
    assert said.err.startswith("error: can't start new thread: this machine has a limit on processes")
    assert shell.record().state == "incomplete"


@pytest.mark.parametrize("command", ["run --simulate 2 -q", "demo -q"])
def test_a_full_disk_at_the_start_leaves_nothing_half(tmp_path: Path, command: str) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    said = _bash(f"TMPDIR={temporary} {COMMAND} {command}", tmp_path, file_limit=10)
    assert said.returncode == 2
    assert said.stderr.count("\n") == 1 and "File too large" in said.stderr
    assert not [*tmp_path.glob("reports/*"), *temporary.iterdir()]


@pytest.mark.parametrize("make", [Path.touch, lambda path: path.symlink_to(path), lambda path: path.symlink_to("no")])
def test_results_that_are_no_folder_are_named(shell: Shell, make: object) -> None:
    assert callable(make)
    make(Path("results"))
    said = shell("run", "--simulate", "2", "-o", "results")
    assert said.code == 2
    assert "cannot create a run directory in results: it is no folder" in said.err


def test_no_place_for_temporary_files_is_one_sentence(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "nowhere"))
    said = shell("demo", "-q")
    assert said.code == 2
    assert said.err == "error: TMPDIR: there is no folder for temporary files: No such file or directory\n"
