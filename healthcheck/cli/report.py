"""`healthcheck report RUN`: render the reports of a stored run again, from its record alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from healthcheck.cli import options

if TYPE_CHECKING:
    from healthcheck.model.vitals_document import VitalsDocument


def command(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run directory, or a run id below --results.")],
    vitals: Annotated[
        list[Path] | None,
        typer.Option(
            "--vitals",
            metavar="V",
            help="What vitals log, vitals trace or vitals mfu printed with --json about the training on these nodes; "
            "kept with the run, shown in its report and in vitals.html. Repeatable.",
        ),
    ] = None,
    results: options.Results = options.DEFAULT_RESULTS,
    json: options.Json = False,
    lang: options.Lang = None,
) -> None:
    """Render the pages, host lists, suggested actions, junit.xml and metrics.prom of a run again. --json: its record.

    Example: healthcheck report 20260314T021503Z-qhzt --vitals vitals-log.json
    """
    from healthcheck.cli.exits import out, say
    from healthcheck.edge.clock import SystemClock
    from healthcheck.edge.earlier import settled_earlier
    from healthcheck.edge.kept_training import keep_training
    from healthcheck.edge.store import DirectoryStore
    from healthcheck.edge.vitals_documents import read_documents
    from healthcheck.model.message import say as message
    from healthcheck.parsing.record_codec import encode_record
    from healthcheck.reporting.summary import stdout_line
    from healthcheck.workflows.pages import write_pages
    from healthcheck.workflows.training import beside

    store = DirectoryStore.open(run, results, SystemClock())
    record = store.load_record()
    if vitals:
        keep_training(store, read_documents(vitals))
    write_pages(record, store, settled_earlier(record, store), beside(record, kept(store.folder)))
    say(str(message("cli.wrote_pages", page=str(store.folder / "report.html"))))
    out(encode_record(record).decode().rstrip("\n") if json else stdout_line(record))


def kept(folder: Path) -> tuple[VitalsDocument, ...]:
    """The documents of the training kept beside a run; one that cannot be read is said and passed over."""
    from healthcheck.cli.exits import say
    from healthcheck.edge.kept_training import kept_training
    from healthcheck.model.message import say as message

    saved, problems = kept_training(folder)
    for problem in problems:
        say(str(message("cli.passed_over", problem=problem)))
    return tuple(one.document for one in saved)
