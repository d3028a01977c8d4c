"""`healthcheck platform`: the machine types, and how their peaks come about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from healthcheck.model.platform import Platform

app = typer.Typer(name="platform", help="Machine types and their peaks.", no_args_is_help=True, rich_markup_mode=None)

_Json = Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")]
_Named = Annotated[str, typer.Argument(metavar="NAME|FILE", help="A name from `platform list`, or a YAML file.")]


@app.command("list", epilog="Example: healthcheck platform list")
def list_(json: _Json = False) -> None:
    """List the machine types that come with healthcheck."""
    from healthcheck.cli.exits import out
    from healthcheck.edge.shipped import shipped_platforms

    platforms = shipped_platforms()
    if json:
        out(_document({"schema": "healthcheck.platforms/1", "platforms": list(platforms.values())}))
        return
    width = max(len(name) for name in platforms)
    for name, platform in platforms.items():
        out(f"{name:<{width}}  {platform.title}")


@app.command(epilog="Example: healthcheck platform show a100-sxm4-8gpu-4x200 --nodes 32")
def show(
    name: _Named,
    nodes: Annotated[int, typer.Option("--nodes", min=1, max=20_000, help="Nodes of the multi-node job.")] = 2,
    json: _Json = False,
) -> None:
    """Show a machine type and derive its peaks line by line."""
    from healthcheck.cli.exits import out
    from healthcheck.edge.shipped import load_platform

    platform, _ = load_platform(name)
    if json:
        out(_document({"schema": "healthcheck.platform/1", "platform": platform, "peaks": peaks(platform, nodes)}))
        return
    for line in describe(platform, nodes):
        out(line)


@app.command(epilog="Example: healthcheck platform check my-machine.yaml")
def check(file: _Named) -> None:
    """Check a platform file; exit 2 with file, line and key when something is wrong."""
    from healthcheck.cli.exits import out
    from healthcheck.edge.shipped import load_platform

    platform, _ = load_platform(file)
    out(f"{platform.name}: ok, {platform.title}")


@app.command(epilog="Example: healthcheck platform schema > platform.schema.json")
def schema() -> None:
    """Print the JSON Schema of a platform file."""
    from healthcheck.cli.exits import out
    from healthcheck.parsing.platform import platform_schema

    out(_document(platform_schema()))


def peaks(platform: Platform, nodes: int) -> list[dict[str, object]]:
    """One entry a benchmark stage: node count, peak and limits in GB/s, and how the peak was derived."""
    from healthcheck.evaluation.limits import DEFAULT_THRESHOLDS, peak

    entries: list[dict[str, object]] = []
    for stage, count in (("single_node", 1), ("multi_node", nodes)):
        top = peak(platform, count)
        assert top is not None  # every platform has a bound for all_reduce
        fractions = platform.thresholds.get(stage, DEFAULT_THRESHOLDS)
        known = platform.known_good_gbyte_s.get(stage)
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
    from healthcheck.evaluation.limits import DEFAULT_THRESHOLDS, peak

    nics = platform.nics
    lines = [
        f"{platform.name}: {platform.title}",
        f"  GPUs  {platform.gpu.count} x {' or '.join(platform.gpu.names)}",
        f"  NICs  {nics.count} x {nics.rate_gbit_s:g} Gb/s {nics.link_layer}  [{nics.source}]",
    ]
    for stage, count in (("single_node", 1), ("multi_node", nodes)):
        top = peak(platform, count)
        assert top is not None  # every platform has a bound for all_reduce
        fractions = platform.thresholds.get(stage, DEFAULT_THRESHOLDS)
        lines += [
            f"{stage} ({count} {'node' if count == 1 else 'nodes'}, bus bandwidth, {platform.peak_basis} peak)",
            f"  peak        {top.busbw_gbyte_s:g} GB/s  {top.derivation}",
            f"              [{top.source}]",
            f"  healthy at  {fractions.healthy * top.busbw_gbyte_s:g} GB/s  ({fractions.healthy:.0%} of peak: PASS)",
            f"  broken at   {fractions.broken * top.busbw_gbyte_s:g} GB/s  (below {fractions.broken:.0%}: FAIL)",
        ]
        known = platform.known_good_gbyte_s.get(stage)
        if known is not None:
            lines.append(f"  known good  {known.value:g} GB/s  [{known.source}]")
    return lines


def _document(document: object) -> str:
    import msgspec

    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode()
