"""The SSH front of the simulator, reached the way a real client reaches a real sshd."""

from __future__ import annotations

import socket
import stat
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import paramiko
import pytest

from healthcheck.errors import InputError
from healthcheck.launchers.wrapper import wrap
from healthcheck.model.command import Command
from healthcheck.parsing.hostfile import parse_hostfile
from healthcheck.simulator.nodes import HOME, USER_ID
from healthcheck.simulator.ssh_server import SimSshServer
from tests.unit.simulator.sim import cluster, mpirun

HEAD = b"# simulated by healthcheck: no GPU was measured\n"


@pytest.fixture(scope="module")
def server() -> Iterator[SimSshServer]:
    sim = cluster("node02:hang", "node03:unreachable", "node04:corrupt", nodes=4, job_seconds=0.4)
    with SimSshServer(sim) as serving:
        yield serving


@pytest.fixture
def client(server: SimSshServer) -> Iterator[paramiko.SSHClient]:
    with connected(server, "node01") as one:
        yield one


def connected(server: SimSshServer, name: str, key: paramiko.PKey | None = None) -> paramiko.SSHClient:
    client = paramiko.SSHClient()
    client.load_host_keys(str(server.known_hosts))
    client.set_missing_host_key_policy(paramiko.RejectPolicy())
    client.connect(
        "127.0.0.1",
        port=server.ports[name],
        username="anybody",
        pkey=key or paramiko.Ed25519Key.from_private_key_file(str(server.identity)),
        allow_agent=False,
        look_for_keys=False,
        timeout=10,
    )
    return client


def exec_(client: paramiko.SSHClient, line: str) -> tuple[int, bytes, bytes]:
    stdin, stdout, stderr = client.exec_command(line, timeout=10)
    with stdin:
        out, err = stdout.read(), stderr.read()
    return stdout.channel.recv_exit_status(), out, err


def wrapped(deadline_s: float = 60.0) -> str:
    return wrap(Command(mpirun("--host localhost:8", 8), deadline_s, "t0"))


def test_a_wrapped_benchmark_prints_over_its_duration_and_ends_with_its_exit_code(server: SimSshServer) -> None:
    for name, code in (("node01", 0), ("node04", 7)):
        with connected(server, name) as client:
            channel = client.get_transport().open_session()  # type: ignore[union-attr] # connected
            begun = time.monotonic()
            channel.exec_command(wrapped())
            first = channel.recv(len(HEAD))
            head_after = time.monotonic() - begun
            assert channel.recv_exit_status() == code
            assert first == HEAD
            ended_after = time.monotonic() - begun
            assert ended_after > 0.35
            assert head_after < ended_after - 0.1, "the head comes at once, not with everything else at the end"


def test_quick_commands_never_race_with_their_own_start(client: paramiko.SSHClient) -> None:
    assert [exec_(client, "true")[0] for _ in range(30)] == [0] * 30


def test_closing_stdin_ends_a_hanging_command(server: SimSshServer) -> None:
    with connected(server, "node02") as client:
        channel = client.get_transport().open_session()  # type: ignore[union-attr] # connected
        channel.exec_command(wrapped())
        assert channel.recv(len(HEAD)) == HEAD
        assert not channel.exit_status_ready()
        channel.shutdown_write()
        assert channel.recv_exit_status() == 130


def test_a_deadline_ends_a_hanging_command(server: SimSshServer) -> None:
    with connected(server, "node02") as client:
        channel = client.get_transport().open_session()  # type: ignore[union-attr] # connected
        channel.exec_command(wrapped(deadline_s=0.3))
        assert channel.recv_exit_status() == 124


def test_nothing_is_ever_executed(client: paramiko.SSHClient, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    for line in (f"touch {mark}", f"sh -c 'touch {mark}'", wrap(Command(("touch", str(mark)), 9.0, "t0")), "'"):
        code, _, err = exec_(client, line)
        assert code == 127
        assert err == b"simulated node: only what healthcheck sends is answered\n"
    assert not mark.exists()


def test_no_shell_no_terminal_no_forwarding(client: paramiko.SSHClient) -> None:
    transport = client.get_transport()
    assert transport is not None
    with pytest.raises(paramiko.SSHException):
        transport.open_session().invoke_shell()
    with pytest.raises(paramiko.SSHException):
        transport.open_session().get_pty()
    with pytest.raises(paramiko.ChannelException):
        transport.open_channel("direct-tcpip", ("127.0.0.1", 22), ("127.0.0.1", 1))


def test_only_the_key_of_this_start_is_let_in(server: SimSshServer) -> None:
    with SimSshServer(cluster(nodes=1)) as other:
        foreign = paramiko.Ed25519Key.from_private_key_file(str(other.identity))
        with pytest.raises(paramiko.AuthenticationException):
            connected(server, "node01", foreign)


def test_an_unreachable_node_refuses_at_once(server: SimSshServer) -> None:
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", server.ports["node03"]), timeout=5)


def test_files_are_pushed_over_sftp_into_memory(client: paramiko.SSHClient, server: SimSshServer) -> None:
    with client.open_sftp() as sftp:
        assert sftp.normalize(".") == HOME
        sftp.mkdir(".cache", 0o700)
        with pytest.raises(OSError, match="Failure"):
            sftp.mkdir(".cache")
        with pytest.raises(FileNotFoundError):
            sftp.lstat(".cache/a")
        with sftp.open(".cache/a.new", "wx") as file:
            file.write(b"hel")
            file.write(b"lo")
        sftp.chmod(".cache/a.new", 0o755)
        sftp.posix_rename(".cache/a.new", ".cache/a")
        sftp.posix_rename(".cache/a", ".cache/a")
        attributes = sftp.lstat(".cache/a")
        assert stat.S_IMODE(attributes.st_mode or 0) == 0o755
        assert stat.S_ISDIR(sftp.lstat(".cache").st_mode or 0)
        assert (attributes.st_size, attributes.st_uid) == (5, USER_ID)
        assert sftp.listdir(".cache") == ["a"]
        code, out, _ = exec_(client, f"sha256sum -- {HOME}/.cache/a")
        assert (code, out[:12]) == (0, b"2cf24dba5fb0")
        with sftp.open(".cache/a") as file:
            assert file.read() == b"hello"
        sftp.remove(".cache/a")
        sftp.rmdir(".cache")
        assert sftp.listdir(".") == []


def test_the_hostfile_and_the_keys_are_private_and_complete(server: SimSshServer) -> None:
    hosts = parse_hostfile(server.hostfile.read_text(), "cluster.hosts")
    assert hosts == server.hosts()
    assert [(host.name, host.slots, host.label("leaf")) for host in hosts[:2]] == [
        ("node01", 8, "l1"),
        ("node02", 8, "l1"),
    ]
    assert "simulated" in server.hostfile.read_text()
    assert stat.S_IMODE(server.folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(server.identity.stat().st_mode) == 0o600
    config = paramiko.SSHConfig.from_path(str(server.ssh_config))
    assert config.lookup("node01")["port"] == str(server.ports["node01"])
    assert list(config.lookup("node01")["identityfile"]) == [str(server.identity)]


def test_nothing_stays_behind(tmp_path: Path) -> None:
    folder = tmp_path / "lab"
    before = set(threading.enumerate())
    with SimSshServer(cluster(nodes=2), folder) as serving:
        client = connected(serving, "node01")
        port = serving.ports["node01"]
        assert exec_(client, "true")[0] == 0
    assert not folder.exists()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=5)
    client.close()
    new = set(threading.enumerate()) - before
    assert [thread.name for thread in new if thread.name.startswith("simulated")] == []


def test_a_folder_of_the_user_is_used_but_never_overwritten(tmp_path: Path, server: SimSshServer) -> None:
    (tmp_path / "notes").write_text("mine")
    with SimSshServer(cluster(nodes=1), tmp_path):
        assert (tmp_path / "cluster.hosts").exists()
        with pytest.raises(InputError, match="exists already"):
            SimSshServer(cluster(nodes=1), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes"]


def test_many_nodes_run_a_job_each_at_the_same_time() -> None:
    sim = cluster(nodes=32, job_seconds=1.0)
    with SimSshServer(sim) as serving:
        key = paramiko.Ed25519Key.from_private_key_file(str(serving.identity))
        transports = []
        for port in serving.ports.values():
            transport = paramiko.Transport(socket.create_connection(("127.0.0.1", port), timeout=10))
            transport.start_client()
            transport.auth_publickey("anybody", key)
            transports.append(transport)
        channels = [transport.open_session() for transport in transports]
        ready = time.monotonic()
        for channel in channels:
            channel.exec_command(wrapped())
        assert [channel.recv_exit_status() for channel in channels] == [0] * 32
        assert time.monotonic() - ready < 30.0, "one after the other they would take 32 s"
        for transport in transports:
            transport.close()
