"""Saved JSON documents of `healthcheck vitals`, read back: which kind a file holds, and what it says."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec
from msgspec import Struct

from healthcheck.edge.shipped import read_text
from healthcheck.errors import InputError
from healthcheck.model.record import SCHEMA as RUN_SCHEMA
from healthcheck.model.vitals_document import DocumentKind, VitalsDocument, kind_of
from healthcheck.parsing.record_codec import decode_document

MOST_BYTES = 64_000_000
_WORDS = "what `healthcheck vitals log`, `vitals trace` or `vitals mfu` prints with --json"


class Saved(Struct, frozen=True):
    """One document and the file it was read from."""

    file: str
    document: VitalsDocument


class _Head(Struct):
    schema: str | None = None


def read_document(path: Path) -> Saved:
    """The document in a file; InputError naming it where it is none of log, trace and mfu."""
    where = str(path)
    data = read_text(path, MOST_BYTES).encode()
    if not data.strip():
        raise InputError(where, f"is empty; it should hold {_WORDS}")
    try:
        schema = msgspec.json.decode(data, type=_Head).schema
    except (msgspec.DecodeError, RecursionError):
        raise InputError(where, f"is cut off or no JSON document; it should hold {_WORDS}") from None
    for kind in DocumentKind:
        if schema == kind.schema:
            return Saved(where, decode_document(data, where, kind.type, schema, f"document of vitals {kind.value}"))
    raise InputError(where, _other(schema))


def read_documents(paths: Iterable[Path]) -> tuple[Saved, ...]:
    """All of them, at most one of a kind; InputError for a second one."""
    found: list[Saved] = []
    for path in paths:
        saved = read_document(path)
        twin = next((one for one in found if kind_of(one.document) is kind_of(saved.document)), None)
        if twin is not None:
            raise InputError(
                saved.file,
                f"is a second document of the kind of {twin.file}; give one of each kind (vitals log and vitals trace "
                "take several files themselves)",
            )
        found.append(saved)
    return tuple(found)


def _other(schema: str | None) -> str:
    if schema == RUN_SCHEMA:
        return "is the record of a check-up; give it with --record"
    named = "has no schema" if schema is None else f"has the schema {schema[:60]!a}"
    return f"{named}; it should hold {_WORDS}"
