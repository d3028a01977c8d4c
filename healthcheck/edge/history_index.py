"""The index over run directories: one line a run in `<results>/history.index`, made again from the records at any time.

The records are the truth, and the index only saves reading them (docs/adr/0008-one-line-a-run.md). A line holds as
long as size and time of its record do and its checksum is right; everything else is read from the record again. Lines
are appended in one write, or the file is replaced in one rename, so that two processes at once cost a line at most.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection
from pathlib import Path

from msgspec import Struct

from healthcheck.edge.digests import simulated_fleet
from healthcheck.edge.places import is_file, is_folder
from healthcheck.edge.store import RECORD, write_atomically
from healthcheck.errors import InputError, StoreError
from healthcheck.model.history import Past, PastRun
from healthcheck.model.message import Message, say
from healthcheck.parsing.run_history import (
    HEADER,
    IndexLine,
    decode_line,
    encode_line,
    in_order,
    only_hosts,
    read_past_run,
)
from healthcheck.workflows.files_only import files_only, read_file

INDEX = "history.index"


class _Known(Struct, frozen=True):
    """What the index says: by folder the last line about it and its bytes. Not `intact`: to be written anew."""

    lines: dict[str, tuple[IndexLine, bytes]]
    intact: bool


class DirectoryIndex:
    """ports.HistoryIndex over the run directories below one folder."""

    def __init__(self, results: Path) -> None:
        self._results = results
        self._path = results / INDEX

    def past(self, hosts: Collection[str] | None = None) -> Past:
        """All runs as they are on disk now, of `hosts` only where given; brings the index up to date on the way."""
        known = self._known()
        kept: list[bytes] = []
        fresh: list[bytes] = []
        runs: list[PastRun] = []
        unreadable: list[Message] = []
        for folder in _folders(self._results):
            stamp = _stamp(folder / RECORD)
            if stamp is None:
                continue
            line, raw = known.lines.get(_spelled(folder), (None, b""))
            if line is not None and (line.size, line.mtime_ns) == stamp:
                kept.append(raw)
            else:
                line = _read(folder, stamp)
                # What could not even be opened may be readable tomorrow without a change of its time.
                fresh += [encode_line(line)] if line.size >= 0 else []
            if line.run is not None:
                runs.append(line.run if hosts is None else only_hosts(line.run, hosts))
            else:
                unreadable.append(say("history.unreadable", record=str(folder / RECORD), problem=line.problem))
        notes: list[Message] = []
        if not known.intact or len(kept) < len(known.lines):
            notes += self._replace([*kept, *fresh])
        elif fresh:
            notes += self._append(fresh)
        ordered, copies = in_order(runs)
        if copies:
            notes.append(say("history.copies", n=copies))
        return Past(ordered, tuple(unreadable), tuple(notes))

    def seed_of(self, run: PastRun) -> int | None:
        """Read from the run directory: the index keeps what the record says, and there it does not stand."""
        fleet = simulated_fleet(self._results / run.folder)
        return None if fleet is None else fleet.seed

    def add(self, folder: Path) -> tuple[Message, ...]:
        """Add the line of one run whose record was just written; why not, where that fails."""
        stamp = _stamp(folder / RECORD)
        if stamp is None:
            return ()
        line = encode_line(_read(folder, stamp))
        return self._append([line]) if self._is_ours() else self._replace([line])

    def _is_ours(self) -> bool:
        try:
            with open(self._path, "rb", opener=files_only) as file:
                return file.readline(len(HEADER) + 1) == HEADER + b"\n"
        except OSError:
            return False

    def _known(self) -> _Known:
        """The lines that can be trusted. A later line about a folder is the one that holds."""
        nothing = _Known({}, intact=False)
        if not is_file(self._path):
            return nothing
        try:
            header, *rest = read_file(self._path).split(b"\n")
        except OSError:
            return nothing
        if header != HEADER:
            return nothing
        found: dict[str, tuple[IndexLine, bytes]] = {}
        intact = True
        for raw in filter(None, rest):
            line = decode_line(raw)
            intact = intact and line is not None and line.folder not in found
            if line is not None:
                found[line.folder] = (line, raw)
        return _Known(found, intact)

    def _replace(self, lines: list[bytes]) -> tuple[Message, ...]:
        if not is_folder(self._results):
            return ()
        try:
            write_atomically(self._path, b"\n".join([HEADER, *lines, b""]), survive_power_loss=False)
        except StoreError as error:
            return (say("history.not_kept", problem=str(error)),)
        return ()

    def _append(self, lines: list[bytes]) -> tuple[Message, ...]:
        """One write, so that two processes do not mix; the line end in front keeps away from half a line of others."""
        try:
            descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK)
            try:
                os.write(descriptor, b"\n".join([b"", *lines, b""]))
            finally:
                os.close(descriptor)
        except OSError as error:
            return (say("history.not_kept", problem=f"cannot write {self._path}: {error.strerror}"),)
        return ()


def _folders(results: Path) -> list[Path]:
    """Everything below the folder, by name; which of them are runs, their records say."""
    try:
        return sorted(results.iterdir())
    except OSError:
        return []


def _spelled(folder: Path) -> str:
    """The name of a folder as JSON can hold it: a name may be any bytes."""
    return os.fsencode(folder.name).decode("utf-8", "backslashreplace")


def _stamp(record: Path) -> tuple[int, int] | None:
    """(bytes, time of change in ns) of a record; None where there is none."""
    try:
        found = record.stat()
    except (OSError, ValueError):
        return None
    return (found.st_size, found.st_mtime_ns) if stat.S_ISREG(found.st_mode) else None


def _read(folder: Path, stamp: tuple[int, int]) -> IndexLine:
    """The stamp was taken before: a record that changes while it is read is read again next time."""
    record, name = folder / RECORD, _spelled(folder)
    try:
        return IndexLine(name, *stamp, run=read_past_run(read_file(record), str(record), name))
    except InputError as error:
        return IndexLine(name, *stamp, problem=error.problem)
    except OSError as error:
        return IndexLine(name, -1, 0, problem=f"cannot be read: {error.strerror}")
