"""`healthcheck platform`: the machine types, and how their peaks come about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from healthcheck.cli import options, platform_detect
from healthcheck.cli.usage import OneSentence
from healthcheck.model.algorithm import Algorithm
from healthcheck.model.collective import Collective

if TYPE_CHECKING:
    from healthcheck.model.platform import Platform

app = typer.Typer(
    cls=OneSentence, name="platform", help="Machine types and their peaks.", no_args_is_help=True, rich_markup_mode=None
)
app.command("detect", epilog=platform_detect.EXAMPLE)(platform_detect.command)

_Named = Annotated[str, typer.Argument(metavar="NAME|FILE", help="A name from `platform list`, or a YAML file.")]


@app.command("list", epilog="Example: healthcheck platform list")
def list_(json: options.Json = False) -> None:
    """List the machine types that come with healthcheck, those of one GPU together."""
    from healthcheck.cli.document import print_document
    from healthcheck.cli.exits import out
    from healthcheck.edge.shipped import shipped_platforms

    platforms = shipped_platforms()
    if json:
        print_document("healthcheck.platforms/1", platforms=list(platforms.values()))
        return
    width, family = max(len(name) for name in platforms), ""
    for name, platform in platforms.items():
        begins = name.partition("-")[0]
        if family and begins != family:
            out("")
        family = begins
        out(f"{name:<{width}}  {platform.title}")


@app.command(
    short_help="Show a machine type and derive its peaks.",
    epilog="Example: healthcheck platform show a100-sxm4-8gpu-4x200 --nodes 32",
)
def show(
    name: _Named,
    nodes: Annotated[int, typer.Option("--nodes", min=1, max=20_000, help="Nodes of the multi-node job.")] = 2,
    gpus: Annotated[int | None, typer.Option("--gpus", min=1, help="GPUs of each node that take part.")] = None,
    nics: Annotated[int | None, typer.Option("--nics", min=1, help="NICs of each node that take part.")] = None,
    algorithm: Annotated[
        Algorithm | None, typer.Option("--algo", help="The algorithm; by default the peak is that of a ring.")
    ] = None,
    collective: Annotated[Collective, typer.Option("--collective", help="What the job does.")] = Collective.ALL_REDUCE,
    json: options.Json = False,
) -> None:
    """Show a machine type and derive its peaks line by line."""
    from healthcheck.cli.document import print_document
    from healthcheck.cli.exits import out
    from healthcheck.edge.shipped import load_platform
    from healthcheck.reporting.platform_view import AskedJob, described, stage_peaks

    platform, _ = load_platform(name)
    _refuse_what_it_has_not(platform, gpus, nics, algorithm)
    _refuse_what_has_no_effect(nodes, nics, collective, algorithm)
    asked = AskedJob(nodes, gpus, nics, collective, algorithm)
    if json:
        print_document("healthcheck.platform/1", platform=platform, peaks=stage_peaks(platform, asked))
        return
    for line in described(platform, asked):
        out(line)


def _refuse_what_it_has_not(
    platform: Platform, gpus: int | None, nics: int | None, algorithm: Algorithm | None
) -> None:
    from healthcheck.errors import InputError
    from healthcheck.evaluation.peaks import possible_algorithms

    for option, asked, has in (("--gpus", gpus, platform.gpu.count), ("--nics", nics, platform.nics.count)):
        if asked is not None and asked > has:
            raise InputError(option, f"a node of {platform.name} has {has}, got {asked}")
    possible = possible_algorithms(platform)
    if algorithm is not None and algorithm not in possible:
        raise InputError("--algo", f"{platform.name} cannot use {algorithm}; it can use {', '.join(possible)}")


def _refuse_what_has_no_effect(
    nodes: int, nics: int | None, collective: Collective, algorithm: Algorithm | None
) -> None:
    from healthcheck.errors import InputError
    from healthcheck.model.algorithm import algorithms_of

    if nics is not None and nodes == 1:
        raise InputError(
            "--nics", "has no effect on one node, which nothing leaves; leave it out or ask for more --nodes"
        )
    possible = algorithms_of(collective)
    if algorithm is None or algorithm in possible:
        return
    if not possible:
        raise InputError("--algo", f"{collective} sends from GPU to GPU and has no algorithm; leave --algo out")
    raise InputError("--algo", f"{collective} cannot use {algorithm}; it can use {', '.join(possible)}")


@app.command(short_help="Check a platform file.", epilog="Example: healthcheck platform check my-machine.yaml")
def check(file: _Named, json: options.Json = False) -> None:
    """Check a platform file; exit 2 with file, line and key when something is wrong."""
    from healthcheck.cli.document import print_document
    from healthcheck.cli.exits import out
    from healthcheck.edge.shipped import load_platform

    platform, _ = load_platform(file)
    if json:
        print_document("healthcheck.platform_check/1", ok=True, name=platform.name, title=platform.title)
    else:
        out(f"{platform.name}: ok, {platform.title}")


@app.command(epilog="Example: healthcheck platform schema > platform.schema.json")
def schema() -> None:
    """Print the JSON Schema of a platform file."""
    from healthcheck.cli.document import print_json
    from healthcheck.parsing.platform import platform_schema

    print_json(platform_schema())
