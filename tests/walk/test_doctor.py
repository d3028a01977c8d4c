"""`healthcheck doctor`: what it says on a machine that is ready, and on one that is not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from paramiko import ECDSAKey

from healthcheck.__main__ import run


@pytest.fixture(autouse=True)
def empty_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home without keys, agent or known hosts."""
    home = tmp_path / "home"
    (home / ".ssh").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    monkeypatch.chdir(tmp_path)
    return home


def prepare(home: Path) -> None:
    """A key to log in with and the key of gpu01."""
    key = ECDSAKey.generate()
    key.write_private_key_file(str(home / ".ssh" / "id_ecdsa"))
    (home / ".ssh" / "known_hosts").write_text(f"gpu01 {key.get_name()} {key.get_base64()}\n")


def checks(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, bool | None], dict[str, str]]:
    """Exit code, answers and texts by check."""
    code = run(["doctor", *words, "--json"])
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "healthcheck.doctor/1"
    assert document["exit_code"] == code
    found = document["checks"]
    return code, {c["check"]: c["ok"] for c in found}, {c["check"]: c["message_en"] for c in found}


def test_a_machine_that_is_ready(empty_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    prepare(empty_home)
    code, ok, _ = checks(capsys, "quick", "-H", "gpu01", "-o", "results")

    assert code == 0
    assert ok["known_hosts"] is True
    assert ok["ssh_key"] is True
    assert not Path("results").exists()


def test_no_key_and_an_unknown_host(capsys: pytest.CaptureFixture[str]) -> None:
    code, ok, text = checks(capsys, "quick", "-H", "gpu[01-02]")

    assert code == 3
    assert (ok["ssh_key"], ok["known_hosts"]) == (False, False)
    assert "ssh-keygen" in text["ssh_key"]
    assert "gpu[01-02]" in text["known_hosts"]


def test_wrong_inputs_are_answers_not_a_usage_error(
    empty_home: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    prepare(empty_home)
    hostfile = tmp_path / "cluster.hosts"
    hostfile.write_text("gpu01 slots=-1\n")
    (tmp_path / "file").write_text("")
    code, ok, text = checks(capsys, "quik", "-H", str(hostfile), "-o", str(tmp_path / "file" / "results"))

    assert code == 3
    assert (ok["playbook"], ok["hostfile"], ok["results"]) == (False, False, False)
    assert "quick" in text["playbook"]
    assert f"{hostfile}:1" in text["hostfile"]


def test_a_push_folder_without_the_program(
    empty_home: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    prepare(empty_home)
    code, ok, text = checks(capsys, "quick", "-H", "gpu01", "--push", str(tmp_path))

    assert code == 3
    assert ok["nccl_tests"] is False
    assert "all_reduce_perf" in text["nccl_tests"]
    assert run(["doctor", "quick", "-H", "gpu01", "--push", str(tmp_path)]) == 3
    assert "\nFIX  nccl_tests" in capsys.readouterr().out
