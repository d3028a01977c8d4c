"""When healthcheck itself breaks off, whoever waits for an alert hears that, and nothing that an error may hold."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.hook_server import HookServer
from tests.walk.cli import Shell

HEALTHY = ("run", "quick", "--simulate", "4")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[HookServer]:
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    made = HookServer()
    yield made
    made.close()


def _address(server: HookServer) -> str:
    return f"json://ops:hunter2@127.0.0.1:{server.port}"


@pytest.mark.parametrize(
    ("step", "kept"),
    [
        ("healthcheck.cli.asked.read_inputs", False),
        ("healthcheck.workflows.run.probe_before", True),
        ("healthcheck.cli.finish.write_pages", True),
    ],
)
def test_a_bug_of_ours_is_told_of_and_nothing_but_that_it_was_one(
    shell: Shell, server: HookServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, step: str, kept: bool
) -> None:
    def broken(*arguments: object) -> None:
        raise RuntimeError(f"planted with {_address(server)}")

    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setattr(step, broken)
    said = shell(*HEALTHY, "--notify", _address(server))
    assert (said.code, said.out) == (70, "") or step.endswith("write_pages")
    assert said.code == 70 and "bug of healthcheck" in said.err
    (told,) = server.fields()
    assert (told["title"], told["type"]) == ("healthcheck: INCONCLUSIVE, broke off", "info")
    message = str(told["message"])
    assert "a bug of healthcheck" in message and "planted" not in message and "Traceback" not in message
    assert (f"is kept on {socket.gethostname()}: {shell.results}/2" in message) is kept


def test_a_bug_whose_alert_fails_is_still_a_bug(shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def broken(*arguments: object) -> None:
        raise RuntimeError("planted")

    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setattr("healthcheck.workflows.run.probe_before", broken)
    refusing = HookServer("refuses")
    try:
        assert shell(*HEALTHY, "--notify", _address(refusing)).code == 70
        monkeypatch.setattr("healthcheck.reporting.alert.alert_of_broken", broken)
        assert shell(*HEALTHY, "--notify", _address(refusing)).code == 70
    finally:
        refusing.close()
    assert all("planted" in log.read_text() for log in tmp_path.glob("healthcheck-bug-*.log"))


def test_a_machine_without_room_for_a_thread_is_told_of(
    shell: Shell, server: HookServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*arguments: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("healthcheck.workflows.run.probe_before", full)
    assert shell(*HEALTHY, "--notify", _address(server)).code == 3
    (told,) = server.fields()
    assert "ended early" in str(told["message"]) and "can't start new thread" in str(told["message"])
