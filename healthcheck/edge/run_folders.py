"""Run directories as things to be deleted: which folders are ours, and how one goes and takes nothing else along."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
from pathlib import Path

from healthcheck.edge.store import RECORD
from healthcheck.errors import HealthcheckError, InputError, StoreError
from healthcheck.model.message import say
from healthcheck.model.retention import KeptRun, Left
from healthcheck.parsing.run_head import decode_head
from healthcheck.workflows.files_only import read_file

_RUN = re.compile(r"\d{8}T\d{6}Z-[a-z]{4}")
_GOING = ".pruned-"


def kept_runs(results: Path) -> tuple[tuple[KeptRun, ...], tuple[Left, ...]]:
    """(the runs of this user below `results`; what looks like a run and is none of ours, with the reason).

    Ours is a real folder of our user, called like a run, with a record of that name in it. Nothing else is looked at.
    """
    runs: list[KeptRun] = []
    left: list[Left] = []
    for path in _named_like_runs(results, ""):
        why = _not_ours(path)
        if why is None:
            try:
                runs.append(_head(path))
                continue
            except HealthcheckError as error:
                why = str(error)
        left.append(Left(path.name, say("prune.not_ours", folder=str(path), problem=why)))
    return tuple(runs), tuple(left)


def remove_run(results: Path, run: KeptRun) -> int:
    """Delete one run directory; how many bytes its files had. StoreError where not all of it could go.

    It is renamed first, and looked at once more under its new name: a run that somebody resumed in this moment comes
    back. No link is followed, neither in its place nor inside it.
    """
    folder, going = results / run.run_id, results / f"{_GOING}{run.run_id}"
    if (why := _not_ours(folder)) is not None:
        raise StoreError(f"{folder} {why}")
    try:
        folder.rename(going)
    except OSError as error:
        raise StoreError(f"cannot remove {folder}: {error.strerror}") from error
    try:
        is_same = _head(going, run.run_id) == run
    except HealthcheckError:
        is_same = False
    if not is_same:
        with contextlib.suppress(OSError):
            going.rename(folder)
        raise StoreError(f"{folder} has changed since it was looked at; it stays")
    size = size_of(going)
    _delete(going)
    return size


def finish_removals(results: Path) -> None:
    """Delete what an earlier removal that was killed had already taken out of sight."""
    for path in _named_like_runs(results, _GOING):
        if _not_ours(path) is None:
            with contextlib.suppress(StoreError):
                _delete(path)


def size_of(folder: Path) -> int:
    """Bytes of the files of a folder, links not followed."""
    total = 0
    for where, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += (Path(where) / name).lstat().st_size
    return total


def _named_like_runs(results: Path, prefix: str) -> list[Path]:
    try:
        paths = sorted(results.iterdir())
    except OSError as error:
        raise InputError("-o", f"cannot read {results}: {error.strerror}") from None
    return [path for path in paths if path.name.startswith(prefix) and _RUN.fullmatch(path.name.removeprefix(prefix))]


def _not_ours(path: Path) -> str | None:
    try:
        found = path.lstat()
    except OSError as error:
        return f"cannot be looked at: {error.strerror}"
    if not stat.S_ISDIR(found.st_mode):
        return "is no folder" if not stat.S_ISLNK(found.st_mode) else "is a link"
    if found.st_uid != os.geteuid():
        return f"belongs to another user (uid {found.st_uid})"
    return None


def _head(folder: Path, run_id: str | None = None) -> KeptRun:
    record = folder / RECORD
    try:
        found = record.lstat()
        if not stat.S_ISREG(found.st_mode):
            raise InputError(str(record), "is no file")
        run = decode_head(read_file(record), str(record), (found.st_size, found.st_mtime_ns))
    except OSError as error:
        raise InputError(str(record), f"cannot be read: {error.strerror}") from None
    if run.run_id != (run_id or folder.name):
        raise InputError(str(record), f"is the record of {run.run_id!a}")
    return run


def _delete(folder: Path) -> None:
    try:
        shutil.rmtree(folder)
    except OSError as error:
        where = error.filename or folder
        raise StoreError(f"cannot remove all of {folder}: {where}: {error.strerror}") from error
