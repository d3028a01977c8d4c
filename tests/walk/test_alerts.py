"""Alerts and the metrics file, as a user meets them: what is sent when, and that a secret is nowhere."""

from __future__ import annotations

import os
import resource
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from healthcheck.workflows import stage as stage_workflow
from tests.contract.hook_server import HookServer
from tests.walk.cli import Shell

HEALTHY = ("run", "quick", "--simulate", "4")
SICK = (*HEALTHY, "--fault", "node02:nvlink=0.4")
SECRETS = (b"hunter2", b"S3CRETPATH", b"S3CRETHEADER")
WITHOUT_APPRISE = "import sys; sys.modules['apprise'] = None; from healthcheck.__main__ import run; sys.exit(run())"


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture
def server() -> Iterator[HookServer]:
    made = HookServer()
    yield made
    made.close()


def _address(server: HookServer) -> str:
    return f"json://ops:hunter2@127.0.0.1:{server.port}/S3CRETPATH?+X-Key=S3CRETHEADER"


def _below(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_file())


def test_by_default_a_change_of_verdict_is_told(shell: Shell, server: HookServer) -> None:
    said = [shell(*words, "--notify", _address(server)) for words in (HEALTHY, SICK, SICK, HEALTHY, HEALTHY)]
    assert [one.code for one in said] == [0, 1, 1, 0, 0]
    assert [str(posted["title"]).split()[1] for posted in server.fields()] == ["FAIL", "PASS"]
    assert "note: alert 1 (JSON) was sent\n" in said[1].err
    assert "note: no alert: FAIL as before, and --notify-on is change\n" in said[2].err
    assert "FAIL in run " in str(server.fields()[1]["message"])


def test_a_look_that_saw_the_fault_first_keeps_no_check_up_quiet(shell: Shell, server: HookServer) -> None:
    shell(*HEALTHY, "--notify", _address(server))
    assert shell("probe", *SICK[2:]).code == 1
    shell(*SICK, "--notify", _address(server))
    (posted,) = server.fields()
    assert str(posted["title"]).startswith("healthcheck: FAIL ") and "PASS in run " in str(posted["message"])


def test_a_sick_node_that_a_passing_gate_left_out_is_told_of_and_is_no_success(
    shell: Shell, server: HookServer
) -> None:
    words = ("--simulate", "3", "--fault", "node02:gpus=7", "--min-nodes", "2", "--exclude-file", "out")
    said = shell("gate", *words, "--notify", _address(server), "--notify-on", "not-pass")
    assert said.code == 0 and said.out.startswith("PASS 2/3 ready, ")
    (posted,) = server.fields()
    assert (
        posted["type"] == "failure" and "PASS 2/3 ready" in str(posted["title"]) and "node02" in str(posted["message"])
    )


def test_always_and_not_pass(shell: Shell, server: HookServer) -> None:
    for when in ("always", "not-pass"):
        for words in (HEALTHY, SICK, SICK):
            shell(*words, "--notify", _address(server), "--notify-on", when)
    assert [str(posted["title"]).split()[1] for posted in server.fields()] == ["PASS", "FAIL", "FAIL", "FAIL", "FAIL"]


@pytest.mark.parametrize("command", [("gate",), ("probe",), ("localise",)])
def test_the_other_check_ups_tell_too(shell: Shell, server: HookServer, command: tuple[str, ...]) -> None:
    said = shell(*command, "--simulate", "4", "--notify", _address(server), "--notify-on", "always")
    (posted,) = server.fields()
    assert posted["title"] == f"healthcheck: {said.out.rstrip()}"


@pytest.mark.parametrize(("signum", "told"), [(signal.SIGINT, []), (signal.SIGTERM, ["INCONCLUSIVE"])])
def test_a_run_that_a_machine_stops_is_told_and_one_that_a_person_stops_is_not(
    shell: Shell, server: HookServer, monkeypatch: pytest.MonkeyPatch, signum: signal.Signals, told: list[str]
) -> None:
    asked = stage_workflow.run_stage

    def interrupted(*arguments: object) -> None:
        asked(*arguments)  # type: ignore[arg-type] # flags of mixed types
        os.kill(os.getpid(), signum)

    monkeypatch.setattr("healthcheck.workflows.run.run_stage", interrupted)
    said = shell(*HEALTHY, "--notify", _address(server))
    assert said.code == 128 + signum
    assert [str(posted["title"]).split()[1] for posted in server.fields()] == told
    assert ("note: no alert: somebody stopped this run with Ctrl-C\n" in said.err) is (not told)


def _on_a_full_disk(file_bytes: int, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """No file can grow beyond so many bytes, as on a disk that is full."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, file_bytes))

    command = [sys.executable, "-m", "healthcheck", *words]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=120, check=False, preexec_fn=limit
    )


@pytest.mark.parametrize("command", [("run", "quick"), ("gate",)])
def test_a_run_that_a_full_disk_ends_is_told_of(tmp_path: Path, server: HookServer, command: tuple[str, ...]) -> None:
    said = _on_a_full_disk(12_000, tmp_path, *command, "--simulate", "4", "--notify", _address(server), "-q")
    assert (said.returncode, said.stdout) == (3, "")
    assert "File too large" in said.stderr and said.stderr.count("\n") == 1
    (told,) = server.fields()
    assert str(told["title"]).startswith("healthcheck: INCONCLUSIVE 0/4 ready, ")
    assert "ended early" in str(told["message"]) and "File too large" in str(told["message"])
    (folder,) = tmp_path.glob("reports/2*")
    assert f"healthcheck run --resume {folder}" in str(told["message"])
    assert told["type"] == "info"


def test_a_run_without_a_record_is_not_to_be_gone_on_with(tmp_path: Path, server: HookServer) -> None:
    said = _on_a_full_disk(4_000, tmp_path, *HEALTHY, "--notify", _address(server), "-q")
    assert said.returncode == 3 and not [*tmp_path.glob("reports/*/record.json")]
    assert "record.json: File too large; nothing was measured yet; make room" in said.stderr
    (told,) = server.fields()
    assert "File too large" in str(told["message"]) and "--resume" not in str(told["message"]) + said.stderr


def test_a_failing_alert_of_a_full_disk_changes_no_code(tmp_path: Path) -> None:
    refusing = HookServer("refuses")
    try:
        said = _on_a_full_disk(12_000, tmp_path, *HEALTHY, "--notify", _address(refusing), "-q")
    finally:
        refusing.close()
    assert said.returncode == 3
    assert said.stderr.startswith("note: alert 1 (JSON) was not delivered: ") and "File too large" in said.stderr


def test_a_check_up_that_finds_no_room_to_begin_is_told_of(tmp_path: Path, server: HookServer) -> None:
    said = _on_a_full_disk(10, tmp_path, *HEALTHY, "--notify", _address(server), "-q")
    assert said.returncode == 2 and "File too large" in said.stderr
    (told,) = server.fields()
    assert told["title"] == "healthcheck: INCONCLUSIVE, not begun"
    assert "could not begin" in str(told["message"]) and "File too large" in str(told["message"])
    assert _on_a_full_disk(10, tmp_path, *HEALTHY, "-o", "/dev/null/x", "--notify", _address(server)).returncode == 2
    assert len(server.fields()) == 1, "a mistake on the command line is told to whoever made it"


def test_a_failing_alert_changes_neither_verdict_nor_line_nor_code(shell: Shell) -> None:
    refusing = HookServer("refuses")
    try:
        quiet, loud = (
            shell(*SICK, *how, "--notify", _address(refusing), "--notify-on", "always") for how in (["-q"], [])
        )
    finally:
        refusing.close()
    assert (quiet.code, quiet.out) == (loud.code, loud.out)
    assert quiet.code == 1
    assert quiet.out.startswith("FAIL ")
    # Nobody else would say so: also where it is to be quiet.
    assert quiet.err == "note: alert 1 (JSON) was not delivered: the service answered with HTTP status 403\n"


def test_no_secret_is_anywhere_but_at_the_service(tmp_path: Path, server: HookServer) -> None:
    refusing = HookServer("refuses")
    try:
        words = [sys.executable, "-m", "healthcheck", *SICK, "--notify", _address(server)]
        words += [f"--notify={_address(refusing)}", "--verbose"]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, check=False, timeout=120)
    finally:
        refusing.close()
    assert done.returncode == 1
    assert len(server.posted) == len(refusing.posted) == 1
    files = list(_below(tmp_path))
    assert any(path.name == "record.json" for path in files)
    for text in (done.stdout, done.stderr, *(path.read_bytes() for path in files)):
        assert [secret for secret in SECRETS if secret in text] == []
    record = next(path for path in files if path.name == "record.json").read_bytes()
    assert b'"--notify=***"' in record
    # A line to copy does not hold what would be no address.
    actions = next(path for path in files if path.name == "suggested-actions.sh").read_bytes()
    assert b"healthcheck run quick" in actions
    assert b"***" not in actions + done.stderr


def test_a_file_and_the_environment_keep_addresses_off_the_command_line(
    shell: Shell, server: HookServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    private = tmp_path / "notify.conf"
    private.write_text(f"# the channel of operations\n\n{_address(server)}\n")
    private.chmod(0o600)
    assert shell(*SICK, "--notify", f"@{private}").code == 1
    monkeypatch.setenv("HEALTHCHECK_NOTIFY", f"@{private} {_address(server)}")
    assert shell(*SICK, "--notify-on", "always").code == 1
    assert len(server.posted) == 3
    # What is started later, such as mpirun, has no use for it.
    assert "HEALTHCHECK_NOTIFY" not in os.environ


def test_a_file_that_others_may_read_is_refused_before_anything_is_touched(shell: Shell, tmp_path: Path) -> None:
    private = tmp_path / "notify.conf"
    private.write_text("slack://hunter2\n")
    private.chmod(0o640)
    said = shell(*HEALTHY, "--notify", f"@{private}")
    assert said.code == 2
    assert said.err == f"error: --notify: others may read {private}, and addresses are secrets: chmod 600 {private}\n"
    assert not shell.results.exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--notify", "slack://hunter2"), "error: --notify: is no address that apprise knows"),
        (("--notify", ""), "error: --notify: is empty"),
        (("--notify", "@/nowhere/notify.conf"), "error: --notify: '/nowhere/notify.conf' cannot be read: No such file"),
        (("--notify", "@/dev/null"), "error: --notify: '/dev/null' is no file"),
        (("--notify-on", "json://hunter2"), "error: --notify-on: must be one of change, always, not-pass"),
        (("--metrics-file", "/nowhere/x.prom"), "error: --metrics-file: there is no folder /nowhere"),
        (("--metrics-file", "x.txt"), "error: --metrics-file: must end in .prom"),
    ],
)
def test_a_mistake_is_one_sentence_before_anything_is_touched(shell: Shell, words: tuple[str, ...], told: str) -> None:
    for command in (HEALTHY, ("gate", "--simulate", "4"), (*HEALTHY, "--dry-run")):
        said = shell(*command, *words)
        assert (said.code, said.out) == (2, "")
        assert said.err.startswith(told)
        assert said.err.count("\n") == 1
        assert "hunter2" not in said.err
    assert not shell.results.exists()


def test_without_apprise_one_sentence_says_what_to_install(tmp_path: Path) -> None:
    words = [sys.executable, "-c", WITHOUT_APPRISE, *HEALTHY, "--notify", "slack://hunter2"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, check=False, timeout=60, text=True)
    assert done.returncode == 2
    assert done.stderr == (
        "error: --notify: alerts need apprise, which is not installed: pip install 'healthcheck[notify]'\n"
    )
    assert list(tmp_path.iterdir()) == []
    # And nobody else needs it.
    done = subprocess.run(words[:-2], cwd=tmp_path, capture_output=True, check=False, timeout=60, text=True)
    assert done.returncode == 0


def test_a_service_that_never_ends_its_answer_does_not_keep_the_process(tmp_path: Path) -> None:
    dripping = HookServer("drips")
    try:
        words = [sys.executable, "-m", "healthcheck", *SICK, "--quiet", "--notify", _address(dripping)]
        with subprocess.Popen(
            words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            assert process.stdout.readline().startswith("FAIL ")
            _, err = process.communicate(timeout=300)
    finally:
        dripping.close()
    assert process.returncode == 1
    assert err == "note: alert 1 (JSON) was not delivered: no answer within 10 s\n"


def test_an_alert_takes_little_of_the_time_of_a_gate(shell: Shell) -> None:
    dripping = HookServer("drips")
    try:
        said = shell(
            "gate", "--simulate", "4", "--budget", "30s", "-q", "--notify-on", "always", "--notify", _address(dripping)
        )
    finally:
        dripping.close()
    assert said.code == 0
    assert said.err.endswith("was not delivered: no answer within 1.5 s\n")


def test_doctor_says_whether_addresses_can_be_used_and_sends_only_when_asked(
    shell: Shell, server: HookServer, tmp_path: Path
) -> None:
    said = shell("doctor", "--notify", _address(server), "--notify", _address(server))
    assert "2 addresses can be used: JSON, JSON; --send sends a test message" in said.out
    assert server.posted == []
    said = shell("doctor", "--notify", _address(server), "--send")
    assert "test message 1 (JSON) was sent" in said.out
    assert server.fields()[0]["title"] == "healthcheck: test message"
    refusing = HookServer("refuses")
    try:
        said = shell("doctor", "--notify", _address(refusing), "--send")
    finally:
        refusing.close()
    assert said.code == 3
    assert "test message 1 (JSON) was not delivered: the service answered with HTTP status 403" in said.out
    assert "hunter2" not in said.out
    said = shell("doctor", "--send")
    assert (said.code, said.err) == (2, "error: --send: needs an address, from --notify or from HEALTHCHECK_NOTIFY\n")


def test_the_metrics_file_is_whole_and_readable_and_its_failure_is_a_note(shell: Shell, tmp_path: Path) -> None:
    folder = tmp_path / "textfile"
    folder.mkdir()
    file = folder / "healthcheck.prom"
    file.write_text("old")
    before = os.umask(0o077)
    try:
        said = shell(*SICK, "--metrics-file", str(file))
    finally:
        os.umask(before)
    assert said.code == 1
    assert f"note: metrics for node_exporter are in {file}\n" in said.err
    assert stat.S_IMODE(file.stat().st_mode) == 0o644
    assert [path.name for path in folder.iterdir()] == ["healthcheck.prom"]
    assert file.read_bytes() == (shell.folders()[-1] / "metrics.prom").read_bytes()


def test_a_metrics_folder_that_is_full_or_gone_is_a_note_and_no_verdict(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "textfile"
    folder.mkdir()
    real = os.fchmod

    def gone(descriptor: int, mode: int) -> None:
        real(descriptor, mode)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fchmod", gone)
    said = shell(*HEALTHY, "--metrics-file", str(folder / "healthcheck.prom"), "--quiet")
    assert said.code == 0
    assert said.out.startswith("PASS ")
    assert said.err.startswith("note: the metrics file was not written: cannot write ")
    assert "No space left on device" in said.err
    assert list(folder.iterdir()) == []
