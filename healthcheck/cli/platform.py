"""`healthcheck platform`: the machine types, and how their peaks come about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from healthcheck.cli import options
from healthcheck.cli.usage import OneSentence

if TYPE_CHECKING:
    from healthcheck.model.platform import Platform

app = typer.Typer(
    cls=OneSentence, name="platform", help="Machine types and their peaks.", no_args_is_help=True, rich_markup_mode=None
)

_Named = Annotated[str, typer.Argument(metavar="NAME|FILE", help="A name from `platform list`, or a YAML file.")]


@app.command("list", epilog="Example: healthcheck platform list")
def list_(json: options.Json = False) -> None:
    """List the machine types that come with healthcheck."""
    from healthcheck.cli.document import print_document
    from healthcheck.cli.exits import out
    from healthcheck.edge.shipped import shipped_platforms

    platforms = shipped_platforms()
    if json:
        print_document("healthcheck.platforms/1", platforms=list(platforms.values()))
        return
    width = max(len(name) for name in platforms)
    for name, platform in platforms.items():
        out(f"{name:<{width}}  {platform.title}")


@app.command(
    short_help="Show a machine type and derive its peaks.",
    epilog="Example: healthcheck platform show a100-sxm4-8gpu-4x200 --nodes 32",
)
def show(
    name: _Named,
    nodes: Annotated[int, typer.Option("--nodes", min=1, max=20_000, help="Nodes of the multi-node job.")] = 2,
    json: options.Json = False,
) -> None:
    """Show a machine type and derive its peaks line by line."""
    from healthcheck.cli.document import print_document
    from healthcheck.cli.exits import out
    from healthcheck.edge.shipped import load_platform

    platform, _ = load_platform(name)
    if json:
        print_document("healthcheck.platform/1", platform=platform, peaks=peaks(platform, nodes))
        return
    for line in describe(platform, nodes):
        out(line)


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


def _stages(nodes: int) -> tuple[tuple[str, int], ...]:
    """(stage, its nodes). On one node there is nothing between nodes: no peak and no known-good of it."""
    alone = ("single_node", 1)
    return (alone, ("multi_node", nodes)) if nodes > 1 else (alone,)


def peaks(platform: Platform, nodes: int) -> list[dict[str, object]]:
    """One entry a benchmark stage: node count, peak and limits in GB/s, and how the peak was derived."""
    from healthcheck.evaluation.known_good import reference
    from healthcheck.evaluation.limits import DEFAULT_THRESHOLDS
    from healthcheck.evaluation.peaks import peak

    entries: list[dict[str, object]] = []
    for stage, count in _stages(nodes):
        top = peak(platform, count)
        assert top is not None  # every platform has a bound for all_reduce
        fractions = platform.thresholds.get(stage, DEFAULT_THRESHOLDS)
        known = reference(platform, count)
        entries.append(
            {
                "stage": stage,
                "nodes": count,
                "peak_busbw_gbyte_s": top.busbw_gbyte_s,
                "derivation": top.derivation,
                "source": top.source,
                "healthy": fractions.healthy,
                "broken": fractions.broken,
                "known_good_gbyte_s": None if known is None else known.value,
                "known_good_source": None if known is None else known.source,
            }
        )
    return entries


def describe(platform: Platform, nodes: int) -> list[str]:
    """The lines of `platform show`: what the machine has, then each peak from its numbers."""
    from healthcheck.evaluation.known_good import reference
    from healthcheck.evaluation.limits import DEFAULT_THRESHOLDS
    from healthcheck.evaluation.peaks import peak
    from healthcheck.model.message import say

    nics = platform.nics
    lines = [
        f"{platform.name}: {platform.title}",
        f"  GPUs  {platform.gpu.count} x {' or '.join(platform.gpu.names)}",
        f"  NICs  {nics.count} x {nics.rate_gbit_s:g} Gb/s {nics.link_layer}  [{nics.source}]",
    ]
    for stage, count in _stages(nodes):
        top = peak(platform, count)
        assert top is not None  # every platform has a bound for all_reduce
        fractions = platform.thresholds.get(stage, DEFAULT_THRESHOLDS)
        healthy, broken = fractions.healthy, fractions.broken
        lines += [
            f"{stage} ({say('report.who.nodes', n=count)}, bus bandwidth, {platform.peak_basis} peak)",
            f"  peak        {top.busbw_gbyte_s:g} GB/s  {top.derivation}",
            f"              [{top.source}]",
            f"  healthy at  {healthy * top.busbw_gbyte_s:g} GB/s  ({100 * healthy:g} % of peak: PASS)",
            f"  broken at   {broken * top.busbw_gbyte_s:g} GB/s  (below {100 * broken:g} %: FAIL)",
        ]
        known = reference(platform, count)
        if known is not None:
            lines.append(f"  known good  {known.value:g} GB/s  [{known.source}]")
    return lines
