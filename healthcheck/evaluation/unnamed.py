"""Which collective is a saved table about that does not say so? As its reader says, else the only one that fits."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from healthcheck.model.collective import Collective
from healthcheck.model.measurement import CollectiveTable, ParsedOutput, ParseWarning
from healthcheck.parsing.nccl_tests.consistency import find_contradictions, only_fit

INFERRED = "collective_inferred"


def with_names(output: ParsedOutput, given: Collective | None, *, infer: bool) -> ParsedOutput:
    """The output with a collective for each table that printed none: `given`, or with `infer` the only one whose factor
    and reduction its numbers show. A warning says where each comes from; what nobody can tell stays None."""
    told = [_told(table, given, infer=infer) for table in output.tables]
    if not any(warnings for _, warnings in told):
        return output
    tables = tuple(table for table, _ in told)
    added = tuple(warning for _, warnings in told for warning in warnings)
    return replace(output, tables=tables, warnings=(*output.warnings, *added))


def _told(
    table: CollectiveTable, given: Collective | None, *, infer: bool
) -> tuple[CollectiveTable, tuple[ParseWarning, ...]]:
    if table.collective is not None:
        return table, ()
    found = given or (only_fit(table) if infer else None)
    if found is None:
        return table, ()
    named = replace(table, collective=found.value)
    return named, tuple(_warnings(named, found, given))


def _warnings(named: CollectiveTable, found: Collective, given: Collective | None) -> Iterator[ParseWarning]:
    source = "--collective" if given is not None else "its numbers: no other one that adds up has this busbw for algbw"
    yield ParseWarning(INFERRED, f"collective {found.value} taken from {source}")
    odd = find_contradictions(named)
    if odd is not None:
        yield odd
