"""`RUN/rejudged/`: another judgement beside the run, never in its place. Whole, or the one that was there before."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from healthcheck.edge.store import RECORD, DirectoryStore
from healthcheck.errors import StoreError
from healthcheck.ports import Clock

FOLDER = "rejudged"


@contextlib.contextmanager
def rejudged_store(run: Path, clock: Clock) -> Iterator[DirectoryStore]:
    """A new folder that becomes `RUN/rejudged` when all was written in it; StoreError where there is no place."""
    place = run / FOLDER
    new, old = (run / f".{FOLDER}.{os.getpid()}.{word}" for word in ("new", "old"))
    try:
        _remove(new)
        new.mkdir(mode=0o700)
        yield DirectoryStore(new, clock)
        if os.path.lexists(place):
            place.rename(old)
        new.rename(place)
        _remove(old)
    except OSError as error:
        raise StoreError(f"cannot write {place}: {error.strerror}") from error
    finally:
        with contextlib.suppress(OSError):
            _remove(new)


def is_rejudged(folder: Path) -> bool:
    """Whether a folder is such a judgement: a record inside a run, without raw output of its own."""
    return folder.name == FOLDER and (folder.parent / RECORD).is_file()


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    elif os.path.lexists(path):
        path.unlink()
