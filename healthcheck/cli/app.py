"""The command line: one typer app, one file a command. Only light imports here: this is the path of `--help`."""

from __future__ import annotations

import typer

from healthcheck import __version__
from healthcheck.cli import clean, demo, doctor, parse, platform, playbook, probe, report, run, simulate

app = typer.Typer(
    name="healthcheck",
    help="Check-up of the NVLink and InfiniBand of GPU clusters: measure, judge, name the sick part.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"healthcheck {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: bool = typer.Option(
        False, "--version", help="Print the version and exit.", callback=_print_version, is_eager=True
    ),
) -> None:
    """Check-up of the NVLink and InfiniBand of GPU clusters."""


app.command("demo")(demo.command)
app.command("run")(run.command)
app.command("plan")(run.command)
app.command("probe")(probe.command)
app.command("parse")(parse.command)
app.command("report")(report.command)
app.command("doctor")(doctor.command)
app.command("clean")(clean.command)
app.command("simulate")(simulate.command)
app.add_typer(platform.app)
app.add_typer(playbook.app)
