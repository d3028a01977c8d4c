"""`healthcheck playbook`: is a playbook right, and what may stand in one."""

from __future__ import annotations

from typing import Annotated

import typer

from healthcheck.cli import options
from healthcheck.cli.usage import OneSentence

app = typer.Typer(
    cls=OneSentence, name="playbook", help="Playbooks: check, schema.", no_args_is_help=True, rich_markup_mode=None
)


@app.command("list", epilog="Example: healthcheck playbook list")
def list_(json: options.Json = False) -> None:
    """List the playbooks that come with healthcheck."""
    from healthcheck.cli.document import print_document
    from healthcheck.cli.exits import out
    from healthcheck.edge.shipped import load_playbook, shipped_playbooks

    names = shipped_playbooks()
    about = {name: load_playbook(name)[0].description for name in names}
    if json:
        entries = [{"name": name, "description": text} for name, text in about.items()]
        print_document("healthcheck.playbooks/1", playbooks=entries)
        return
    width = max(map(len, names))
    for name, text in about.items():
        out(f"{name:<{width}}  {text}")


@app.command(
    short_help="Check a playbook and say what it runs.", epilog="Example: healthcheck playbook check my-playbook.yaml"
)
def check(
    playbook: Annotated[str, typer.Argument(metavar="NAME|FILE", help="A shipped name, or a YAML file.")],
    json: options.Json = False,
) -> None:
    """Check a playbook and say what it runs; exit 2 with file, line and key when something is wrong."""
    from healthcheck.cli.document import print_document
    from healthcheck.cli.exits import out
    from healthcheck.edge.shipped import load_playbook

    read, _ = load_playbook(playbook)
    stages = [stage.name for stage in read.stages]
    if json:
        print_document("healthcheck.playbook_check/1", ok=True, name=read.name, stages=stages)
    else:
        out(f"{read.name}: ok, runs {', '.join(stages)}")


@app.command(epilog="Example: healthcheck playbook schema > playbook.schema.json")
def schema() -> None:
    """Print the JSON Schema of a playbook, for editors."""
    from healthcheck.cli.document import print_json
    from healthcheck.parsing.playbook import playbook_schema

    print_json(playbook_schema())
