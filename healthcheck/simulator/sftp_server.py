"""SFTP of a simulated node: paramiko's server side on the node's disk in memory."""

from __future__ import annotations

import os
import posixpath
import stat
from typing import TYPE_CHECKING

import paramiko
from paramiko.sftp import SFTP_EOF, SFTP_FAILURE, SFTP_NO_SUCH_FILE, SFTP_OK, SFTP_PERMISSION_DENIED

from healthcheck.simulator.files import Disk
from healthcheck.simulator.nodes import HOME, USER_ID

if TYPE_CHECKING:
    from typing_extensions import Buffer


class SimSftp(paramiko.SFTPServerInterface):
    """The files of one node. Relative paths start at the home folder, as with a real server."""

    def __init__(self, server: paramiko.ServerInterface, disk: Disk) -> None:
        super().__init__(server)
        self._disk = disk

    def canonicalize(self, path: str) -> str:
        """An absolute path without `..`."""
        return posixpath.normpath(posixpath.join(HOME, path))

    def list_folder(self, path: str) -> list[paramiko.SFTPAttributes] | int:
        """Names and attributes of a folder."""
        folder = self.canonicalize(path)
        if not self._disk.is_folder(folder):
            return SFTP_NO_SUCH_FILE
        return [attributes(self._disk, posixpath.join(folder, name)) for name in self._disk.names_in(folder)]

    def stat(self, path: str) -> paramiko.SFTPAttributes | int:
        """Attributes of a file or folder."""
        there = self.canonicalize(path)
        if self._disk.exists(there):
            return attributes(self._disk, there)
        # Above home there is only what leads to it.
        if HOME.startswith(there.rstrip("/") + "/"):
            return _folder_attributes(there)
        return SFTP_NO_SUCH_FILE

    def lstat(self, path: str) -> paramiko.SFTPAttributes | int:
        """The same: there are no links."""
        return self.stat(path)

    def open(self, path: str, flags: int, attr: paramiko.SFTPAttributes) -> paramiko.SFTPHandle | int:
        """A file to read or write; what is written appears when it is closed."""
        name = self.canonicalize(path)
        there = name in self._disk.files
        if self._disk.is_folder(name) or not self._disk.is_folder(posixpath.dirname(name)):
            return SFTP_NO_SUCH_FILE
        if flags & os.O_CREAT == 0 and not there:
            return SFTP_NO_SUCH_FILE
        if flags & os.O_EXCL and there:
            return SFTP_FAILURE
        mode = self._disk.modes.get(name, 0o644) if attr.st_mode is None else stat.S_IMODE(attr.st_mode)
        writing = bool(flags & (os.O_WRONLY | os.O_RDWR))
        content = b"" if flags & os.O_TRUNC else self._disk.files.get(name, b"")
        if writing:
            self._disk.write(name, content, mode)
        return _OpenFile(self._disk, name, flags, content, writing)

    def mkdir(self, path: str, attr: paramiko.SFTPAttributes) -> int:
        """A new folder in one that exists."""
        name = self.canonicalize(path)
        if self._disk.exists(name):
            return SFTP_FAILURE
        if not self._disk.is_folder(posixpath.dirname(name)):
            return SFTP_NO_SUCH_FILE
        self._disk.make_folder(name, 0o755 if attr.st_mode is None else stat.S_IMODE(attr.st_mode))
        return SFTP_OK

    def rmdir(self, path: str) -> int:
        """An empty folder."""
        name = self.canonicalize(path)
        if not self._disk.is_folder(name):
            return SFTP_NO_SUCH_FILE
        if self._disk.names_in(name):
            return SFTP_FAILURE
        self._disk.remove(name)
        return SFTP_OK

    def remove(self, path: str) -> int:
        """A file."""
        name = self.canonicalize(path)
        if name not in self._disk.files:
            return SFTP_NO_SUCH_FILE
        self._disk.remove(name)
        return SFTP_OK

    def rename(self, oldpath: str, newpath: str) -> int:
        """As SFTP version 3 has it: refused when the new name exists."""
        if self._disk.exists(self.canonicalize(newpath)):
            return SFTP_FAILURE
        return self.posix_rename(oldpath, newpath)

    def posix_rename(self, oldpath: str, newpath: str) -> int:
        """OpenSSH's extension: replaces a file."""
        old, new = self.canonicalize(oldpath), self.canonicalize(newpath)
        if not self._disk.exists(old) or not self._disk.is_folder(posixpath.dirname(new)):
            return SFTP_NO_SUCH_FILE
        self._disk.rename(old, new)
        return SFTP_OK

    def chattr(self, path: str, attr: paramiko.SFTPAttributes) -> int:
        """Permission bits; owner and times stay as they are."""
        return set_mode(self._disk, self.canonicalize(path), attr)


class _OpenFile(paramiko.SFTPHandle):
    """One open file; content is kept apart until it is closed."""

    def __init__(self, disk: Disk, path: str, flags: int, content: bytes, writing: bool) -> None:
        super().__init__(flags)
        self._disk = disk
        self._path = path
        self._content = bytearray(content)
        self._writing = writing

    def read(self, offset: int, length: int) -> bytes | int:
        if offset >= len(self._content):
            return SFTP_EOF
        return bytes(self._content[offset : offset + length])

    def write(self, offset: int, data: Buffer) -> int:
        if not self._writing:
            return SFTP_PERMISSION_DENIED
        if offset > len(self._content):
            self._content.extend(bytes(offset - len(self._content)))
        content = bytes(data)
        self._content[offset : offset + len(content)] = content
        return SFTP_OK

    def stat(self) -> paramiko.SFTPAttributes | int:
        self._store()
        return attributes(self._disk, self._path)

    def chattr(self, attr: paramiko.SFTPAttributes) -> int:
        return set_mode(self._disk, self._path, attr)

    def close(self) -> None:
        self._store()

    def _store(self) -> None:
        # Removed or renamed while open: as on a real disk, the open file is then nobody's business here.
        if self._writing and self._path in self._disk.files:
            self._disk.write(self._path, bytes(self._content), self._disk.modes[self._path])


def attributes(disk: Disk, path: str) -> paramiko.SFTPAttributes:
    """What `stat` shows of an existing path; everything belongs to the simulated user."""
    if disk.is_folder(path):
        shown = _folder_attributes(path)
        shown.st_mode = stat.S_IFDIR | disk.modes[path]
        return shown
    shown = paramiko.SFTPAttributes()
    shown.filename = posixpath.basename(path)
    shown.st_size = len(disk.files[path])
    shown.st_mode = stat.S_IFREG | disk.modes[path]
    shown.st_uid = shown.st_gid = USER_ID
    shown.st_atime = shown.st_mtime = 0
    return shown


def set_mode(disk: Disk, path: str, attr: paramiko.SFTPAttributes) -> int:
    """Apply the permission bits of `attr`, if it has any."""
    if not disk.exists(path):
        return SFTP_NO_SUCH_FILE
    if attr.st_mode is not None:
        disk.modes[path] = stat.S_IMODE(attr.st_mode)
    return SFTP_OK


def _folder_attributes(path: str) -> paramiko.SFTPAttributes:
    shown = paramiko.SFTPAttributes()
    shown.filename = posixpath.basename(path)
    shown.st_size = 4096
    shown.st_mode = stat.S_IFDIR | 0o755
    shown.st_uid = shown.st_gid = USER_ID
    shown.st_atime = shown.st_mtime = 0
    return shown
