"""`record.json` to a `RunDigest`: only what history and comparison read, straight from the bytes."""

from __future__ import annotations

import msgspec

from healthcheck.errors import InputError
from healthcheck.model.digest import RunDigest
from healthcheck.model.record import SCHEMA
from healthcheck.parsing.strict_yaml import shown


class _Schema(msgspec.Struct, frozen=True):
    schema: str = ""


_READ_SCHEMA = msgspec.json.Decoder(_Schema)
_READ = msgspec.json.Decoder(RunDigest)


def decode_digest(data: bytes, source: str) -> RunDigest:
    """The digest of the record in `data`; InputError naming `source` when it is cut or of another schema."""
    try:
        found = _READ_SCHEMA.decode(data).schema
        if found != SCHEMA:
            has = "no schema" if not found else f"the schema {shown(found)}"
            raise InputError(source, f"is not a run record of this version: it has {has}, expected {SCHEMA!r}")
        return _READ.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(source, f"cannot be read as a run record: {error}") from None
