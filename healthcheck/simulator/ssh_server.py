"""The cluster behind real SSH on loopback: one port a node, keys made for this one start.

Nothing is ever executed on this machine: a command is a text that `answers` knows a reply to, or exit code 127.
Threads: one accepts for all nodes, one hands out all output, and paramiko needs one for each connection.
"""

from __future__ import annotations

import contextlib
import logging
import resource
import selectors
import socket
import tempfile
import threading
from collections import Counter
from pathlib import Path
from types import TracebackType

import paramiko

from healthcheck.errors import InputError
from healthcheck.model.host import Host
from healthcheck.simulator.cluster import SimCluster
from healthcheck.simulator.commands import Timetable, wall_clock
from healthcheck.simulator.files import Disks
from healthcheck.simulator.keys import FILE_NAMES, KeyRing
from healthcheck.simulator.sftp_server import SimSftp
from healthcheck.simulator.ssh_session import Door, Session

ADDRESS = "127.0.0.1"
HOSTFILE = "cluster.hosts"
_BACKLOG = 32
_LOG = "healthcheck.simulator.ssh"

logging.getLogger(_LOG).addHandler(logging.NullHandler())
logging.getLogger(_LOG).propagate = False


class SimSshServer:
    """Serves every node of a cluster until `close`; use it in a `with` statement.

    `folder` (0700; a new temporary one where none is given) holds `ssh_config`, `known_hosts`, the client key and
    `cluster.hosts`; they are removed at the end. InputError when it holds one of them already, or when this process
    may not open as many files as the nodes need. `connections` and `commands` count, by host, who came and what was
    asked.
    """

    def __init__(self, cluster: SimCluster, folder: Path | None = None) -> None:
        _allow_open_files(3 * len(cluster.nodes) + 100)
        self.cluster = cluster
        cluster.now = wall_clock
        self.folder, self._made_folder = _prepared(folder)
        try:
            self._keys = KeyRing(self.folder)
        except OSError as error:
            self._remove_files()
            raise _no_room(self.folder, error) from None
        self._disks = Disks()
        self._timetable = Timetable()
        self._selector = selectors.DefaultSelector()
        self._sockets: list[socket.socket] = []
        self._sessions: set[Session] = set()
        self.connections: Counter[str] = Counter()
        self.commands: Counter[str] = Counter()
        self._closing = threading.Event()
        self._wake_reader, self._wake_writer = socket.socketpair()
        self._selector.register(self._wake_reader, selectors.EVENT_READ, None)
        try:
            self.ports = {host.name: self._listen(host) for host in cluster.hosts()}
        except BaseException:
            self._release()
            raise
        self.hostfile = self.folder / HOSTFILE
        try:
            self._keys.write_files({name: (ADDRESS, port) for name, port in self.ports.items()})
            self.hostfile.write_text(hostfile_text(self.hosts()), encoding="utf-8")
        except OSError as error:
            self._release()
            raise _no_room(self.folder, error) from None
        self._acceptor = threading.Thread(target=self._accept, name="simulated-sshd", daemon=True)
        self._acceptor.start()

    @property
    def ssh_config(self) -> Path:
        """An OpenSSH config with key, known hosts and ports; also for healthcheck (`--ssh-config`)."""
        return self._keys.ssh_config

    @property
    def known_hosts(self) -> Path:
        """The host keys of all nodes."""
        return self._keys.known_hosts

    @property
    def identity(self) -> Path:
        """The only private key that may log in."""
        return self._keys.identity

    def hosts(self) -> tuple[Host, ...]:
        """The nodes, reachable on loopback."""
        return tuple(
            Host(host.name, ADDRESS, port=self.ports[host.name], slots=host.slots, labels=host.labels)
            for host in self.cluster.hosts()
        )

    def close(self) -> None:
        """Stop serving; every connection is closed and the key folder removed. May be called twice."""
        if self._closing.is_set():
            return
        self._closing.set()
        self._wake_writer.send(b"x")
        self._acceptor.join()
        for session in tuple(self._sessions):
            session.close()
        self._release()

    def __enter__(self) -> SimSshServer:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _release(self) -> None:
        self._timetable.close()
        for each in (*self._sockets, self._wake_reader, self._wake_writer):
            each.close()
        self._selector.close()
        self._remove_files()

    def _remove_files(self) -> None:
        for name in (*FILE_NAMES, HOSTFILE):
            (self.folder / name).unlink(missing_ok=True)
        if self._made_folder:
            with contextlib.suppress(OSError):  # somebody put something of theirs beside it
                self.folder.rmdir()

    def _listen(self, host: Host) -> int:
        """Bind a port; an unreachable node keeps its port bound and refuses."""
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._sockets.append(listener)
        listener.bind((ADDRESS, 0))
        if not self.cluster.nodes[host.name].unreachable:
            listener.listen(_BACKLOG)
            listener.setblocking(False)
            self._selector.register(listener, selectors.EVENT_READ, host)
        port: int = listener.getsockname()[1]
        return port

    def _accept(self) -> None:
        while not self._closing.is_set():
            for key, _ in self._selector.select():
                if key.data is None or not isinstance(key.fileobj, socket.socket):
                    continue
                with contextlib.suppress(OSError):
                    accepted, _ = key.fileobj.accept()
                    self._serve(accepted, key.data)

    def _serve(self, accepted: socket.socket, host: Host) -> None:
        accepted.setblocking(True)
        accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._sessions = {session for session in self._sessions if session.is_alive()}
        session = Session(accepted)
        session.set_log_channel(_LOG)
        session.add_server_key(self._keys.host_key)
        disk = self._disks.of(host.name)
        session.set_subsystem_handler("sftp", paramiko.SFTPServer, SimSftp, disk)
        self._sessions.add(session)
        self.connections[host.name] += 1
        door = Door(
            self.cluster,
            host,
            disk,
            self._keys.client_key,
            self._timetable,
            lambda: self.commands.update((host.name,)),
        )
        # With an event paramiko does the handshake on its own thread instead of blocking this one.
        session.start_server(event=threading.Event(), server=door)


def hostfile_text(hosts: tuple[Host, ...]) -> str:
    """A hostfile that says what it is."""
    lines = ["# simulated by healthcheck: these hosts are ports of this machine, no GPU is measured\n"]
    for host in hosts:
        labels = "".join(f" {key}={value}" for key, value in host.labels)
        lines.append(f"{host.name} address={host.address} port={host.port} slots={host.slots}{labels}\n")
    return "".join(lines)


def _prepared(folder: Path | None) -> tuple[Path, bool]:
    """The folder for the client's files, and whether it was made here."""
    if folder is None:
        try:
            return Path(tempfile.mkdtemp(prefix="healthcheck-simulated-")), True
        except OSError as error:
            raise InputError("TMPDIR", f"there is no folder for temporary files: {error.strerror}") from None
    there = folder.exists()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(str(folder), f"cannot be used as a folder: {error.strerror}") from None
    for name in (*FILE_NAMES, HOSTFILE):
        if (folder / name).exists():
            raise InputError(str(folder / name), "exists already; name a new folder, nothing is overwritten")
    return folder.resolve(), not there


def _no_room(folder: Path, error: OSError) -> InputError:
    return InputError(str(folder), f"cannot hold hostfile and keys of simulated nodes: {error.strerror}")


def _allow_open_files(needed: int) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft >= needed or soft == resource.RLIM_INFINITY:
        return
    if hard != resource.RLIM_INFINITY and hard < needed:
        raise InputError("simulated nodes", f"they need {needed} open files, this process may open {hard} (ulimit -n)")
    resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
