"""A small real SSH server on loopback that runs real shells, for the contract tests of the SSH transport."""

from __future__ import annotations

import os
import socket
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import paramiko
from paramiko.common import AUTH_FAILED, AUTH_SUCCESSFUL, OPEN_SUCCEEDED
from paramiko.sftp import SFTP_OK


class ShellServer:
    """Listens on 127.0.0.1; `home` is where sessions start. `drop_first` connections are closed before the banner."""

    def __init__(self, home: Path, authorized: paramiko.PKey, *, drop_first: int = 0, mute: bool = False) -> None:
        self.home = home
        self.authorized = authorized
        self.host_key: paramiko.PKey = paramiko.ECDSAKey.generate()
        self.mute = mute
        self.connections = 0
        self._drop = drop_first
        self._transports: list[paramiko.Transport] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def known_hosts_line(self) -> str:
        return f"[127.0.0.1]:{self.port} {self.host_key.get_name()} {self.host_key.get_base64()}\n"

    def cut(self) -> None:
        """Break every connection, as a dying node does."""
        for transport in self._transports:
            transport.close()

    def close(self) -> None:
        self._listener.close()
        self.cut()

    def _accept(self) -> None:
        while True:
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            if self._drop > 0:
                self._drop -= 1
                sock.close()
                continue
            self.connections += 1
            transport = paramiko.Transport(sock)
            transport.add_server_key(self.host_key)
            transport.set_subsystem_handler("sftp", paramiko.SFTPServer, _Files, str(self.home))
            self._transports.append(transport)
            threading.Thread(target=self._serve, args=(transport,), daemon=True).start()

    def _serve(self, transport: paramiko.Transport) -> None:
        try:
            transport.start_server(server=_Door(self))
            channels = []
            while transport.is_active():
                channels.append(transport.accept(1))  # one that nobody holds is closed by its finalizer
        except (paramiko.SSHException, EOFError, OSError):
            return


class _Door(paramiko.ServerInterface):
    def __init__(self, server: ShellServer) -> None:
        self._server = server

    def get_allowed_auths(self, username: str) -> str:
        return "publickey"

    def check_auth_publickey(self, username: str, key: paramiko.PKey) -> int:
        return AUTH_SUCCESSFUL if key == self._server.authorized else AUTH_FAILED

    def check_channel_request(self, kind: str, chanid: int) -> int:
        return OPEN_SUCCEEDED

    def check_channel_exec_request(self, channel: paramiko.Channel, command: bytes) -> bool:
        if not self._server.mute:
            threading.Thread(target=_run, args=(channel, command, self._server.home), daemon=True).start()
        return True


def _run(channel: paramiko.Channel, command: bytes, home: Path) -> None:
    pipe = subprocess.PIPE
    environment = {**os.environ, "HOME": str(home)}
    with subprocess.Popen(["/bin/sh", "-c", command], stdin=pipe, stdout=pipe, stderr=pipe, env=environment) as process:
        assert process.stdin and process.stdout and process.stderr

        def feed() -> None:
            assert process.stdin
            while channel.recv(1024):
                pass
            process.stdin.close()

        def carry(descriptor: int, send: str) -> None:
            try:
                while data := os.read(descriptor, 32768):
                    getattr(channel, send)(data)
            except OSError:
                return  # the client is gone

        readers = [
            threading.Thread(target=carry, args=(process.stdout.fileno(), "sendall"), daemon=True),
            threading.Thread(target=carry, args=(process.stderr.fileno(), "sendall_stderr"), daemon=True),
        ]
        threading.Thread(target=feed, daemon=True).start()
        for reader in readers:
            reader.start()
        code = process.wait()
        if code >= 0:
            channel.send_exit_status(code)  # as sshd does, even while something still holds the output
        for reader in readers:
            reader.join()
    channel.close()


class _Files(paramiko.SFTPServerInterface):
    """The real file system, starting at home."""

    def __init__(self, server: paramiko.ServerInterface, home: str) -> None:
        super().__init__(server)
        self._home = home

    def canonicalize(self, path: str) -> str:
        return str(Path(self._home, path).resolve()) if path == "." else str(Path(self._home, path))

    def stat(self, path: str) -> paramiko.SFTPAttributes | int:
        return _attributes(path, follow=True)

    def lstat(self, path: str) -> paramiko.SFTPAttributes | int:
        return _attributes(path, follow=False)

    def mkdir(self, path: str, attr: paramiko.SFTPAttributes) -> int:
        return _do(lambda: Path(path).mkdir(0o777 if attr.st_mode is None else attr.st_mode))

    def chattr(self, path: str, attr: paramiko.SFTPAttributes) -> int:
        return _do(lambda: Path(path).chmod(attr.st_mode or 0))

    def remove(self, path: str) -> int:
        return _do(Path(path).unlink)

    def posix_rename(self, oldpath: str, newpath: str) -> int:
        return _do(lambda: Path(oldpath).replace(newpath))

    def open(self, path: str, flags: int, attr: paramiko.SFTPAttributes) -> paramiko.SFTPHandle | int:
        try:
            descriptor = os.open(path, flags, 0o600)
        except OSError as error:
            return int(paramiko.SFTPServer.convert_errno(error.errno or 0))
        handle = paramiko.SFTPHandle(flags)
        file = os.fdopen(descriptor, "wb" if flags & (os.O_WRONLY | os.O_RDWR) else "rb")
        handle.writefile = handle.readfile = file  # type: ignore[attr-defined] # as paramiko documents it
        return handle


def _attributes(path: str, *, follow: bool) -> paramiko.SFTPAttributes | int:
    try:
        return paramiko.SFTPAttributes.from_stat(Path(path).stat(follow_symlinks=follow))
    except OSError as error:
        return int(paramiko.SFTPServer.convert_errno(error.errno or 0))


def _do(action: Callable[[], object]) -> int:
    try:
        action()
    except OSError as error:
        return int(paramiko.SFTPServer.convert_errno(error.errno or 0))
    return int(SFTP_OK)
