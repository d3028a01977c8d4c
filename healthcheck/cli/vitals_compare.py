"""`healthcheck vitals compare A B`: two saved documents of a training, and what got worse beyond noise."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

from healthcheck.cli import options
from healthcheck.cli.language import in_english

EXAMPLE = "Example: healthcheck vitals compare before.json after.json"
_NOISE = 2.0


def command(
    before: Annotated[Path, typer.Argument(metavar="A", help="What vitals log, trace or mfu printed with --json.")],
    after: Annotated[Path, typer.Argument(metavar="B", help="The same of another time: is it worse than A?")],
    noise: Annotated[
        float,
        typer.Option("--noise", metavar="PERCENT", help="What two runs may differ by at the least: a rule of thumb."),
    ] = _NOISE,
    json: options.Json = False,
    quiet: options.Quiet = False,
    lang: options.Lang = None,
) -> None:
    """Compare two saved documents of one kind: step time, tokens/s, goodput, parts of a step, busbw of collectives.

    Never a printed TFLOP/s of two versions of a framework, nor MFU of two formulas or peaks.

    Exit code: 4 when something got worse; else 3 when nothing says how fast both are; else 0.
    """
    import sys

    from healthcheck.cli.exits import out, say
    from healthcheck.cli.terminal import width
    from healthcheck.edge.vitals_documents import read_document
    from healthcheck.errors import InputError
    from healthcheck.model.vitals_document import kind_of
    from healthcheck.reporting.vitals_compared import compared_document, compared_line, compared_lines
    from healthcheck.vitals.compare.pairs import compare

    if not (math.isfinite(noise) and 0 <= noise <= 100):
        raise InputError("--noise", f"{noise:g} is out of range; write a number of per cent from 0 to 100")
    one, other = read_document(before), read_document(after)
    kinds = kind_of(one.document), kind_of(other.document)
    if kinds[0] is not kinds[1]:
        raise InputError(
            other.file,
            f"is a document of vitals {kinds[1].value}, {one.file} one of vitals {kinds[0].value}; give two of a kind",
        )
    found = compare(one.document, other.document, (one.file, other.file), noise / 100)
    with in_english():
        out(compared_document(found).rstrip("\n") if json else compared_line(found))
    if not quiet:
        for line in compared_lines(found, width(sys.stderr)):
            say(line)
    raise typer.Exit(found.exit_code)
