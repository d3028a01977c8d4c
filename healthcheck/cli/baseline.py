"""`healthcheck baseline`: what healthy runs measured, as limits for later runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from healthcheck.cli import options
from healthcheck.cli.language import in_english

if TYPE_CHECKING:
    from collections.abc import Sequence

    from healthcheck.evaluation.baseline_of import Made
    from healthcheck.model.digest import RunDigest


def command(
    runs: Annotated[
        list[str],
        typer.Argument(metavar="RUN...", help="Run directories, run ids below --results, or folders of runs."),
    ],
    file: Annotated[Path, typer.Option("--output", "-o", help="The file to write.")] = Path("baseline.json"),
    results: Annotated[Path, typer.Option("--results", help="Folder of the run directories.")] = (
        options.DEFAULT_RESULTS
    ),
    json: options.Json = False,
    lang: options.Lang = None,
) -> None:
    """Make limits of healthy runs: median and spread of every job, for --baseline. Needs three runs that PASS.

    Example: healthcheck baseline reports/202603* -o after-driver-570.json
    """
    from healthcheck import __version__
    from healthcheck.cli.document import print_document
    from healthcheck.cli.exits import out, say
    from healthcheck.edge.baselines import write_baseline
    from healthcheck.edge.clock import SystemClock
    from healthcheck.edge.digests import read_digest, run_folders
    from healthcheck.evaluation.baseline_of import baseline_of, widest
    from healthcheck.workflows.engine import stamp

    folders = [folder for named in runs for folder in run_folders(named, results)]
    digests = [read_digest(folder) for folder in folders]
    fleet = _fleet(folders, digests)
    made = baseline_of(digests, stamp(SystemClock().now()), f"healthcheck {__version__}", fleet)
    write_baseline(file, made.baseline)
    for line in _story(made, len(digests)):
        say(line)
    if not json:
        with in_english():
            out(_written(made, file))
        return
    baseline = made.baseline
    print_document(
        "healthcheck.baseline_summary/1",
        file=str(file),
        platform=baseline.platform,
        simulated=baseline.simulated,
        runs=baseline.runs,
        hosts=made.hosts,
        medians=len(baseline.usual),
        widest=widest(baseline),
        left_out=made.left_out,
        not_always=made.not_always,
        scattered=made.scattered,
    )


def _fleet(folders: Sequence[Path], digests: Sequence[RunDigest]) -> str:
    """Which simulated machines these are, empty for others; InputError for several: only their names are the same."""
    from healthcheck.edge.digests import fleet_name, simulated_fleet
    from healthcheck.errors import InputError

    seeds: dict[int, str] = {}
    for folder, digest in zip(folders, digests, strict=True):
        fleet = simulated_fleet(folder) if digest.simulated else None
        if fleet is not None:
            seeds.setdefault(fleet.seed, digest.run_id)
    if len(seeds) > 1:
        (first, before), (other, run_id) = list(seeds.items())[:2]
        raise InputError(run_id, f"has seed {other} and {before} has {first}: another seed simulates other machines")
    return next((fleet_name(seed) for seed in seeds), "")


def _written(made: Made, file: Path) -> str:
    from healthcheck.model.message import say
    from healthcheck.reporting.figures import one_line

    baseline = made.baseline
    code = "baseline.wrote_simulated" if baseline.simulated else "baseline.wrote"
    return one_line(
        str(
            say(
                code,
                file=str(file),
                medians=len(baseline.usual),
                nodes=len(made.hosts),
                runs=len(baseline.runs),
                platform=baseline.platform,
            )
        )
    )


def _story(made: Made, runs: int) -> list[str]:
    """What is not in the file, and where the runs agreed least."""
    from healthcheck.evaluation.baseline_of import widest
    from healthcheck.model.baseline import LEAST_RUNS
    from healthcheck.model.message import say
    from healthcheck.reporting.figures import one_line, size

    lines = [
        say("baseline.left_out", hosts=each.hosts, stage=each.stage, n=each.n, runs=runs, least=LEAST_RUNS)
        for each in made.left_out
    ]
    lines += [
        say(
            "baseline.scattered",
            hosts=each.hosts,
            stage=each.stage,
            collective=each.collective,
            size=size(each.size_bytes),
            placement=each.placement.replace("_", "-"),
            median_gbyte_s=round(each.median_gbyte_s, 1),
            spread_gbyte_s=round(each.spread_gbyte_s, 1),
        )
        for each in made.scattered
    ]
    lines += [
        say("baseline.not_always", hosts=each.hosts, stage=each.stage, n=each.n, runs=runs) for each in made.not_always
    ]
    lines += [
        say(
            "baseline.widest",
            hosts=each.hosts,
            stage=each.stage,
            collective=each.collective,
            size=size(each.size_bytes),
            placement=each.placement.replace("_", "-"),
            percent=round(100 * each.spread_gbyte_s / each.median_gbyte_s, 2),
            median_gbyte_s=round(each.median_gbyte_s, 1),
            n=each.n,
        )
        for each in widest(made.baseline)
    ]
    return [one_line(str(line)) for line in lines]
