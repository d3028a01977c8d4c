"""Captures on disk: which of them were cut off, so that something of them may still be on their hosts."""

from __future__ import annotations

from pathlib import Path

from healthcheck.edge.owner import is_dead, user_name
from healthcheck.edge.places import is_file, is_folder
from healthcheck.errors import InputError
from healthcheck.model.vitals_capture import BEGUN_SCHEMA, CaptureBegun
from healthcheck.parsing.record_codec import decode_document

FOLDER = "captures"
BEGUN = "inputs/begun.json"
ENDED = "capture.json"
CLEANED = "inputs/cleaned"


def dead_captures(results: Path) -> tuple[tuple[Path, CaptureBegun], ...]:
    """(folder, what was begun) of the captures of this user whose process of this machine is gone, oldest first."""
    found = []
    folder = results / FOLDER
    for path in sorted(folder.iterdir()) if is_folder(folder) else ():
        if is_file(path / ENDED) or is_file(path / CLEANED) or not is_file(path / BEGUN):
            continue
        try:
            data = (path / BEGUN).read_bytes()
            begun = decode_document(data, str(path / BEGUN), CaptureBegun, BEGUN_SCHEMA, "begin of a capture")
        except (InputError, OSError):
            continue  # of a newer version, or of somebody else: not ours to clean
        if begun.owner.user == user_name() and is_dead(begun.owner):
            found.append((path, begun))
    return tuple(found)
