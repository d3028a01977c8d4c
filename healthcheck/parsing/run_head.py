"""The few words of a record that say what kind of run it was, without reading the rest."""

from __future__ import annotations

from typing import Literal

import msgspec

from healthcheck.errors import InputError
from healthcheck.model.record import SCHEMA, Owner
from healthcheck.model.retention import KeptRun


class _Playbook(msgspec.Struct, frozen=True):
    name: str = ""


class _Provenance(msgspec.Struct, frozen=True):
    only: str = ""


class _Head(msgspec.Struct, frozen=True):
    schema: str
    run_id: str
    state: Literal["incomplete", "complete", "interrupted"]
    simulated: bool
    owner: Owner
    playbook: _Playbook
    provenance: _Provenance = _Provenance()
    gate: msgspec.Raw = msgspec.Raw(b"null")


_READ = msgspec.json.Decoder(_Head)


def decode_head(data: bytes, source: str, stamp: tuple[int, int]) -> KeptRun:
    """What is asked of the record in `data` before it is kept or not; InputError naming `source` when it is none."""
    try:
        head = _READ.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise InputError(source, f"cannot be read as a run record: {error}") from None
    if head.schema != SCHEMA:
        raise InputError(source, f"is of schema {head.schema[:40]!a}; this version knows {SCHEMA}")
    gate = bytes(head.gate) != b"null"
    return KeptRun(
        head.run_id, head.playbook.name, head.provenance.only, gate, head.simulated, head.state, head.owner, stamp
    )
