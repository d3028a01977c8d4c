"""Pipes, folders, sockets and loose links where files should be: nothing waits for them, nothing is green by them.

A pipe that somebody writes to is a file to whoever named it, such as `<(command)`.
"""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from healthcheck.edge.shipped import shipped_playbook
from tests.walk.cli import Shell

LONGEST_S = 60.0


@pytest.fixture(autouse=True)
def _nothing_hangs() -> Iterator[None]:
    """What waits for ever is ended, and reads as a bug of ours (exit 70)."""

    def ring(signum: int, frame: object) -> None:
        raise RuntimeError("still waiting")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, LONGEST_S)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        # Bound by a short name: that of a socket has 107 bytes at most.
        here = Path.cwd()
        os.chdir(path.parent)
        try:
            made.bind(path.name)
        finally:
            os.chdir(here)


def _dangling(path: Path) -> None:
    path.symlink_to("nothing")


def _loop(path: Path) -> None:
    path.symlink_to(path.name)


def _replace(path: Path, becomes: Callable[[Path], None]) -> None:
    path.unlink()
    becomes(path)


@pytest.mark.parametrize("becomes", [os.mkfifo, _socket, _loop])
def test_an_earlier_run_without_a_readable_record_stops_nobody(shell: Shell, becomes: Callable[[Path], None]) -> None:
    assert shell("run", "--simulate", "2", "-q").code == 0
    (earlier,) = shell.folders()
    _replace(earlier / "record.json", becomes)
    _replace(shell.results / "history.index", becomes)
    for words in (("run",), ("gate", "--fresh-for", "24h")):
        said = shell(*words, "--simulate", "2", "-q")
        assert (said.code, said.out) == (0, "PASS 2/2 ready, simulated\n"), said.err
    assert shell("history", "--simulated").code == 0
    assert shell("doctor", "-o", str(shell.results)).code in (0, 3)
    assert shell("clean").code == 0
    for command in ("report", "rejudge", "compare .", "clean", "slurm resume --run"):
        said = shell(*command.split(), str(earlier))
        assert said.code == 2 and said.err.count("\n") == 1, command
    assert shell("prune", "--keep", "1").code == 0
    assert earlier.exists(), "whatever is no run of ours stays"


@pytest.mark.parametrize("becomes", [os.mkfifo, Path.mkdir])
def test_what_lies_beside_a_record_is_no_past_where_it_cannot_be_read(
    shell: Shell, becomes: Callable[[Path], None]
) -> None:
    assert shell("run", "--simulate", "2", "-q").code == 0
    (earlier,) = shell.folders()
    for name in ("inputs/options.json", "inputs/playbook.yaml", "raw/circumstances.json"):
        _replace(earlier / name, becomes)
    said = shell("run", "--simulate", "2", "-q")
    assert (said.code, said.out) == (0, "PASS 2/2 ready, simulated\n"), said.err
    said = shell("gate", "--simulate", "2", "--fresh-for", "24h", "-q")
    assert said.code == 0
    second = shell.folders()[1]
    _replace(second / "inputs" / "earlier.json", becomes)
    assert shell("report", str(second)).code == 0
    assert shell("history", "--simulated").code == 0
    assert shell("run", "--resume", str(earlier)).code == 2


@pytest.mark.parametrize("name", ["stdout", "outcome.json", "before", "nccl/*/*"])
def test_raw_output_that_is_no_file_is_never_green(shell: Shell, name: str) -> None:
    assert shell("run", "--simulate", "2", "-q").code == 0
    (folder,) = shell.folders()
    found = [path for path in folder.glob(f"raw/*/*/{name}") if path.is_file()]
    assert found
    for path in found:
        _replace(path, os.mkfifo)
    said = shell("rejudge", str(folder), "-q")
    assert said.code == 3 and (said.out.startswith("INCONCLUSIVE ") or said.err.count("\n") == 1)


@pytest.mark.parametrize(
    "words",
    [
        ("run", "--simulate", "2", "./PIPE"),
        ("run", "-H", "PIPE"),
        ("plan", "-H", "PIPE"),
        ("run", "--simulate", "2", "--baseline", "PIPE"),
        ("run", "--simulate", "2", "--platform", "./PIPE"),
        ("run", "-H", "h1", "--ssh-config", "PIPE"),
        ("run", "--simulate", "2", "--notify", "@PIPE"),
        ("run", "--simulate", "2", "--metrics-file", "PIPE.prom"),
        ("gate", "--simulate", "2", "--healthy-hosts", "PIPE"),
        ("gate", "--simulate", "2", "--exclude-file", "PIPE"),
        ("playbook", "check", "PIPE"),
        ("parse", "PIPE"),
        ("schedule", "cron", "-H", "PIPE"),
        ("baseline", "PIPE"),
    ],
    ids=" ".join,
)
def test_a_named_pipe_that_nobody_writes_to_is_one_sentence(shell: Shell, words: tuple[str, ...]) -> None:
    os.mkfifo("PIPE")
    os.mkfifo("PIPE.prom")
    said = shell(*words)
    assert said.code == 2
    assert said.err.count("\n") == 1 and "PIPE" in said.err


def _writing(path: str, text: str, pieces: int = 3) -> None:
    """Writes slowly, as a command does that has to think."""
    size = -(-len(text) // pieces)
    with Path(path).open("w", encoding="utf-8") as pipe:
        for begin in range(0, len(text), size):
            pipe.write(text[begin : begin + size])
            pipe.flush()
            threading.Event().wait(0.1)


def test_a_pipe_with_a_writer_is_read_to_its_end(shell: Shell) -> None:
    os.mkfifo("PIPE")
    for words, text in (
        (("run", "--simulate", "2", "-q", "./PIPE"), shipped_playbook("quick")),
        (("plan", "-H", "PIPE", "--platform", "a100-sxm4-8gpu-8x200"), "h1\nh2\nh3\n"),
    ):
        writer = threading.Thread(target=_writing, args=("PIPE", text))
        writer.start()
        said = shell(*words)
        writer.join()
        assert said.code == 0, said.err
    assert "h3" in said.out


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (("baseline", "reports", "-o", "link"), "-o"),
        (("history", "--html", "link"), "--html"),
        (("compare", "--last", "--html", "link"), "--html"),
    ],
)
@pytest.mark.parametrize("leads_to", ["/proc/self/fd/1", "nothing"])
def test_what_a_link_leads_to_is_not_cut_off_by_a_file_in_its_place(
    shell: Shell, words: tuple[str, ...], option: str, leads_to: str
) -> None:
    for seed in ("1", "2", "3"):
        assert shell("run", "quick", "--simulate", "2", "-q", "--run-seed", seed, "--no-history").code == 0
    Path("link").symlink_to(leads_to)
    said = shell(*words)
    assert said.code == 2 and said.err.endswith(f"error: {option}: link is a symbolic link; name the file itself\n")
    assert Path("link").readlink() == Path(leads_to)
