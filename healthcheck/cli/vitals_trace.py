"""`healthcheck vitals trace`: where the time of a training step goes, rank by rank, from profiles."""

from __future__ import annotations

from typing import Annotated

import typer

from healthcheck.cli import options
from healthcheck.cli.language import on_stdout

EXAMPLE = "Example: healthcheck vitals trace traces/ --json"


def command(
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE...", help="Profiles of the ranks, or folders of them; - is standard input."),
    ],
    whole: Annotated[
        bool, typer.Option("--whole", help="Take all from the first GPU event to the last as one step.")
    ] = False,
    step_range: Annotated[
        str | None, typer.Option("--step-range", help="Nsight Systems: what a range that is a step is called (regex).")
    ] = None,
    json: options.Json = False,
    html: options.Html = None,
    lang: options.Lang = None,
) -> None:
    """Say where the time of a training step goes: compute, collectives nothing hides, copies, data loading, idle.

    FILE is a trace of torch.profiler (.json, .json.gz) or an export of Nsight Systems (.sqlite). With the files of all
    ranks, waiting for others is told from transfer, and the rank all wait for is named.

    Exit code: 0; 3 when no step with a kernel was recorded.
    """
    import sys

    from healthcheck.cli.exits import out
    from healthcheck.cli.html_page import check_place, write_page
    from healthcheck.cli.terminal import width
    from healthcheck.cli.trace_reading import trace_of
    from healthcheck.model.vitals_trace import SCHEMA
    from healthcheck.parsing.record_codec import encode_document
    from healthcheck.reporting.trace_text import trace_lines
    from healthcheck.reporting.training_page import TrainingShown, render_training

    if html is not None:
        check_place(html)
    found = trace_of(files, whole, step_range)
    if html is not None:
        write_page(html, render_training(TrainingShown(traces=(found,))))
    if json:
        out(encode_document(SCHEMA, found).rstrip("\n"))
    else:
        with on_stdout(lang):
            for line in trace_lines(found, width(sys.stdout)):
                out(line)
    raise typer.Exit(found.exit_code)
