"""Logs of trainings as they lie on disk: plain, gzip, a pipe, standard input; one sentence for anything else."""

from __future__ import annotations

import gzip
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final, cast

from healthcheck.edge.given_files import open_given
from healthcheck.edge.places import exists, is_folder
from healthcheck.errors import InputError
from healthcheck.vitals.other_files import other_file

STDIN: Final = "-"
_CHUNK = 1 << 20
_GZIP = b"\x1f\x8b"
_DATABASE = b"SQLite format 3"
_LOOKED_AT = 4096
_MOST_NULS = 0.1


@contextmanager
def chunks_of(name: str) -> Iterator[Iterator[bytes]]:
    """The bytes of a log in pieces; `-` is standard input. InputError naming the file where it cannot be one."""
    with _opened(name) as stream:
        yield _chunks(name, stream)


@contextmanager
def _opened(name: str) -> Iterator[BinaryIO]:
    if name == STDIN:
        if sys.stdin is None:  # closed by the shell: `<&-`
            raise InputError(STDIN, "standard input is closed; pipe the log of a training into it, or name a file")
        yield sys.stdin.buffer
        return
    path = Path(name)
    if is_folder(path):
        raise InputError(name, "is a folder; name the log in it (healthcheck vitals log FOLDER/*.log)")
    if not exists(path):
        raise InputError(name, "no such file; name the log of a training, or - for standard input")
    try:
        stream = open_given(path)
    except OSError as error:
        raise InputError(name, f"cannot be read: {error.strerror or error}") from error
    with stream:
        yield stream


def _chunks(name: str, stream: BinaryIO) -> Iterator[bytes]:
    try:
        first = stream.read(_CHUNK)
        if first.startswith(_GZIP):
            yield from _unpacked(name, first, stream)
            return
        _check(name, first)
        while first:
            yield first
            first = stream.read(_CHUNK)
    except OSError as error:
        raise InputError(name, f"cannot be read to its end: {error.strerror or error}") from error


def _unpacked(name: str, first: bytes, stream: BinaryIO) -> Iterator[bytes]:
    try:
        with gzip.GzipFile(fileobj=cast(BinaryIO, _Rest(first, stream))) as packed:
            chunk = packed.read(_CHUNK)
            _check(name, chunk)
            while chunk:
                yield chunk
                chunk = packed.read(_CHUNK)
    except EOFError:
        raise InputError(
            name, "is cut off: the packed log has no end; copy it again, or unpack what there is of it"
        ) from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise InputError(name, f"is damaged: {error}") from None


class _Rest:
    """A stream, the beginning of which was read before: pipes cannot go back."""

    def __init__(self, first: bytes, stream: BinaryIO) -> None:
        self._first, self._stream = first, stream

    def read(self, size: int = -1) -> bytes:
        if not self._first:
            return self._stream.read(size)
        taken = self._first if size < 0 else self._first[:size]
        self._first = self._first[len(taken) :]
        return taken


def _check(name: str, first: bytes) -> None:
    """InputError for what is empty, or no text."""
    if not first:
        raise InputError(name, "is empty; name the log of a training")
    if first.startswith(_DATABASE):
        raise InputError(name, "is a database; an export of Nsight Systems is for `healthcheck vitals trace`")
    if what := other_file(first):
        raise InputError(name, f"is {what}")
    start = first[:_LOOKED_AT]
    if start.count(0) > _MOST_NULS * len(start):
        raise InputError(name, "is no text; name the log that the training prints")
