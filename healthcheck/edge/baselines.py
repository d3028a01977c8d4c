"""Baseline files: the one a user names, and the copy a run keeps of what it was judged by."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from healthcheck.edge.places import is_file, is_folder, is_link
from healthcheck.edge.shipped import read_text
from healthcheck.edge.store import write_atomically
from healthcheck.errors import InputError, StoreError
from healthcheck.model.baseline import Baseline
from healthcheck.parsing.baseline import MAX_BYTES, encode_baseline, parse_baseline
from healthcheck.workflows.baseline import STORED


def load_baseline(path: Path) -> Baseline:
    """The baseline in a file, which becomes its `source`; InputError naming file and key where it is none."""
    return replace(parse_baseline(read_text(path, MAX_BYTES), str(path)), source=str(path))


def stored_baseline(folder: Path) -> Baseline | None:
    """What the run in `folder` was judged by, with the source it had then; None where it had none."""
    path = folder / STORED
    return parse_baseline(read_text(path, MAX_BYTES), str(path)) if is_file(path) else None


def write_baseline(path: Path, baseline: Baseline) -> None:
    """The file, whole or not at all, only its owner may read it. InputError where there is no place for it."""
    if is_folder(path):
        raise InputError("-o", f"{path} is a folder; name the file to write, such as {path / 'baseline.json'}")
    if not is_folder(path.parent):
        raise InputError("-o", f"there is no folder {path.parent} to write {path.name} in")
    if is_link(path):
        # It would be replaced: /dev/stdout by a file, for everybody, where root does it.
        raise InputError("-o", f"{path} is a symbolic link; name the file itself")
    try:
        write_atomically(path, encode_baseline(baseline).encode())
    except StoreError as error:
        raise InputError("-o", str(error)) from error
