"""Stored runs as digests: which run directories a word of the command line means, and what is read of each."""

from __future__ import annotations

from pathlib import Path

import msgspec

from healthcheck.edge.places import is_file, is_folder
from healthcheck.edge.store import RECORD, earlier_runs
from healthcheck.errors import InputError
from healthcheck.model.digest import RunDigest
from healthcheck.parsing.record_digest import decode_digest
from healthcheck.workflows.files_only import read_file

OPTIONS = "inputs/options.json"


def run_folders(named: str, results: Path) -> tuple[Path, ...]:
    """The run directories that `named` means: one by its folder, a file of it or its id below `results`, or all of a
    folder of runs, oldest first. InputError where it is none of these."""
    path = Path(named)
    for folder in (path.parent if is_file(path) else path, results / named):
        if is_file(folder / RECORD):
            return (folder,)
    if is_folder(path):
        found = tuple(reversed(earlier_runs(path)))
        if found:
            return found
    raise InputError(named, f"is neither a run directory nor a folder of them: there is no {RECORD} in it")


def read_digest(folder: Path) -> RunDigest:
    """What baseline, history and comparison read of a run; InputError naming its record where that is no record."""
    path = folder / RECORD
    try:
        data = read_file(path)
    except OSError as error:
        raise InputError(str(path), f"cannot be read: {error.strerror}") from None
    return decode_digest(data, str(path))


class Fleet(msgspec.Struct, frozen=True):
    """What a run simulated inside its process: `seed` makes the machines, `faults` were planted in them."""

    simulate: int | None = None
    seed: int = 0
    faults: tuple[str, ...] = ()


def fleet_name(seed: int) -> str:
    """The machines of a seed as a baseline calls them."""
    return f"seed {seed}"


def simulated_fleet(folder: Path) -> Fleet | None:
    """The cluster that the run in `folder` simulated; None where it did not, or where nobody can tell any more."""
    try:
        fleet = msgspec.json.decode(read_file(folder / OPTIONS), type=Fleet)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None
    return None if fleet.simulate is None else fleet
