"""The lists of a gate at its end: written where a set of nodes was proven, and what is told of them."""

from __future__ import annotations

import contextlib

from healthcheck.cli.exits import say
from healthcheck.edge.gate_files import options_of, write_lists
from healthcheck.errors import StoreError
from healthcheck.evaluation.gate import without_lists
from healthcheck.model.message import Message
from healthcheck.model.message import say as message
from healthcheck.model.record import RunRecord
from healthcheck.ports import RunStore
from healthcheck.reporting.gate_lists import gate_lists


def settle_lists(record: RunRecord, store: RunStore) -> tuple[RunRecord, tuple[Message, ...]]:
    """Write them; the record as it is then, and a sentence for each list that was asked for.

    Where one cannot be written the gate does not pass, and the record is stored anew, so that the line, the pages, the
    alert and the exit code all say the same. Where that fails too, what was measured is stored already.
    """
    if record.gate is None:
        return record, ()
    asked, lists = record.gate.asked, gate_lists(record)
    unwritten = write_lists(lists)
    if unwritten:
        record = without_lists(record, unwritten)
        with contextlib.suppress(StoreError):
            store.save_record(record)
        # Also where it is to be quiet: it is why the gate does not pass.
        for problem in unwritten:
            say(f"error: {problem}")
        return record, ()
    if not lists:
        return record, tuple(message("gate.not_written", file=file) for _, file in options_of(asked))
    told = []
    for one in lists:
        (name, _), (slurm, _), (plain, _) = one.files
        told.append(message("gate.wrote", file=name, n=one.n, slurm=slurm, plain=plain))
    return record, tuple(told)


def tell_removed(removed: tuple[str, ...], quiet: bool) -> None:
    """Lists of an earlier gate are gone as soon as this one begins."""
    if removed and not quiet:
        say(str(message("cli.note", what=message("gate.removed", files=", ".join(removed)))))
