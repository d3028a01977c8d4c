"""The lists of a gate at its end: written where a set of nodes was proven, and what is told of them."""

from __future__ import annotations

from healthcheck.cli.exits import say
from healthcheck.edge.gate_files import options_of, write_lists
from healthcheck.errors import StoreError
from healthcheck.model.message import Message
from healthcheck.model.message import say as message
from healthcheck.model.record import RunRecord
from healthcheck.reporting.gate_lists import gate_lists


def settle_lists(record: RunRecord) -> tuple[tuple[Message, ...], StoreError | None]:
    """Write them; a sentence for each that was asked for, and what went wrong."""
    if record.gate is None:
        return (), None
    lists = gate_lists(record)
    try:
        write_lists(lists)
    except StoreError as error:
        return (), error
    if not lists:
        return tuple(message("gate.not_written", file=file) for _, file in options_of(record.gate.asked)), None
    told = []
    for one in lists:
        (name, _), (slurm, _), (plain, _) = one.files
        told.append(message("gate.wrote", file=name, n=one.n, slurm=slurm, plain=plain))
    return tuple(told), None


def tell_removed(removed: tuple[str, ...], quiet: bool) -> None:
    """Lists of an earlier gate are gone as soon as this one begins."""
    if removed and not quiet:
        say(str(message("cli.note", what=message("gate.removed", files=", ".join(removed)))))
