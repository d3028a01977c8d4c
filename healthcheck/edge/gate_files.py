"""The lists of a gate on disk: looked at before anything begins, an old one away at once, a new one whole or not at
all."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable
from pathlib import Path

from msgspec.structs import replace

from healthcheck.edge.history_index import INDEX
from healthcheck.edge.host_locks import LOCKS
from healthcheck.edge.places import exists, is_file, is_folder, is_link
from healthcheck.edge.store import LONGEST_NAME, RECORD, write_atomically
from healthcheck.errors import InputError, StoreError
from healthcheck.model.gate import GateAsked
from healthcheck.model.message import Message, say
from healthcheck.reporting.gate_lists import Lists, names_of


def options_of(asked: GateAsked) -> tuple[tuple[str, str], ...]:
    """(option, file) of the lists that are asked for."""
    given = (("--healthy-hosts", asked.healthy_file), ("--exclude-file", asked.exclude_file))
    return tuple((option, file) for option, file in given if file)


def from_anywhere(asked: GateAsked) -> GateAsked:
    """The same files whatever the working directory is: a gate may be taken up again in another one."""
    healthy, exclude = (file and str(Path(file).absolute()) for file in (asked.healthy_file, asked.exclude_file))
    return replace(asked, healthy_file=healthy, exclude_file=exclude)


def check_places(asked: GateAsked, inputs: Iterable[str], results: Path, metrics: Path | None = None) -> None:
    """InputError where a list could not be written, or would take the place of an input, of another list, of the
    metrics that are written last, or of what the results folder needs."""
    taken = {os.path.realpath(path): path for path in inputs if is_file(Path(path))}
    if metrics is not None:
        taken[os.path.realpath(metrics)] = str(metrics)
    for option, file in options_of(asked):
        if not file.isprintable() or any("\ud800" <= char <= "\udfff" for char in file):
            raise InputError(option, f"{file!a} is not one line of UTF-8 text; a report could not hold it")
        folder = Path(file).parent
        if len(os.fsencode(Path(file).name)) > LONGEST_NAME:
            raise InputError(option, f"has a name of more than {LONGEST_NAME} bytes, {file[:40]!a}...; choose another")
        if not is_folder(folder):
            raise InputError(option, f"there is no folder {folder} to write {file} in")
        if not os.access(folder, os.W_OK | os.X_OK):
            raise InputError(option, f"{folder} cannot be written; choose another place")
        if is_file(folder / RECORD):
            raise InputError(option, f"{folder} is the directory of a run; choose another place")
        for name in names_of(file):
            _check_name(option, name, os.path.realpath(results))
            other = taken.get(os.path.realpath(name))
            if other is not None:
                raise InputError(option, f"would write {name} over {other}; choose another name")
        _check_is_list(option, file)
        taken |= {os.path.realpath(name): name for name in names_of(file)}


def _check_name(option: str, name: str, results: str) -> None:
    """A list is removed and made anew, so nothing else may be there, and nobody else's."""
    if is_link(Path(name)):
        # Replaced, what it leads to would stay: a list of yesterday, or the terminal behind /dev/stdout.
        raise InputError(option, f"{name} is a symbolic link; name the file itself")
    if exists(Path(name)) and not is_file(Path(name)):
        raise InputError(option, f"{name} is there and is no file; choose another name")
    real = os.path.realpath(name)
    if real in (results, f"{results}/{INDEX}") or f"{real}/".startswith(f"{results}/{LOCKS}/"):
        raise InputError(option, f"{name} is a place of the results folder; choose another name")
    if not _may_be_removed(name):
        raise InputError(option, f"{name} is somebody else's in a folder where only its owner may remove it")


def _check_is_list(option: str, file: str) -> None:
    """Whoever takes FILE for one that is read would lose it: of a gate there are always the other spellings, too.

    The plain names are written first and removed last, so a gate that was killed leaves these two. An empty file is one
    that mktemp made.
    """
    first, *others = names_of(file)
    if all(is_file(Path(name)) for name in others):
        return
    for name in (first, *others):
        with contextlib.suppress(OSError):
            if Path(name).stat().st_size:
                beside = " and ".join(one for one in names_of(file) if one != name)
                problem = f"{name} is there and no gate wrote it (there is no {beside}); it would be lost"
                raise InputError(option, f"{problem}: choose another name")


def _may_be_removed(name: str) -> bool:
    """Whether the sticky bit of the folder, as that of /tmp, lets us."""
    try:
        folder, file = Path(name).parent.stat(), Path(name).lstat()
    except OSError:
        return True
    return not folder.st_mode & stat.S_ISVTX or os.geteuid() in (0, folder.st_uid, file.st_uid)


def remove_old(asked: GateAsked) -> tuple[str, ...]:
    """Take the lists of an earlier gate away, before this one begins: they must never be taken for its own.

    The names that were removed; StoreError where one cannot be.
    """
    removed = []
    for _, file in options_of(asked):
        for name in names_of(file):
            try:
                Path(name).unlink()
                removed.append(name)
            except FileNotFoundError:
                continue
            except OSError as error:
                raise StoreError(f"cannot remove the old {name}: {error.strerror}") from error
    return tuple(removed)


def write_lists(lists: Iterable[Lists]) -> tuple[Message, ...]:
    """Every spelling, the hostfile last: where it is, the others are. A sentence for each list that could not be
    written, of which then no spelling stays: half of one would be taken for all of it."""
    return tuple(problem for one in lists if (problem := _write(one)) is not None)


def _write(one: Lists) -> Message | None:
    # Those of before are gone since the beginning: what lies there is of a gate that ended meanwhile, whose nodes these
    # are not, and whose job may be about to start with it.
    other = next((name for name, _ in one.files if os.path.lexists(name)), None)
    if other is not None:
        return say("gate.unwritten", file=one.files[0][0], problem=say("gate.meanwhile", file=other))
    try:
        for name, content in reversed(one.files):
            write_atomically(Path(name), content.encode("utf-8", "backslashreplace"))
    except StoreError as error:
        for name, _ in one.files:
            with contextlib.suppress(OSError):
                Path(name).unlink()
        reason = error.__cause__.strerror if isinstance(error.__cause__, OSError) else None
        return say("gate.unwritten", file=one.files[0][0], problem=reason or str(error))
    return None
