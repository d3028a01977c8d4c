"""`raw/circumstances.json`, there and back."""

from __future__ import annotations

import msgspec

from healthcheck.errors import InputError
from healthcheck.model.circumstances import SCHEMA, Circumstances


def encode_circumstances(circumstances: Circumstances) -> bytes:
    """The file, as one line of JSON."""
    return msgspec.json.encode(circumstances) + b"\n"


def decode_circumstances(data: bytes, source: str) -> Circumstances:
    """What is in `data`; InputError naming `source` when it is cut or of another schema."""
    try:
        found = msgspec.json.decode(data, type=Circumstances)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(source, f"is damaged, so the run cannot be judged again: {error}") from None
    if found.schema != SCHEMA:
        raise InputError(source, f"is of another version: it has the schema {found.schema!a}, expected {SCHEMA!r}")
    return found
