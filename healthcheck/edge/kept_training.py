"""Documents of a training kept beside the inputs of a run, so that its pages can be made again without the files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from healthcheck.edge.places import is_file
from healthcheck.edge.rejudged import is_rejudged
from healthcheck.edge.vitals_documents import Saved, read_document
from healthcheck.errors import InputError
from healthcheck.model.vitals_document import DocumentKind, kind_of
from healthcheck.parsing.record_codec import encode_document
from healthcheck.ports import RunStore


def keep_training(store: RunStore, saved: Sequence[Saved]) -> None:
    """Write them to `inputs/vitals-KIND.json`; each replaces an earlier one of its kind."""
    for one in saved:
        kind = kind_of(one.document)
        store.write(_name(kind), encode_document(kind.schema, one.document))


def kept_training(folder: Path) -> tuple[tuple[Saved, ...], tuple[str, ...]]:
    """What is kept beside a run, and a sentence for each that cannot be read: nothing in here stops the pages."""
    of = folder.parent if is_rejudged(folder) else folder
    found: list[Saved] = []
    problems: list[str] = []
    for kind in DocumentKind:
        path = of / _name(kind)
        if not is_file(path):
            continue
        try:
            found.append(read_document(path))
        except InputError as error:
            problems.append(str(error))
    return tuple(found), tuple(problems)


def _name(kind: DocumentKind) -> str:
    return f"inputs/vitals-{kind.value}.json"
