"""`HostFiles` of a host, over SFTP; digests by its own sha256sum where it has one."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import BinaryIO

from paramiko import SFTPAttributes, SFTPClient, Transport

from healthcheck.edge.push import FileState
from healthcheck.edge.ssh_running import request

_PIECE = 1 << 20
_HASH_SCRIPT = 'id -u; exec sha256sum -- "$@" </dev/null'

Run = Callable[[tuple[str, ...]], tuple[int | None, str]]
"""Runs argv on the host and gives (exit code, stdout)."""


class SftpFiles:
    """One SFTP session. Errors are OSError or EOFError; `close` it."""

    def __init__(self, transport: Transport, run: Run, timeout_s: float) -> None:
        channel = transport.open_session(timeout=timeout_s)
        channel.settimeout(timeout_s)
        request(channel, "subsystem", "sftp")
        self._sftp = SFTPClient(channel)
        self._run = run
        self._uid: int | None = None

    def close(self) -> None:
        """End the session."""
        self._sftp.close()

    def home(self) -> str:
        """Where an SFTP session starts."""
        return self._sftp.normalize(".")

    def uid(self) -> int:
        """Told by `id -u`; where no command can be run, the owner of the home folder."""
        if self._uid is None:
            self._hash(())
        if self._uid is None:
            self._uid = self._sftp.stat(".").st_uid or 0
        return self._uid

    def lstat(self, path: str) -> FileState | None:
        """None when there is nothing."""
        try:
            return _state(self._sftp.lstat(path))
        except FileNotFoundError:
            return None

    def mkdir(self, path: str, mode: int) -> None:
        """It may exist: SFTP tells only "failure", so what stands there decides."""
        try:
            self._sftp.mkdir(path, mode)
        except OSError:
            if self.lstat(path) is None:
                raise

    def chmod(self, path: str, mode: int) -> None:
        """Set permission bits."""
        self._sftp.chmod(path, mode)

    def write(self, path: str, content: BinaryIO) -> None:
        """A new file, pieces sent without waiting for each answer."""
        with self._sftp.open(path, "wx") as target:
            target.set_pipelined(True)
            while piece := content.read(_PIECE):
                target.write(piece)

    def rename(self, old: str, new: str) -> None:
        """Over whatever is there (posix-rename@openssh.com)."""
        self._sftp.posix_rename(old, new)

    def remove(self, path: str) -> None:
        """Delete."""
        self._sftp.remove(path)

    def sha256(self, paths: Sequence[str]) -> dict[str, str]:
        """One round trip for all; by reading back those the host did not tell."""
        told = self._hash(paths)
        if told is not None:
            return told
        found = {}
        for path in paths:
            try:
                with self._sftp.open(path, "rb") as source:
                    source.prefetch()
                    digest = hashlib.sha256()
                    while piece := source.read(_PIECE):
                        digest.update(piece)
                    found[path] = digest.hexdigest()
            except FileNotFoundError:
                continue
        return found

    def _hash(self, paths: Sequence[str]) -> dict[str, str] | None:
        """None when the host has no sha256sum (exit code 127) or runs no commands."""
        code, stdout = self._run(("sh", "-c", _HASH_SCRIPT, "healthcheck-hash", *paths))
        first, _, rest = stdout.partition("\n")
        if not first.isdigit():
            return None
        self._uid = int(first)
        if code not in (0, 1):
            return None
        found = {}
        for line in rest.splitlines():
            digest, _, path = line.partition("  ")
            if path in paths:
                found[path] = digest
        return found


def _state(attributes: SFTPAttributes) -> FileState:
    return FileState(mode=attributes.st_mode or 0, uid=-1 if attributes.st_uid is None else attributes.st_uid)
