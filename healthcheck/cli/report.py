"""`healthcheck report RUN`: render the reports of a stored run again, from its record alone."""

from __future__ import annotations

from typing import Annotated

import typer

from healthcheck.cli import options


def command(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run directory, or a run id below --results.")],
    results: options.Results = options.DEFAULT_RESULTS,
    json: options.Json = False,
    lang: options.Lang = None,
) -> None:
    """Render the pages, host lists, suggested actions, junit.xml and metrics.prom of a run again. --json: its record.

    Example: healthcheck report 20260314T021503Z-qhzt
    """
    from healthcheck.cli.exits import out, say
    from healthcheck.edge.clock import SystemClock
    from healthcheck.edge.earlier import settled_earlier
    from healthcheck.edge.store import DirectoryStore
    from healthcheck.model.message import say as message
    from healthcheck.parsing.record_codec import encode_record
    from healthcheck.reporting.summary import stdout_line
    from healthcheck.workflows.pages import write_pages

    store = DirectoryStore.open(run, results, SystemClock())
    record = store.load_record()
    write_pages(record, store, settled_earlier(record, store))
    say(str(message("cli.wrote_pages", page=str(store.folder / "report.html"))))
    out(encode_record(record).decode().rstrip("\n") if json else stdout_line(record))
