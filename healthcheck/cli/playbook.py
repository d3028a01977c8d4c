"""`healthcheck playbook`: is a playbook right, and what may stand in one."""

from __future__ import annotations

from typing import Annotated

import typer

app = typer.Typer(name="playbook", help="Playbooks: check, schema.", no_args_is_help=True, rich_markup_mode=None)


@app.command("list", epilog="Example: healthcheck playbook list")
def list_() -> None:
    """List the playbooks that come with healthcheck."""
    from healthcheck.cli.exits import out
    from healthcheck.edge.shipped import load_playbook, shipped_playbooks

    names = shipped_playbooks()
    width = max(len(name) for name in names)
    for name in names:
        out(f"{name:<{width}}  {load_playbook(name)[0].description}")


@app.command(epilog="Example: healthcheck playbook check my-playbook.yaml")
def check(
    playbook: Annotated[str, typer.Argument(metavar="NAME|FILE", help="A shipped name, or a YAML file.")],
) -> None:
    """Check a playbook and say what it runs; exit 2 with file, line and key when something is wrong."""
    from healthcheck.cli.exits import out
    from healthcheck.edge.shipped import load_playbook

    read, _ = load_playbook(playbook)
    out(f"{read.name}: ok, runs {', '.join(stage.name for stage in read.stages)}")


@app.command(epilog="Example: healthcheck playbook schema > playbook.schema.json")
def schema() -> None:
    """Print the JSON Schema of a playbook, for editors."""
    import msgspec

    from healthcheck.cli.exits import out
    from healthcheck.parsing.playbook import playbook_schema

    out(msgspec.json.format(msgspec.json.encode(playbook_schema()), indent=2).decode())
