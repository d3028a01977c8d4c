"""Nobody reads what we say, or there is no place to write it: the check-up and its exit code stay true."""

from __future__ import annotations

import fcntl
import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest

from healthcheck.errors import StoreError
from tests.walk.cli import Shell

RUN = f"{sys.executable} -m healthcheck run --simulate 4"


def _bash(script: str, folder: Path, file_limit: int | None = None) -> subprocess.CompletedProcess[str]:
    def limit() -> None:
        if file_limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (file_limit, file_limit))

    return subprocess.run(
        ["bash", "-c", script], cwd=folder, capture_output=True, text=True, timeout=60, check=False, preexec_fn=limit
    )


@pytest.mark.parametrize(
    "script",
    [
        f"{RUN} 2> >(head -c 1 >/dev/null)",
        f"{RUN} >&- 2>&-",
        f"{RUN} -q | true; exit ${{PIPESTATUS[0]}}",
        f"{RUN} -q --json | true; exit ${{PIPESTATUS[0]}}",
    ],
)
def test_a_reader_that_went_away_is_no_fault_of_the_cluster(tmp_path: Path, script: str) -> None:
    assert _bash(script, tmp_path).returncode == 0
    assert list(tmp_path.glob("reports/*/report.html"))


def test_a_reader_that_pauses_holds_up_no_job(tmp_path: Path) -> None:
    """As with Ctrl-S, or a pager nobody scrolls: the check-up ends, and its pages are there before anybody reads on."""
    command = [sys.executable, "-m", "healthcheck", "run", "--simulate", "60", "-v"]
    running = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert running.stderr is not None
    fcntl.fcntl(running.stderr, fcntl.F_SETPIPE_SZ, 4096)
    end = time.monotonic() + 60
    while not list(tmp_path.glob("reports/*/report.html")) and time.monotonic() < end:  # the last one written
        time.sleep(0.1)
    assert running.poll() is None, "the end of the story is kept for whoever reads on"
    folder = next(tmp_path.glob("reports/*/report.html")).parent
    assert '"complete"' in (folder / "record.json").read_text()
    assert {"healthy.hosts", "suggested-actions.sh", "report.md"} <= {file.name for file in folder.iterdir()}
    out, err = running.communicate(timeout=60)
    assert (running.returncode, out) == (0, "PASS 60/60 ready, simulated\n")
    assert len(err) > 8192 and "node60 PASS busbw" in err


def test_an_answer_that_could_not_be_written_is_not_green(tmp_path: Path) -> None:
    said = _bash(f"{RUN} -q >/dev/full", tmp_path)
    assert said.returncode == 3
    assert said.stderr.count("\n") == 1 and "No space left" in said.stderr


def test_a_disk_that_fills_up_on_the_way_is_one_sentence_and_keeps_what_was_measured(tmp_path: Path) -> None:
    said = _bash(f"{RUN} -q", tmp_path, file_limit=12_000)
    assert said.returncode == 3, said.stderr
    assert said.stderr.count("\n") == 1 and "File too large" in said.stderr and "--resume" in said.stderr
    (folder,) = tmp_path.glob("reports/*")
    assert not list(folder.glob(".*.tmp"))
    again = _bash(f"{sys.executable} -m healthcheck run --resume {folder} -q", tmp_path)
    assert again.returncode == 0, again.stderr


def test_a_full_disk_under_the_pages_does_not_hide_the_verdict(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise StoreError("cannot write report.html: No space left on device")

    monkeypatch.setattr("healthcheck.cli.finish.write_pages", full)
    said = shell("run", "--simulate", "2", "-q")
    assert said.code == 3, "a script that reads healthy.hosts must not find this green"
    assert said.out == "PASS 2/2 ready, simulated, report not written\n"
    assert "No space left" in said.err and "healthcheck report" in said.err
