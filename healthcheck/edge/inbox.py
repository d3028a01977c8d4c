"""Files that come from a node, byte by byte: under their name only once they are whole."""

from __future__ import annotations

import contextlib
import os
from io import FileIO
from pathlib import Path

from healthcheck.edge.places import owners_only
from healthcheck.errors import StoreError


class FolderInbox:
    """ports.Inbox in one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def receive(self, name: str) -> ReceivedFile:
        """Take in a file of this name; StoreError where none can be made there."""
        return ReceivedFile(self._folder / name)


class ReceivedFile:
    """ports.Received: stdout of a command is the file, stderr what went wrong."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        self._size = 0
        self._failed = ""
        self._complaint = bytearray()
        try:
            self._file = FileIO(self._temporary, "wb", opener=owners_only)
        except OSError as error:
            raise StoreError(f"cannot write {path}: {error.strerror}") from error

    def stdout(self, data: bytes) -> None:
        """The next bytes of the file."""
        self._size += len(data)
        left = memoryview(data)
        while left and not self._failed:
            try:
                left = left[self._file.write(left) :]
            except OSError as error:
                self._failed = error.strerror or str(error)

    def stderr(self, data: bytes) -> None:
        """What the command complains of."""
        self._complaint += data[: max(0, 1000 - len(self._complaint))]

    @property
    def complaint(self) -> str:
        """Its first line."""
        return next(iter(self._complaint.decode(errors="replace").strip().splitlines()), "")

    def keep(self, size_bytes: int) -> Path | None:
        """The file under its name, if it has this size; None otherwise. StoreError where it could not be written."""
        if not self._failed and self._size != size_bytes:
            self.drop()
            return None
        try:
            self._file.close()
            if not self._failed:
                self._temporary.replace(self._path)
        except OSError as error:
            self._failed = error.strerror or str(error)
        if self._failed:
            self.drop()
            raise StoreError(f"cannot write {self._path}: {self._failed}")
        return self._path

    def drop(self) -> None:
        """Forget it."""
        with contextlib.suppress(OSError):
            self._file.close()
        with contextlib.suppress(OSError):
            self._temporary.unlink()
