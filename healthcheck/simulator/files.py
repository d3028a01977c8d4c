"""The disks of simulated nodes, in memory: what healthcheck pushed, by absolute path."""

from __future__ import annotations

import hashlib
import posixpath
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from healthcheck.errors import InputError
from healthcheck.ports import PushFile, PushResult
from healthcheck.simulator.nodes import CACHE, HOME


class Disk:
    """One node's files and folders. Changed by one connection at a time."""

    def __init__(self, shared: dict[bytes, bytes]) -> None:
        self._shared = shared
        self._files: dict[str, bytes] = {}
        self.modes: dict[str, int] = {HOME: 0o755}

    @property
    def files(self) -> Mapping[str, bytes]:
        """Content by absolute path."""
        return self._files

    def is_folder(self, path: str) -> bool:
        """Folders are what has a mode and no content."""
        return path in self.modes and path not in self._files

    def exists(self, path: str) -> bool:
        """A file or folder."""
        return path in self.modes

    def make_folder(self, path: str, mode: int) -> None:
        """One folder; its parent must be there (the caller has looked)."""
        self.modes[path] = mode

    def write(self, path: str, content: bytes, mode: int) -> None:
        """A whole file. The same content on a thousand nodes is kept once."""
        self._files[path] = self._shared.setdefault(hashlib.sha256(content).digest(), content)
        self.modes[path] = mode

    def remove(self, path: str) -> None:
        """A file or an empty folder."""
        self._files.pop(path, None)
        del self.modes[path]

    def rename(self, old: str, new: str) -> None:
        """A file or a whole folder, replacing what a file of that name held."""
        for path in [path for path in self.modes if path == old or path.startswith(f"{old}/")]:
            target = new + path[len(old) :]
            self.modes[target] = self.modes.pop(path)
            if path in self._files:
                self._files[target] = self._files.pop(path)

    def remove_tree(self, path: str) -> None:
        """A folder with all that is in it; nothing when it is not there."""
        for each in [each for each in self.modes if each == path or each.startswith(f"{path}/")]:
            self.remove(each)

    def names_in(self, folder: str) -> list[str]:
        """The names directly in a folder, sorted."""
        return sorted(posixpath.basename(path) for path in self.modes if posixpath.dirname(path) == folder != path)


class Disks:
    """The disks of a whole cluster. Safe to call from many threads."""

    def __init__(self) -> None:
        self._disks: dict[str, Disk] = {}
        self._shared: dict[bytes, bytes] = {}
        self._sources: dict[str, bytes] = {}
        self._lock = threading.Lock()

    def of(self, host: str) -> Disk:
        """The disk of one node."""
        with self._lock:
            if host not in self._disks:
                self._disks[host] = Disk(self._shared)
            return self._disks[host]

    def push(self, host: str, folder: str, files: Sequence[PushFile]) -> PushResult:
        """Put files below the cache folder of a node; `copied` names those that were not there already.

        InputError when a local file cannot be read.
        """
        root = f"{CACHE}/{folder}".rstrip("/")
        disk = self.of(host)
        copied = []
        for file in files:
            content = self._content(file)
            path = f"{root}/{file.name}"
            if disk.files.get(path) != content:
                disk.write(path, content, file.mode)
                copied.append(file.name)
        return PushResult(root, tuple(copied))

    def _content(self, file: PushFile) -> bytes:
        if file.content is not None:
            return file.content
        source = file.source or ""
        with self._lock:
            if source not in self._sources:
                try:
                    self._sources[source] = Path(source).read_bytes()
                except OSError as error:
                    raise InputError(source, f"cannot be read for copying: {error.strerror}") from error
            return self._sources[source]
