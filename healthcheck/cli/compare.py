"""`healthcheck compare BEFORE AFTER`: what got worse between two runs, where, and what was changed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from healthcheck.cli import options
from healthcheck.cli.language import in_english

if TYPE_CHECKING:
    from collections.abc import Iterator

    from healthcheck.model.digest import RunDigest


def command(
    before: Annotated[
        str | None, typer.Argument(metavar="[BEFORE]", help="A run directory, or a run id below --results.")
    ] = None,
    after: Annotated[
        str | None, typer.Argument(metavar="[AFTER]", help="The run to hold against it, named in the same way.")
    ] = None,
    last: Annotated[bool, typer.Option("--last", help="Compare the two newest comparable runs of --results.")] = False,
    html: Annotated[Path | None, typer.Option("--html", help="Write the story as one HTML page, too.")] = None,
    results: options.Results = options.DEFAULT_RESULTS,
    json: options.Json = False,
    quiet: options.Quiet = False,
    lang: options.Lang = None,
) -> None:
    """Compare two runs node by node: who got better or worse beyond noise, who is missing, and what was changed.

    Exit code: 4 when something got worse; else 3 when something, or everything, could not be compared; else 0.

    Example: healthcheck compare 20260314T021503Z-qhzt 20260401T031122Z-abzd
    """
    import sys

    from healthcheck.cli.document import print_json
    from healthcheck.cli.exits import EXIT_INCONCLUSIVE, out, say
    from healthcheck.cli.html_page import check_place, write_page
    from healthcheck.cli.terminal import width
    from healthcheck.errors import InputError
    from healthcheck.evaluation.comparison import compare
    from healthcheck.reporting.compared import compared_line, compared_lines, document
    from healthcheck.reporting.compared_html import render_comparison

    if last and (before or after):
        raise InputError("--last", "picks both runs itself; name two runs, or give --last alone")
    if html is not None:
        check_place(html)
    pair = _newest(results, json) if last else _named(before, after, results)
    if pair is None:
        raise typer.Exit(EXIT_INCONCLUSIVE)
    one, other = pair
    comparison = compare(one, other)
    if not quiet:
        for line in compared_lines(comparison, width(sys.stderr)):
            say(line)
    if html is not None:
        write_page(html, render_comparison(comparison))
    with in_english():
        if json:
            print_json(document(comparison))
        else:
            out(compared_line(comparison))
    raise typer.Exit(comparison.exit_code)


def _named(before: str | None, after: str | None, results: Path) -> tuple[RunDigest, RunDigest]:
    from healthcheck.edge.digests import read_digest, run_folders
    from healthcheck.errors import InputError

    if before is None or after is None:
        raise InputError("compare", "two runs are needed, BEFORE and AFTER; or --last for the two newest")
    found = []
    for named in (before, after):
        folders = run_folders(named, results)
        if len(folders) > 1:
            raise InputError(named, f"holds {len(folders)} runs; name one of them, such as {folders[-1]}")
        found.append(read_digest(folders[0]))
    return found[0], found[1]


def _newest(results: Path, json: bool) -> tuple[RunDigest, RunDigest] | None:
    """The pair of --last; without one, None, after it was told how many runs there are and why they do not pair."""
    from healthcheck.cli.document import print_json
    from healthcheck.cli.exits import EXIT_INCONCLUSIVE, say
    from healthcheck.edge.places import is_folder
    from healthcheck.errors import InputError
    from healthcheck.reporting.compared import nothing_document, nothing_message
    from healthcheck.reporting.figures import one_line
    from healthcheck.workflows.compare import newest_pair

    if not is_folder(results):
        raise InputError("-o", f"there is no folder {results}; name the one the runs are in")
    newest = newest_pair(_readable(results))
    for note in newest.notes:
        say(one_line(str(note)))
    if newest.pair is None:
        told = nothing_message(newest.runs, None if newest.alone is None else newest.alone.run_id, str(results))
        say(one_line(str(told)))
        if json:
            with in_english():
                print_json(nothing_document(told, newest.notes, newest.runs, EXIT_INCONCLUSIVE))
    return newest.pair


def _readable(results: Path) -> Iterator[RunDigest]:
    """Runs, newest first, one at a time; a record that cannot be read is said and passed over."""
    from healthcheck.cli.exits import say
    from healthcheck.edge.digests import read_digest
    from healthcheck.edge.store import earlier_runs
    from healthcheck.errors import InputError
    from healthcheck.model.message import say as message
    from healthcheck.reporting.figures import one_line

    for folder in earlier_runs(results):
        try:
            yield read_digest(folder)
        except InputError as error:
            say(one_line(str(message("cli.passed_over", problem=str(error)))))
