"""Exports of Nsight Systems on disk: opened for reading only, and nothing is left beside them.

SQLite would make `-shm`, `-wal` or `-journal` files where it takes a lock; a file opened as immutable takes none. That
holds only for one that nobody writes, so an export that is still being written is told from what lies beside it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from healthcheck.edge.places import exists, is_file, is_folder
from healthcheck.errors import InputError

_MAGIC: Final = b"SQLite format 3\0"
_HEAD_BYTES: Final = 100
_SMALLEST_PAGE: Final = 512
_REPORTS: Final = frozenset({".nsys-rep", ".qdrep", ".qdstrm"})
_MAKE: Final = "make one with `nsys export --type sqlite REPORT.nsys-rep`"


def is_export(path: Path) -> bool:
    """Whether a file is for this reader: a SQLite file, or a report of the tool, which has to be exported first.

    Only regular files are opened: a pipe would be emptied by the look.
    """
    if path.suffix.lower() in _REPORTS:
        return True
    try:
        return is_file(path) and _head(path).startswith(_MAGIC)
    except OSError:
        return False


@contextmanager
def opened_export(path: Path) -> Iterator[sqlite3.Connection]:
    """The export at `path`. InputError where there is none that could be read whole."""
    _check(path)
    # as_uri escapes what has a meaning in a URI: `?`, `#`, `%`.
    address = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
    try:
        connection = sqlite3.connect(address, uri=True)
    except sqlite3.Error as error:
        raise InputError(str(path), f"cannot be opened: {error}") from None
    # A name is shown as far as it can be read.
    connection.text_factory = lambda raw: raw.decode(errors="replace")
    with closing(connection):
        yield connection


def _check(path: Path) -> None:
    where = str(path)
    if not exists(path):
        raise InputError(where, f"no such file; name an export of Nsight Systems, or {_MAKE}")
    if path.suffix.lower() in _REPORTS:
        export = f"`nsys export --type sqlite {path.name}`"
        raise InputError(
            where,
            f"is a report of Nsight Systems, which only its own tools read: run {export}, then give the .sqlite file",
        )
    if is_folder(path):
        raise InputError(where, "is a folder; name the .sqlite files in it")
    if not is_file(path):
        raise InputError(where, "is not a regular file; an export of Nsight Systems cannot be read from a pipe")
    try:
        head, size = _head(path), path.stat().st_size
    except OSError as error:
        raise InputError(where, f"cannot be read: {error.strerror or error}") from None
    if not size:
        raise InputError(where, f"is empty: its export failed or has not begun; {_MAKE}")
    if not head.startswith(_MAGIC):
        raise InputError(where, f"is not a SQLite file; {_MAKE}")
    for beside in (Path(f"{where}-journal"), Path(f"{where}-wal")):
        if exists(beside) and beside.stat().st_size:
            raise InputError(
                where,
                f"is still being written, or its export was killed: {beside.name} lies beside it; export it again",
            )
    whole = _whole_size(head)
    if size < whole:
        raise InputError(
            where,
            f"was cut off: it has {size} of {whole} bytes; copy it again, or export it again with `nsys export`",
        )


def _head(path: Path) -> bytes:
    with path.open("rb") as stream:
        return stream.read(_HEAD_BYTES)


def _whole_size(head: bytes) -> int:
    """Bytes of the file by its own header (pages times their size); 0 where an old writer did not keep the number."""
    if len(head) < _HEAD_BYTES:
        return _HEAD_BYTES
    page = int.from_bytes(head[16:18], "big")
    page = 1 << 16 if page == 1 else page
    pages, kept_at, changed_at = (int.from_bytes(head[at : at + 4], "big") for at in (28, 92, 24))
    believable = kept_at == changed_at and page >= _SMALLEST_PAGE and page & (page - 1) == 0
    return pages * page if believable else 0
