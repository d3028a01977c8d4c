"""`healthcheck vitals`: is the training itself healthy? One file a command; none of them needs a GPU."""

from __future__ import annotations

import typer

from healthcheck.cli import vitals_mfu
from healthcheck.cli.usage import OneSentence

app = typer.Typer(
    cls=OneSentence,
    name="vitals",
    help="The training: step time, MFU, goodput.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.command("mfu", epilog=vitals_mfu.EXAMPLE, short_help="The share of the GPUs' peak that is used.")(
    vitals_mfu.command
)
