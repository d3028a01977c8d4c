"""`metrics.prom` where node_exporter reads it: whole or not at all, and readable by whoever runs node_exporter."""

from __future__ import annotations

import os
from pathlib import Path

from healthcheck.edge.places import exists, is_file, is_folder, is_link
from healthcheck.edge.store import write_atomically
from healthcheck.errors import InputError, StoreError
from healthcheck.model.message import Message, say
from healthcheck.model.record import RunRecord
from healthcheck.reporting.prometheus import render_metrics

OPTION = "--metrics-file"
SUFFIX = ".prom"
READABLE = 0o644


def check_metrics_file(path: Path) -> None:
    """InputError for a place that could never be read or written; nothing was touched then."""
    if not str(path).isprintable() or any("\ud800" <= char <= "\udfff" for char in str(path)):
        raise InputError(OPTION, f"{str(path)!a} is not one line of UTF-8 text")
    if path.suffix != SUFFIX or path.name.startswith("."):
        raise InputError(OPTION, f"must end in {SUFFIX}, or node_exporter does not read it; got {path}")
    if not is_folder(path.parent):
        raise InputError(OPTION, f"there is no folder {path.parent}; name the one of --collector.textfile.directory")
    if exists(path) and not is_file(path):
        raise InputError(OPTION, f"{path} is there and is no file; choose another name")
    real = _behind_links(path)
    if is_link(real) or not is_folder(real.parent):
        raise InputError(OPTION, f"{path} is a symbolic link that leads nowhere; mend it, or choose another name")


def write_metrics(record: RunRecord, path: Path) -> Message | None:
    """Replace the file at once; why that failed, which is a note and no verdict. The temporary name has no .prom.

    A link that somebody put there stays, and what it leads to is replaced.
    """
    try:
        write_atomically(_behind_links(path), render_metrics(record).encode("utf-8", "backslashreplace"), mode=READABLE)
    except StoreError as error:
        return say("notify.metrics_lost", problem=str(error))
    return None


def _behind_links(path: Path) -> Path:
    """Where the file really lies; a link that leads to itself is its own end."""
    return Path(os.path.realpath(path))
