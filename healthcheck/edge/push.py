"""Copying files into the per-user cache folder of a host, the same way for a remote host and for this one.

The folder is `~/.cache/healthcheck/<folder>`: 0700, ours, no link, or nothing is copied. Only files whose SHA-256
differs travel; each is written under a name of its own, hashed again after the copy, and renamed over the old one.
That makes it safe for many hosts that share one home: the last rename wins, with the same content.
"""

from __future__ import annotations

import hashlib
import io
import os
import stat
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from threading import Lock
from typing import BinaryIO, Protocol
from uuid import uuid4

from msgspec import Struct

from healthcheck.edge.places import home_folder
from healthcheck.errors import InputError
from healthcheck.model.message import Message, say
from healthcheck.ports import PushFile, PushResult

CACHE = (".cache", "healthcheck")
_PIECE = 1 << 20


class FileState(Struct, frozen=True):
    """What `lstat` says: permission and type bits, owner."""

    mode: int
    uid: int


class HostFiles(Protocol):
    """The few file operations a push needs on a host. They raise OSError, as the os module does."""

    def home(self) -> str:
        """Absolute path of the home folder."""

    def uid(self) -> int:
        """Our user id there."""

    def lstat(self, path: str) -> FileState | None:
        """None when there is nothing at `path`."""

    def mkdir(self, path: str, mode: int) -> None:
        """Make one folder; it may exist already."""

    def chmod(self, path: str, mode: int) -> None:
        """Set permission bits."""

    def write(self, path: str, content: BinaryIO) -> None:
        """Make a new file."""

    def rename(self, old: str, new: str) -> None:
        """Atomically, over whatever is there."""

    def remove(self, path: str) -> None:
        """Delete one file."""

    def sha256(self, paths: Sequence[str]) -> dict[str, str]:
        """Hex digests of those that exist."""


class ContentHashes:
    """SHA-256 of what is to be pushed, computed once however many hosts get it. Safe from many threads."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, int, int], str] = {}
        self._lock = Lock()

    def of(self, file: PushFile) -> str:
        """Hex digest of the content; InputError when a local file cannot be read."""
        if file.content is not None:
            return hashlib.sha256(file.content).hexdigest()
        with self._lock, open_source(file) as source:
            status = os.fstat(source.fileno())
            key = (str(file.source), status.st_mtime_ns, status.st_size)
            if key not in self._known:
                self._known[key] = hashlib.file_digest(source, "sha256").hexdigest()
            return self._known[key]


def open_source(file: PushFile) -> io.BufferedReader | io.BytesIO:
    """The bytes of a file to push."""
    if file.content is not None:
        return io.BytesIO(file.content)
    try:
        return Path(str(file.source)).open("rb")
    except OSError as error:
        raise InputError(str(file.source), f"cannot be read for copying: {error.strerror}") from error


class NeverReachedError(OSError):
    """No command began on the host: nothing is wrong with its folder. `reason` is told as it is."""

    def __init__(self, reason: Message) -> None:
        super().__init__(str(reason))
        self.reason = reason


def push_files(host: HostFiles, folder: str, files: Sequence[PushFile], hashes: ContentHashes) -> PushResult:
    """Bring `files` to the host; a host that refuses is a result with the reason."""
    wanted = {file.name: hashes.of(file) for file in files}
    try:
        root, problem = _prepare(host, folder, [file.name for file in files])
        if problem is not None:
            return PushResult(folder=None, reason=say("push.refused", detail=problem))
        present = host.sha256([f"{root}/{name}" for name in wanted])
        stale = [file for file in files if present.get(f"{root}/{file.name}") != wanted[file.name]]
        copied = _replace(host, root, stale, wanted)
        for file in files:
            if file not in stale:
                host.chmod(f"{root}/{file.name}", file.mode)
        missing = [file.name for file in stale if file.name not in copied]
        if missing:
            damaged = say("push.damaged", name=missing[0])
            return PushResult(folder=None, copied=copied, reason=say("push.refused", detail=damaged))
        return PushResult(folder=root, copied=copied)
    except NeverReachedError as error:
        return PushResult(folder=None, reason=error.reason)
    except (OSError, EOFError) as error:
        detail = getattr(error, "strerror", None) or str(error) or type(error).__name__
        return PushResult(folder=None, reason=say("push.refused", detail=detail))


def _prepare(host: HostFiles, folder: str, names: Sequence[str]) -> tuple[str, Message | None]:
    """(cache folder, "") with every folder on the way made and looked at; else what is wrong with which."""
    home = host.home().rstrip("/")
    root = "/".join((home, *CACHE, folder))
    safe_from = "/".join((home, *CACHE))
    folders = {root, safe_from} | {str(PurePosixPath(root, name).parent) for name in names}
    for path in list(folders):
        folders |= {str(up) for up in PurePosixPath(path).parents if str(up).startswith(f"{safe_from}/")}
    for word in (folder, *names):
        if ".." in PurePosixPath(word).parts or word.startswith("/"):
            raise ValueError(f"not a name below the cache folder: {word!r}")
    # ~/.cache itself may be a link to a scratch file system; that is its owner's choice
    host.mkdir(f"{home}/{CACHE[0]}", 0o700)
    for path in sorted(folders):
        host.mkdir(path, 0o700)
        state = host.lstat(path)
        if state is None or stat.S_ISLNK(state.mode) or not stat.S_ISDIR(state.mode):
            return root, say("push.no_folder", path=path)
        if state.uid != host.uid():
            return root, say("push.of_another", path=path, uid=state.uid)
        if state.mode & 0o022:
            return root, say("push.writable", path=path)
        if state.mode & 0o777 != 0o700:
            host.chmod(path, 0o700)
    return root, None


def _replace(host: HostFiles, root: str, files: Sequence[PushFile], wanted: dict[str, str]) -> tuple[str, ...]:
    """Copy, check, rename; the names that made it."""
    aside = {file.name: f"{root}/{file.name}.{uuid4().hex[:12]}.new" for file in files}
    done: list[str] = []
    try:
        for file in files:
            with open_source(file) as source:
                host.write(aside[file.name], source)
            host.chmod(aside[file.name], file.mode)
        arrived = host.sha256(list(aside.values())) if files else {}
        for file in files:
            if arrived.get(aside[file.name]) == wanted[file.name]:
                host.rename(aside[file.name], f"{root}/{file.name}")
                done.append(file.name)
    finally:
        for name, path in aside.items():
            if name not in done:
                _remove_quietly(host, path)
    return tuple(done)


def _remove_quietly(host: HostFiles, path: str) -> None:
    try:
        host.remove(path)
    except (OSError, EOFError):
        return  # it was never made, or the host is gone; the error that brought us here is told


class LocalFiles:
    """`HostFiles` of this machine."""

    def __init__(self, home: Path | None) -> None:
        self._home = home

    def home(self) -> str:
        """As given, else that of this user."""
        return str(self._home or home_folder())

    def uid(self) -> int:
        """The effective one, which owns what we make."""
        return os.geteuid()

    def lstat(self, path: str) -> FileState | None:
        """None when there is nothing."""
        try:
            status = Path(path).lstat()
        except FileNotFoundError:
            return None
        return FileState(mode=status.st_mode, uid=status.st_uid)

    def mkdir(self, path: str, mode: int) -> None:
        """It may exist."""
        Path(path).mkdir(mode=mode, exist_ok=True)

    def chmod(self, path: str, mode: int) -> None:
        """Set permission bits."""
        Path(path).chmod(mode)

    def write(self, path: str, content: BinaryIO) -> None:
        """A new file, 0600 until its mode is set."""
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "wb") as target:
            while piece := content.read(_PIECE):
                target.write(piece)

    def rename(self, old: str, new: str) -> None:
        """Atomically."""
        Path(old).replace(new)

    def remove(self, path: str) -> None:
        """Delete."""
        Path(path).unlink()

    def sha256(self, paths: Sequence[str]) -> dict[str, str]:
        """By reading them; a link is not followed, so it never counts as present."""
        found = {}
        for path in paths:
            try:
                descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            except OSError:
                continue
            with os.fdopen(descriptor, "rb") as source:
                found[path] = hashlib.file_digest(source, "sha256").hexdigest()
        return found
