"""The command line: one typer app, one file a command. Only light imports here: this is the path of `--help`."""

from __future__ import annotations

from pathlib import Path

import typer

from healthcheck import __version__
from healthcheck.cli import (
    baseline,
    clean,
    compare,
    demo,
    doctor,
    explain,
    gate,
    history,
    localise,
    parse,
    platform,
    playbook,
    probe,
    prune,
    rejudge,
    report,
    run,
    simulate,
    slurm,
)
from healthcheck.cli.exits import out
from healthcheck.cli.usage import OneSentence
from healthcheck.errors import InputError

app = typer.Typer(
    name="healthcheck",
    cls=OneSentence,
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


PLAN_HELP = """Print every job of a check-up with its command line and an estimate in minutes; run nothing.

It takes the arguments of run, and prints what run would do.

Example: healthcheck plan full -H cluster.hosts
"""

# The list of commands has room for 45 characters; a longer sentence would be cut in the middle.
app.command("demo", short_help="A whole check-up on a simulated cluster.")(demo.command)
app.command("run", short_help="The check-up: probe, measure, judge, report.")(run.command)
app.command("plan", short_help="What run would do, with every command line.", help=PLAN_HELP)(run.command)
app.command("gate", short_help="Pre-flight of a job: are these nodes fit?")(gate.command)
app.command("probe", short_help="Look at every node; load and change nothing.")(probe.command)
app.command("localise", short_help="Search for who slows a job between nodes.")(localise.command)
app.command("parse", short_help="Read saved output of nccl-tests.")(parse.command)
app.command("report", short_help="Render the pages of a stored run again.")(report.command)
app.command("baseline", short_help="Limits of healthy runs, for --baseline.")(baseline.command)
app.command("compare", short_help="What got worse between two runs, and where.")(compare.command)
app.command("history", short_help="The trend of the fleet or one host.")(history.command)
app.command("prune", short_help="Old runs away, the newest kept.")(prune.command)
app.command("rejudge", short_help="Judge a stored run by other limits.")(rejudge.command)
app.command("explain", short_help="What a cause, check or rule means.")(explain.command)
app.command("doctor", short_help="Can this machine run a check-up?")(doctor.command)
app.command("clean", short_help="End what a killed run left on the nodes.")(clean.command)
app.command("simulate", short_help="Serve a simulated cluster over SSH.")(simulate.command)
app.add_typer(platform.app)
app.add_typer(playbook.app)
app.add_typer(slurm.app)
