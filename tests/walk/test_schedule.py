"""`healthcheck schedule`: files that are written and never installed, and a line that runs where cron runs it."""

from __future__ import annotations

import json
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.full_disk import files_of_at_most
from tests.walk.cli import Shell


def hostfile(folder: Path, name: str = "gpu.hosts") -> Path:
    path = folder / name
    path.write_text("gpu01 slots=8\ngpu02 slots=8\n")
    return path


def test_systemd_files_are_written_with_absolute_paths_and_how_to_install_them(shell: Shell, tmp_path: Path) -> None:
    hostfile(tmp_path)
    said = shell("schedule", "systemd", "-H", "gpu.hosts", "-o", "reports", "--to", "units")
    assert said.code == 0
    names = [f"healthcheck-monthly{end}" for end in (".service", ".timer", "-alert.service")]
    assert said.out.splitlines() == [f"units/{name}" for name in names]
    service = (tmp_path / "units" / names[0]).read_text()
    (start,) = [line for line in service.splitlines() if line.startswith("ExecStart=")]
    words = shlex.split(start.removeprefix("ExecStart="))
    assert words[0].startswith("/") and words[words.index("run") :] == [
        *("run", "monthly", "-H", str(tmp_path / "gpu.hosts"), "-o", str(tmp_path / "reports")),
    ]
    assert "nothing was installed" in said.err
    assert "  sudo systemctl enable --now healthcheck-monthly.timer" in said.err
    assert not shell.results.exists()


@pytest.mark.parametrize("kind", ["systemd", "slurm"])
def test_a_shipped_name_is_scheduled_also_where_a_file_is_called_like_it(
    shell: Shell, tmp_path: Path, kind: str
) -> None:
    hosts = ("-H", str(hostfile(tmp_path))) if kind == "systemd" else ("--nodes", "4")
    for name in ("monthly", "h100-sxm5-8gpu-8x400"):
        (tmp_path / name).write_text("not what was read\n")
    said = shell("schedule", kind, *hosts, "--platform", "h100-sxm5-8gpu-8x400", "--stdout")
    assert said.code == 0
    assert " run monthly " in said.out and " --platform h100-sxm5-8gpu-8x400" in said.out


def test_a_second_time_replaces_only_files_of_its_own(shell: Shell, tmp_path: Path) -> None:
    hostfile(tmp_path)
    words = ("schedule", "systemd", "-H", "gpu.hosts", "--every")
    assert shell(*words, "weekly").code == 0
    assert shell(*words, "daily").code == 0
    timer = tmp_path / "healthcheck-monthly.timer"
    assert "OnCalendar=*-*-* 04:00:00" in timer.read_text()
    timer.write_text("[Timer]\nOnBootSec=1h\n")
    refused = shell(*words, "weekly")
    assert refused.code == 2 and "was not written by healthcheck schedule" in refused.err
    assert timer.read_text() == "[Timer]\nOnBootSec=1h\n"
    assert "*-*-* 04:00:00" not in (tmp_path / "healthcheck-monthly.service").read_text()


def test_what_cannot_be_written_leaves_the_file_of_before(shell: Shell, tmp_path: Path) -> None:
    hostfile(tmp_path)
    words = ("schedule", "systemd", "-H", "gpu.hosts", "--every")
    assert shell(*words, "weekly").code == 0
    before = {path.name: path.read_text() for path in tmp_path.iterdir()}
    with files_of_at_most(100):
        said = shell(*words, "daily")
    assert said.code == 2 and said.out == "" and "File too large" in said.err
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == before


def test_a_link_that_somebody_laid_is_not_written_through(shell: Shell, tmp_path: Path) -> None:
    hostfile(tmp_path)
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "healthcheck-monthly.timer").symlink_to(tmp_path / "elsewhere")
    said = shell("schedule", "systemd", "-H", "gpu.hosts", "--to", "shared")
    assert said.code == 2 and "was not written by healthcheck schedule" in said.err
    assert not (tmp_path / "elsewhere").exists()
    assert [path.name for path in (tmp_path / "shared").iterdir()] == ["healthcheck-monthly.timer"]


def test_a_second_time_keeps_a_link_of_the_users_and_a_script_that_can_be_started(shell: Shell, tmp_path: Path) -> None:
    words = ("schedule", "slurm", "--nodes", "2", "--to", "jobs")
    assert shell(*words).code == 0
    prolog, job = (tmp_path / "jobs" / f"healthcheck-monthly{end}" for end in ("-prolog.sh", ".sbatch"))
    assert prolog.stat().st_mode & 0o777 == 0o644
    prolog.chmod(0o755)
    kept = job.rename(tmp_path / "kept.sbatch")
    job.symlink_to(kept)
    assert shell(*words[:2], "--nodes", "3", *words[4:]).code == 0
    assert prolog.stat().st_mode & 0o777 == 0o755
    assert job.is_symlink() and "--nodes=3" in kept.read_text()


def test_what_the_run_is_asked_for_goes_into_it(shell: Shell, tmp_path: Path) -> None:
    hostfile(tmp_path)
    private = tmp_path / "alerts"
    private.write_text("json://example.org\n")
    private.chmod(0o600)
    said = shell(
        *("schedule", "systemd", "quick", "-H", "gpu[01-02]", "--platform", "h100-sxm5-8gpu-8x400", "--stdout"),
        *("--launcher", "hydra", "--launch-from", "local", "--allow-degraded", "--notify", "@alerts", "--keep", "0"),
        *("--name", "gpu-quick", "--random-delay", "0"),
    )
    assert said.code == 0
    assert list(tmp_path.iterdir()) == [tmp_path / "gpu.hosts", private] or not list(tmp_path.glob("*.service"))
    for words in (
        'run quick -H "gpu[01-02]"',
        "--platform h100-sxm5-8gpu-8x400 --launcher hydra --launch-from local --allow-degraded",
        f"--notify @{private} --notify-on not-pass",
    ):
        assert words in said.out
    assert "prune" not in said.out and "RandomizedDelaySec" not in said.out
    assert "# gpu-quick.service" in said.out and "nothing was installed" not in said.err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("-H", "gpu01", "--every", "every day"), "--every: 'every day' is no calendar"),
        (("-H", "gpu01", "--every", "30 4 1 * *"), "is five fields of cron; write it for systemd"),
        (("-H", "gpu01", "--random-delay", "90"), "--random-delay: '90' is not a duration"),
        (("-H", "gpu01", "--random-delay", "30d"), "--random-delay"),
        (("-H", "gpu01", "--name", "../etc"), "--name: '../etc' cannot name a unit"),
        (("-H", "gpu01", "--user", "nobody-here"), "there is no user 'nobody-here'"),
        (("-H", "gpu01", "--mail-to", "a b"), "--mail-to: 'a b' is no address"),
        (("-H", "gpu01", "--notify", "slack://token"), "--notify: takes @FILE here"),
        (("-H", "gpu01", "--notify", "@gone"), "--notify: there is no file gone"),
        (("-H", "gone.hosts"), "gone.hosts"),
        ((), "-H: is missing"),
        (("gone.yaml", "-H", "gpu01"), "gone.yaml"),
        (("-H", "gpu01", "--push", "nowhere"), "--push"),
    ],
)
def test_a_mistake_is_one_sentence_and_writes_nothing(
    shell: Shell, tmp_path: Path, words: tuple[str, ...], told: str
) -> None:
    said = shell("schedule", "systemd", *words)
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
    assert told in said.err and "token" not in said.err
    assert list(tmp_path.iterdir()) == []


def test_what_cron_cannot_say_or_read_is_told(shell: Shell, tmp_path: Path) -> None:
    said = shell("schedule", "cron", "-H", "gpu01", "--every", "Sun *-*-01..07 04:00")
    assert said.code == 2 and "cannot be said in the five fields of cron" in said.err
    long = shell("schedule", "cron", "-H", ",".join(f"gpu{number:03}x" for number in range(0, 400, 2)))
    assert long.code == 2 and "use a hostfile, shorter paths, or schedule systemd" in long.err
    assert list(tmp_path.iterdir()) == []


def test_json_is_one_document(shell: Shell, tmp_path: Path) -> None:
    said = shell("schedule", "cron", "-H", "gpu01", "--json")
    document = json.loads(said.out)
    assert document["schema"] == "healthcheck.schedule/1"
    assert document["written"] == ["healthcheck-monthly"]
    assert document["files"][0]["text"] == (tmp_path / "healthcheck-monthly").read_text()
    assert document["install"] == ["sudo install -m 644 healthcheck-monthly /etc/cron.d/healthcheck-monthly"]


@contextmanager
def served(folder: Path, *faults: str) -> Iterator[tuple[Path, Path]]:
    """(hostfile, ssh config) of a simulated cluster behind real SSH."""
    planted = [word for fault in faults for word in ("--fault", fault)]
    command = [sys.executable, "-m", "healthcheck", "simulate", "2", "-o", str(folder), *planted]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        assert server.stdout is not None
        hosts = Path(server.stdout.readline().strip())
        server.stdout.readline()
        try:
            yield hosts, folder / "ssh_config"
        finally:
            server.send_signal(signal.SIGINT)
            server.communicate(timeout=60)


def by_cron(file: Path) -> subprocess.CompletedProcess[str]:
    """What cron makes of the last line: five fields, a user, and a command for a shell that knows next to nothing."""
    command = file.read_text().splitlines()[-1].split(None, 6)[6]
    assert "%" not in command.replace("\\%", "")
    empty = ["env", "-i", "/bin/sh", "-c", command.replace("\\%", "%")]
    return subprocess.run(empty, capture_output=True, text=True, timeout=300, check=False, cwd="/")


def test_the_line_of_cron_runs_with_an_empty_environment(shell: Shell, tmp_path: Path) -> None:
    results = tmp_path / "100% of the $results"
    asked = ("schedule", "cron", "quick", "-o", str(results), "--keep", "1", "--random-delay", "0")
    with served(tmp_path / "lab") as (hosts, ssh_config):
        odd = hosts.rename(hosts.with_name("the 2% hosts"))
        said = shell(*asked, "-H", str(odd), "--ssh-config", str(ssh_config))
        assert said.code == 0, said.err
        for _ in range(2):
            done = by_cron(tmp_path / "healthcheck-quick")
            # Nothing to mail of a PASS.
            assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    # The second one took the first one away.
    (record,) = results.glob("*/record.json")
    assert json.loads(record.read_bytes())["verdict"] == "PASS"


def test_what_is_not_pass_is_mailed_with_its_story(shell: Shell, tmp_path: Path) -> None:
    with served(tmp_path / "lab", "node02:nvlink=0.3") as (hosts, ssh_config):
        asked = ("schedule", "cron", "quick", "-H", str(hosts), "--ssh-config", str(ssh_config))
        assert shell(*asked).code == 0
        done = by_cron(tmp_path / "healthcheck-quick")
    assert done.stderr == ""
    assert "FAIL" in done.stdout and "node02" in done.stdout
    assert done.stdout.endswith("healthcheck ended with exit code 1\n")
