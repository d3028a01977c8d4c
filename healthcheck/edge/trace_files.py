"""Profiles on disk, opened for `healthcheck/vitals/`: Chrome traces, packed or not, and what a folder holds of them."""

from __future__ import annotations

import gzip
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from healthcheck.edge.given_files import open_given
from healthcheck.edge.places import exists, is_file, is_folder
from healthcheck.errors import InputError

STDIN = "-"
_PART = 1 << 18
_ENDINGS = (".json", ".json.gz", ".sqlite")
_WANTED = "name a trace of torch.profiler (.json, .json.gz), an export of Nsight Systems (.sqlite), or a folder of them"


class _Unpacked(gzip.GzipFile):
    """One that is damaged, or breaks off, gives what comes before, and then EOFError."""

    def read(self, size: int | None = -1) -> bytes:
        parts: list[bytes] = []
        most = sys.maxsize if size is None or size < 0 else size
        try:
            while most > 0 and (part := self.read1(min(most, _PART))):
                parts.append(part)
                most -= len(part)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            if not parts:
                raise EOFError(str(error)) from None
        return b"".join(parts)


def traces_at(argument: str) -> tuple[Path, ...]:
    """The file that is named, or all profiles in the folder, by name. InputError where there is none."""
    path = Path(argument)
    if not exists(path):
        raise InputError(argument, f"no such file or folder; {_WANTED}")
    if not is_folder(path):
        return (path,)
    try:
        found = tuple(sorted(each for each in path.rglob("*") if each.name.endswith(_ENDINGS) and is_file(each)))
    except OSError as error:
        raise InputError(argument, f"cannot be read: {error.strerror or error}") from None
    if not found:
        raise InputError(argument, f"there is no profile in this folder (no *.json, *.json.gz, *.sqlite); {_WANTED}")
    return found


@contextmanager
def opened_trace(file: str) -> Iterator[BinaryIO]:
    """The text of a trace, unpacked where it is packed, whatever it is called; `-` is standard input.

    InputError where it cannot be opened, or reading fails on the way.
    """
    try:
        with _raw(file) as raw:
            packed = raw.peek(2)[:2] == b"\x1f\x8b"  # type: ignore[attr-defined]
            yield cast(BinaryIO, _Unpacked(fileobj=raw)) if packed else raw
    except OSError as error:
        raise InputError(file, f"cannot be read: {error.strerror or error}") from None


@contextmanager
def _raw(file: str) -> Iterator[BinaryIO]:
    if file != STDIN:
        with open_given(Path(file)) as stream:
            yield stream
        return
    if sys.stdin is None:  # closed by the shell: `<&-`
        raise InputError(STDIN, "standard input is closed; pipe a trace into it, or name a file")
    yield sys.stdin.buffer
