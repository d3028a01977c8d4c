"""Options that several commands share: one spelling, one help text."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import typer

from healthcheck.cli.language import speak

Hosts = Annotated[
    str | None,
    typer.Option(
        "--hosts",
        "-H",
        help="A hostfile, or a quoted node set such as 'gpu[001-128]'. Default inside a Slurm job: its nodes.",
    ),
]
PlatformName = Annotated[
    str, typer.Option("--platform", help="Machine type: a name of `healthcheck platform list`, a file, or auto.")
]
Launcher = Annotated[
    str | None,
    typer.Option(
        help="What starts the ranks: mpirun, hydra, or srun inside a Slurm job (srun:pmix, srun:pmi2 name its "
        "plugin). Default: what the playbook says, then what the nodes have."
    ),
]
TransportName = Annotated[
    Literal["auto", "ssh", "srun"],
    typer.Option("--transport", help="How nodes are looked at: ssh, or steps of the Slurm job. Auto: srun with srun."),
]
Results = Annotated[Path, typer.Option("--results", "-o", help="Folder of the run directories.")]
Html = Annotated[Path | None, typer.Option("--html", help="Write it as one HTML page with charts, too.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout and nothing else there.")]
Lang = Annotated[
    str | None,
    typer.Option(
        "--lang", metavar="en|zh", callback=speak, help="Language of pages and stderr. Default: what LANG asks for."
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but the line on stdout.")]
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="A line for every event and, at the end, looks, limits and notes.")
]
Simulate = Annotated[int | None, typer.Option("--simulate", min=1, max=20_000, help="Use N simulated nodes, no hosts.")]
Seed = Annotated[int, typer.Option("--seed", help="Seed of the simulated machines, and of their noise.")]
RunSeed = Annotated[
    int | None,
    typer.Option("--run-seed", help="Seed of the noise alone: the same machines, measured again. Default: --seed."),
]
LeafSize = Annotated[int, typer.Option("--leaf-size", min=1, help="Simulated nodes per leaf.")]
Faults = Annotated[
    list[str] | None,
    typer.Option("--fault", help="Plant a simulated fault: node05:hca=mlx5_2,rate=0.5, link:node01-node06=0.5, ..."),
]
SshConfig = Annotated[Path | None, typer.Option("--ssh-config", help="Read this instead of ~/.ssh/config.")]
AcceptNew = Annotated[
    bool, typer.Option("--accept-new-host-keys", help="Accept and remember host keys seen for the first time.")
]
AllowBusy = Annotated[bool, typer.Option("--allow-busy", help="Measure nodes on which others run GPU processes.")]
AllowDegraded = Annotated[bool, typer.Option("--allow-degraded", help="Exit 0 when the verdict is DEGRADED.")]
Healthy = Annotated[
    float | None, typer.Option(help="Fraction of peak from which a job is PASS, whatever playbook and platform say.")
]
Broken = Annotated[
    float | None, typer.Option(help="Fraction of peak below which a job is FAIL, whatever playbook and platform say.")
]
NcclTestsFolder = Annotated[str | None, typer.Option("--nccl-tests", help="Folder of nccl-tests on the nodes.")]
PushFolder = Annotated[
    Path | None, typer.Option("--push", help="Local nccl-tests build folder, copied to the nodes when it differs.")
]
BaselineFile = Annotated[
    Path | None, typer.Option("--baseline", help="Hold every node against this file of `healthcheck baseline`.")
]
NoHistory = Annotated[
    bool, typer.Option("--no-history", help="Do not hold the nodes against their own earlier runs in --results.")
]
Notify = Annotated[
    list[str] | None,
    typer.Option(
        "--notify",
        metavar="URL|@FILE",
        help="Send an alert to this address of apprise, or to those in a private FILE. May be repeated.",
    ),
]
NotifyOn = Annotated[
    str, typer.Option("--notify-on", metavar="change|always|not-pass", help="When an alert is sent.", show_default=True)
]
MetricsFile = Annotated[
    Path | None, typer.Option("--metrics-file", metavar="FILE.prom", help="Write metrics for node_exporter there, too.")
]


class Loudness(NamedTuple):
    """How much is said on stderr."""

    quiet: bool = False
    verbose: bool = False


def loudness(quiet: bool, verbose: bool) -> Loudness:
    """What -q and -v ask for; InputError for both at once."""
    if quiet and verbose:
        from healthcheck.errors import InputError

        raise InputError("--quiet", "asks for nothing and --verbose for everything on stderr; give one of them")
    return Loudness(quiet, verbose)


DEFAULT_RESULTS = Path("reports")
DEFAULT_NOTIFY_ON = "change"
# More than any cluster asks for at once: in effect no bound.
MOST_JOBS = 4096
