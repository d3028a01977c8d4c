"""`healthcheck gate`: the pre-flight before a large job, in the time there is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from healthcheck.cli import options


def command(
    playbook: Annotated[
        str | None,
        typer.Argument(help="A playbook by name or file. Default: preflight; inside a Slurm job slurm-gate."),
    ] = None,
    hosts: options.Hosts = None,
    budget: Annotated[str, typer.Option(help="Most time it may take, such as 90s or 5m.")] = "5m",
    fresh_for: Annotated[
        str | None,
        typer.Option(help="Reuse single-node passes in --results that are younger, such as 24h."),
    ] = None,
    healthy_hosts: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the proven nodes: FILE, FILE.slurm, FILE.txt.")
    ] = None,
    exclude_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the nodes to leave out: FILE, FILE.slurm, FILE.txt.")
    ] = None,
    min_nodes: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Pass when N nodes are proven together. Needs one of the two files."),
    ] = None,
    platform: options.PlatformName = "auto",
    launcher: options.Launcher = None,
    transport: options.TransportName = "auto",
    launch_from: Annotated[str, typer.Option(help="Where multi-node jobs start: first, local, or a host.")] = "first",
    parallel: Annotated[int, typer.Option(min=1, help="Most jobs of a stage that run at once.")] = options.MOST_JOBS,
    baseline: options.BaselineFile = None,
    no_history: options.NoHistory = False,
    healthy: options.Healthy = None,
    broken: options.Broken = None,
    nccl_tests: options.NcclTestsFolder = None,
    push: options.PushFolder = None,
    allow_busy: options.AllowBusy = False,
    allow_degraded: options.AllowDegraded = False,
    accept_new_host_keys: options.AcceptNew = False,
    ssh_config: options.SshConfig = None,
    notify: options.Notify = None,
    notify_on: options.NotifyOn = options.DEFAULT_NOTIFY_ON,
    metrics_file: options.MetricsFile = None,
    results: options.Results = options.DEFAULT_RESULTS,
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    lang: options.Lang = None,
    simulate: options.Simulate = None,
    seed: options.Seed = 0,
    run_seed: options.RunSeed = None,
    leaf_size: options.LeafSize = 8,
    fault: options.Faults = None,
    job_seconds: Annotated[float, typer.Option(min=0.0, hidden=True, help="Length of simulated jobs.")] = 0.0,
) -> None:
    """Are these nodes fit for a job that starts now? Measure what fits into the budget, name what was left out.

    Exit: 0 PASS, 1 FAIL, 3 INCONCLUSIVE, 4 DEGRADED.

    Example: healthcheck gate -H cluster.hosts --budget 5m --healthy-hosts healthy.hosts --min-nodes 60
    """
    import os

    from healthcheck.cli.alerts import told_of
    from healthcheck.cli.asked import Asked
    from healthcheck.cli.gate_asked import gate_asked
    from healthcheck.cli.run import run_and_finish
    from healthcheck.parsing.slurm import own_jobs

    loud = options.loudness(quiet, verbose)
    told = told_of(notify, notify_on, metrics_file)
    asked = Asked(
        hosts=hosts,
        playbook=playbook or ("slurm-gate" if own_jobs(os.environ) else "preflight"),
        platform=platform,
        results=results,
        simulate=simulate,
        seed=seed,
        run_seed=run_seed,
        leaf_size=leaf_size,
        faults=tuple(fault or ()),
        job_seconds=job_seconds,
        ssh_config=ssh_config,
        accept_new_host_keys=accept_new_host_keys,
        allow_busy=allow_busy,
        allow_degraded=allow_degraded,
        nccl_tests=nccl_tests,
        push=push,
        launch_from=launch_from,
        launcher=launcher,
        transport=transport,
        healthy=healthy,
        broken=broken,
        baseline=baseline,
        no_history=no_history,
        gate=gate_asked(budget, fresh_for, min_nodes, healthy_hosts, exclude_file),
    )
    raise typer.Exit(run_and_finish(asked, json, loud, parallel=parallel, history=True, told=told))
