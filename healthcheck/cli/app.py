"""The command line: one typer app, one file a command, listed in `commands.py` and imported when it is named."""

from __future__ import annotations

from pathlib import Path

import typer

from healthcheck import __version__
from healthcheck.cli.commands import Commands
from healthcheck.cli.exits import out
from healthcheck.errors import InputError

app = typer.Typer(
    name="healthcheck",
    cls=Commands,
    help="Check-up of the NVLink and InfiniBand of GPU clusters: measure, judge, name the sick part.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        out(f"healthcheck {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: bool = typer.Option(
        False, "--version", help="Print the version and exit.", callback=_print_version, is_eager=True
    ),
) -> None:
    """Check-up of the NVLink and InfiniBand of GPU clusters."""
    try:
        Path.cwd()
    except OSError:
        raise InputError("working directory", "is gone; change to a folder that exists (cd) and try again") from None
