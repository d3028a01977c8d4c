"""`healthcheck vitals`: is the training itself healthy? One file a command; none of them needs a GPU."""

from __future__ import annotations

import typer

from healthcheck.cli.usage import OneSentence

app = typer.Typer(
    cls=OneSentence,
    name="vitals",
    help="The training itself: step time, MFU, goodput.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
