"""Saved JSON documents of `healthcheck vitals`, read back: which kind a file holds, and what it says."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec
from msgspec import Struct

from healthcheck.edge.shipped import read_text
from healthcheck.errors import InputError
from healthcheck.model import vitals_log, vitals_mfu, vitals_trace
from healthcheck.model.record import SCHEMA as RUN_SCHEMA
from healthcheck.model.vitals_log import LogVitals
from healthcheck.model.vitals_mfu import MfuAnswer
from healthcheck.model.vitals_trace import TraceVitals
from healthcheck.parsing.record_codec import decode_document

MOST_BYTES = 64_000_000
Document = LogVitals | TraceVitals | MfuAnswer
_WORDS = "what `healthcheck vitals log`, `vitals trace` or `vitals mfu` prints with --json"


class Saved(Struct, frozen=True):
    """One document and the file it was read from."""

    file: str
    document: Document


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
    if schema == vitals_log.SCHEMA:
        return Saved(where, decode_document(data, where, LogVitals, schema, "document of vitals log"))
    if schema == vitals_trace.SCHEMA:
        return Saved(where, decode_document(data, where, TraceVitals, schema, "document of vitals trace"))
    if schema == vitals_mfu.MFU_SCHEMA:
        return Saved(where, decode_document(data, where, MfuAnswer, schema, "document of vitals mfu"))
    raise InputError(where, _other(schema))


def read_documents(paths: Iterable[Path]) -> tuple[Saved, ...]:
    """All of them, at most one of a kind; InputError for a second one."""
    found: list[Saved] = []
    for path in paths:
        saved = read_document(path)
        twin = next((one for one in found if type(one.document) is type(saved.document)), None)
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
