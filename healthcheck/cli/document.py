"""One JSON document on stdout, with its schema first."""

from __future__ import annotations

from healthcheck.cli.exits import out


def print_document(schema: str, **fields: object) -> None:
    """`{"schema": schema, ...}`, indented; the values may be anything msgspec writes."""
    print_json({"schema": schema, **fields})


def print_json(document: object) -> None:
    """The document as it is."""
    import msgspec

    out(msgspec.json.format(msgspec.json.encode(document), indent=2).decode())
