"""The table of commands: which module holds each, and its line in `healthcheck --help`.

A module is imported, and its options are read, only when its command is named: `--help` needs none of them, and a
command that runs before every job of a cluster needs one.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command, get_group

from healthcheck.cli.usage import OneSentence


class Place(NamedTuple):
    """Where a command lives: `command` of a module in `healthcheck.cli`, or its `app` of several commands."""

    module: str
    # The list of commands has room for 45 characters; a longer sentence would be cut in the middle.
    short_help: str
    # Where one function serves two commands; else the docstring is the help.
    help: str | None = None


PLAN_HELP = """Print every job of a check-up with its command line and an estimate in minutes; run nothing.

It takes the arguments of run, and prints what run would do.

Example: healthcheck plan full -H cluster.hosts
"""

COMMANDS: Final[Mapping[str, Place]] = {
    "demo": Place("demo", "A whole check-up on a simulated cluster."),
    "run": Place("run", "The check-up: probe, measure, judge, report."),
    "plan": Place("run", "What run would do, with every command line.", PLAN_HELP),
    "gate": Place("gate", "Pre-flight of a job: are these nodes fit?"),
    "probe": Place("probe", "Look at every node; load and change nothing."),
    "localise": Place("localise", "Search for who slows a job between nodes."),
    "parse": Place("parse", "Read saved output of nccl-tests."),
    "report": Place("report", "Render the pages of a stored run again."),
    "baseline": Place("baseline", "Limits of healthy runs, for --baseline."),
    "compare": Place("compare", "What got worse between two runs, and where."),
    "history": Place("history", "The trend of the fleet or one host."),
    "prune": Place("prune", "Old runs away, the newest kept."),
    "rejudge": Place("rejudge", "Judge a stored run by other limits."),
    "explain": Place("explain", "What a cause, check or rule means."),
    "doctor": Place("doctor", "Can this machine run a check-up?"),
    "clean": Place("clean", "End what a killed run left on the nodes."),
    "simulate": Place("simulate", "Serve a simulated cluster over SSH."),
    "platform": Place("platform", "Machine types and their peaks."),
    "playbook": Place("playbook", "Playbooks: check, schema."),
    "schedule": Place("schedule", "Files that have a check-up come back."),
    "slurm": Place("slurm", "Drained nodes of a run under Slurm."),
    "vitals": Place("vitals", "The training: step time, MFU, goodput."),
    "diagnose": Place("diagnose", "Links and training together: what to do."),
}


class Commands(OneSentence):
    """All commands of the table, each a name and a line until it is named on the command line."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for name, place in COMMANDS.items():
            self.add_command(TyperCommand(name, callback=None, short_help=place.short_help))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is named, imported now; InputError for one that does not exist."""
        if args[0] in COMMANDS:
            self.add_command(_imported(args[0], COMMANDS[args[0]]))
        return super().resolve_command(ctx, args)


def _imported(name: str, place: Place) -> TyperCommand | TyperGroup:
    module = import_module(f"healthcheck.cli.{place.module}")
    several = getattr(module, "app", None)
    if isinstance(several, typer.Typer):
        return get_group(several)
    alone = typer.Typer(add_completion=False, rich_markup_mode=None)
    alone.command(name, short_help=place.short_help, help=place.help)(module.command)
    command = get_command(alone)
    assert isinstance(command, TyperCommand)
    return command
