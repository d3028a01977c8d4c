"""Documents of a training kept beside the inputs of a run, so that its pages can be made again without the files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from healthcheck.edge.places import is_file
from healthcheck.edge.rejudged import is_rejudged
from healthcheck.edge.vitals_documents import Saved, read_document
from healthcheck.errors import InputError
from healthcheck.model import vitals_log, vitals_mfu, vitals_trace
from healthcheck.model.vitals_log import LogVitals
from healthcheck.model.vitals_trace import TraceVitals
from healthcheck.parsing.record_codec import encode_document
from healthcheck.ports import RunStore

_KINDS = ("log", "trace", "mfu")


def keep_training(store: RunStore, saved: Sequence[Saved]) -> None:
    """Write them to `inputs/vitals-KIND.json`; each replaces an earlier one of its kind."""
    for one in saved:
        kind, schema = _kind(one)
        store.write(_name(kind), encode_document(schema, one.document))


def kept_training(folder: Path) -> tuple[tuple[Saved, ...], tuple[str, ...]]:
    """What is kept beside a run, and a sentence for each that cannot be read: nothing in here stops the pages."""
    of = folder.parent if is_rejudged(folder) else folder
    found: list[Saved] = []
    problems: list[str] = []
    for kind in _KINDS:
        path = of / _name(kind)
        if not is_file(path):
            continue
        try:
            found.append(read_document(path))
        except InputError as error:
            problems.append(str(error))
    return tuple(found), tuple(problems)


def _kind(saved: Saved) -> tuple[str, str]:
    if isinstance(saved.document, LogVitals):
        return "log", vitals_log.SCHEMA
    if isinstance(saved.document, TraceVitals):
        return "trace", vitals_trace.SCHEMA
    return "mfu", vitals_mfu.MFU_SCHEMA


def _name(kind: str) -> str:
    return f"inputs/vitals-{kind}.json"
