"""Getting into a host by SSH, and every way of not getting in: a result that says what to do, never an exception."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import paramiko
import pytest

from healthcheck.edge.clock import SystemClock
from healthcheck.edge.ssh import SshTransport
from healthcheck.errors import InputError
from healthcheck.model.command import Command, CommandResult, ExitKind
from healthcheck.model.host import Host
from healthcheck.ports import Running
from tests.contract.ssh_place import SshPlace
from tests.sinks import Kept


def attempt(place: SshPlace, host: Host | None = None, *, accept_new: bool = False) -> CommandResult:
    """The result of `true` on the host, through a transport of its own; `connect` must agree."""
    transport = SshTransport(place.settings(accept_new=accept_new), SystemClock())
    try:
        host = host or place.host
        reached = transport.connect(host).result
        result = transport.start(host, Command(("true",), 10, "login"), Kept()).wait(60)
        assert result is not None
        assert (reached.kind if reached else ExitKind.EXITED) is result.kind
        return result
    finally:
        transport.close()


@pytest.fixture
def place(tmp_path: Path) -> SshPlace:
    return SshPlace(tmp_path)


def test_the_verified_key_is_handed_on_under_every_name(place: SshPlace) -> None:
    with place:
        transport = SshTransport(place.settings(), SystemClock())
        (line,) = transport.connect(place.host).known_hosts
        names, kind, blob = line.split()
        assert names.split(",") == [f"[node1]:{place.server.port}", f"[127.0.0.1]:{place.server.port}"]
        assert (kind, blob) == (place.server.host_key.get_name(), place.server.host_key.get_base64())
        transport.close()


def test_one_connection_serves_all_commands(place: SshPlace) -> None:
    with place:
        transport = SshTransport(place.settings(), SystemClock())
        for _ in range(3):
            running = transport.start(place.host, Command(("true",), 10, "login"), Kept())
            result = running.wait(60)
            assert result is not None
            assert result.ok
        assert place.server.connections == 1
        place.server.cut()
        result = transport.start(place.host, Command(("true",), 10, "login"), Kept()).wait(60)
        assert result is not None
        assert result.ok, "a connection that died is made anew"
        transport.close()


def test_an_unknown_key_names_fingerprint_and_the_command_that_accepts_it(place: SshPlace) -> None:
    with place:
        place.known_hosts.unlink()
        result = attempt(place)
        assert (result.kind, result.exit_code) == (ExitKind.HOST_KEY_UNKNOWN, None)
        assert "SHA256:" in str(result.reason)
        subprocess.run(["sh", "-c", str(result.reason).partition("accept it with: ")[2]], check=True)
        assert attempt(place).ok


def test_accept_new_writes_the_key_down_once(place: SshPlace) -> None:
    with place:
        place.known_hosts.write_text("other.host ssh-ed25519 AAAA")  # and no line end
        assert attempt(place, accept_new=True).ok
        assert attempt(place).ok
        assert place.known_hosts.read_text() == f"other.host ssh-ed25519 AAAA\n{place.server.known_hosts_line}"


@pytest.mark.parametrize("accept_new", [False, True])
def test_a_changed_key_is_never_accepted(place: SshPlace, accept_new: bool) -> None:
    with place:
        other = paramiko.ECDSAKey.generate()
        line = f"[127.0.0.1]:{place.server.port} {other.get_name()} {other.get_base64()}\n"
        place.known_hosts.write_text(line)
        result = attempt(place, accept_new=accept_new)
        assert result.kind is ExitKind.HOST_KEY_CHANGED
        assert place.known_hosts.read_text() == line
        subprocess.run(["sh", "-c", str(result.reason).partition("if that is right: ")[2]], check=True)
        assert attempt(place).ok


def test_hashed_names_and_a_host_key_alias_are_found(place: SshPlace) -> None:
    with place:
        subprocess.run(["ssh-keygen", "-q", "-H", "-f", str(place.known_hosts)], check=True, capture_output=True)
        assert place.known_hosts.read_text().startswith("|1|")
        assert attempt(place).ok
        place.known_hosts.write_text(f"cluster-key {place.server.known_hosts_line.partition(' ')[2]}")
        assert attempt(place).kind is ExitKind.HOST_KEY_UNKNOWN
        place.write_config("Host *", "HostKeyAlias cluster-key")
        assert attempt(place).ok


def test_a_known_hosts_file_whose_name_holds_a_blank_is_read(place: SshPlace) -> None:
    moved = place.folder / "known hosts"
    place.known_hosts.rename(moved)
    place.known_hosts = moved
    place.write_config(f'UserKnownHostsFile "{moved}"')
    assert attempt(place).ok


def test_a_wrong_key_says_user_keys_and_what_the_server_takes(place: SshPlace) -> None:
    with place:
        paramiko.ECDSAKey.generate().write_private_key_file(str(place.folder / "wrong"))
        place.write_config(identity="wrong")
        result = attempt(place)
        assert result.kind is ExitKind.LOGIN_REFUSED
        for part in (
            "login as tester refused",
            f"{place.folder}/wrong ecdsa-sha2-nistp256",
            "the server takes publickey",
        ):
            assert part in str(result.reason)


def test_a_key_with_a_passphrase_says_so(place: SshPlace) -> None:
    with place:
        paramiko.ECDSAKey.generate().write_private_key_file(str(place.folder / "locked"), password="secret-word")
        place.write_config(identity="locked")
        result = attempt(place)
        assert result.kind is ExitKind.LOGIN_REFUSED
        assert "needs a passphrase: ssh-add it" in str(result.reason)


def test_the_configuration_is_honoured_through_include(place: SshPlace) -> None:
    with place:
        (place.folder / "extra.conf").write_text(f"Host alias\n  HostName 127.0.0.1\n  Port {place.server.port}\n")
        place.write_config(f"Include {place.folder}/*.conf")
        assert attempt(place, Host("alias", "alias")).ok


def test_a_jump_host_carries_all_hosts_behind_it(place: SshPlace) -> None:
    # the shell server forwards nothing, so what is shown is how its refusal is told
    with place:
        place.write_config("Host behind", f"ProxyJump 127.0.0.1:{place.server.port}")
        result = attempt(place, Host("behind", "behind"))
        assert result.kind is ExitKind.UNREACHABLE
        assert "the jump host cannot connect" in str(result.reason)
        assert place.server.connections == 1
        place.write_config("Host behind", "ProxyJump 127.0.0.1:1")
        assert "through the jump host 127.0.0.1:1: no answer on port 1" in str(
            attempt(place, Host("behind", "behind")).reason
        )


@pytest.mark.parametrize(
    ("host", "text"),
    [
        (Host("closed", "127.0.0.1", port=1), "no answer on port 1: Connection refused"),
        (Host("nowhere", "no-such-host.invalid"), "the name no-such-host.invalid does not resolve"),
    ],
)
def test_nobody_there_costs_seconds(place: SshPlace, host: Host, text: str) -> None:
    with place:
        started = time.monotonic()
        transport = SshTransport(place.settings(login_timeout_s=600), SystemClock())
        result = transport.connect(host).result
        assert result is not None
        assert result.kind is ExitKind.UNREACHABLE
        assert text in str(result.reason)
        assert time.monotonic() - started < 300
        push = transport.push(host, "run", [])
        assert push.folder is None
        assert text in str(push.reason)


def test_a_server_too_busy_for_a_banner_is_asked_again(tmp_path: Path) -> None:
    with SshPlace(tmp_path, drop_first=2) as place:
        assert attempt(place).ok


def test_a_port_that_speaks_no_ssh_is_given_up_in_time(place: SshPlace) -> None:
    with place, socket.create_server(("127.0.0.1", 0)) as silent:
        transport = SshTransport(place.settings(login_timeout_s=1), SystemClock())
        started = time.monotonic()
        result = transport.connect(Host("silent", "127.0.0.1", port=silent.getsockname()[1])).result
        assert result is not None
        assert result.kind is ExitKind.UNREACHABLE
        assert time.monotonic() - started < 12


def test_a_connection_that_breaks_is_told_from_an_end(place: SshPlace) -> None:
    with place:
        transport = SshTransport(place.settings(), SystemClock())
        kept = Kept()
        running = transport.start(place.host, Command(("sh", "-c", "echo up; sleep 600"), 600, "login"), kept)
        while b"up" not in kept.out:
            assert running.wait(0.05) is None
        place.server.cut()
        result = running.wait(60)
        assert result is not None
        assert (result.kind, result.exit_code) == (ExitKind.CONNECTION_LOST, None)
        assert "the connection broke after" in str(result.reason)


class FastClock(SystemClock):
    """Twenty seconds a second."""

    def monotonic(self) -> float:
        return super().monotonic() * 20


@pytest.mark.parametrize(
    ("act", "kind", "text"),
    [
        (lambda running: running.stop(), ExitKind.STOPPED, "no end reported within 12 s"),
        (lambda running: None, ExitKind.TIMED_OUT, "silent past its deadline of 20 s"),
    ],
)
def test_a_server_that_never_answers_holds_nobody(
    tmp_path: Path, act: Callable[[Running], None], kind: ExitKind, text: str
) -> None:
    with SshPlace(tmp_path, mute=True) as place:
        transport = SshTransport(place.settings(), FastClock())
        running = transport.start(place.host, Command(("true",), 20, "login"), Kept())
        act(running)
        result = running.wait(200)
        assert result is not None
        assert result.kind is kind
        assert text in str(result.reason)
        transport.close()


def test_paramiko_never_speaks_to_the_user(place: SshPlace, capfd: pytest.CaptureFixture[str]) -> None:
    with place, socket.create_server(("127.0.0.1", 0)) as listener:
        place.known_hosts.unlink()
        transport = SshTransport(place.settings(login_timeout_s=1), SystemClock())
        assert transport.connect(Host("silent", "127.0.0.1", port=listener.getsockname()[1])).result is not None
        assert transport.connect(place.host).result is not None
        transport.close()
    assert capfd.readouterr() == ("", "")


def test_a_missing_configuration_file_is_an_input_error(place: SshPlace) -> None:
    with place:
        place.config.unlink()
        with pytest.raises(InputError, match="the ssh configuration cannot be read"):
            SshTransport(place.settings(), SystemClock())
