"""`healthcheck localise`: the search for what slows a job between nodes, by itself or on an earlier run."""

from __future__ import annotations

from typing import Annotated

import typer

from healthcheck.cli import options
from healthcheck.cli.language import on_stdout


def command(
    hosts: options.Hosts = None,
    platform: options.PlatformName = "auto",
    max_rounds: Annotated[int | None, typer.Option(min=1, max=200, help="Most rounds to play; 16 by default.")] = None,
    budget: Annotated[str | None, typer.Option(help="Most time for the search, such as 30m; 0 for no search.")] = None,
    sensitivity: Annotated[str | None, typer.Option(help="Look for losses from this size up: 4% to 30%.")] = None,
    resume: Annotated[
        str | None, typer.Option(help="Search in an earlier run, or go on with a search; what is measured stays.")
    ] = None,
    launcher: options.Launcher = None,
    transport: options.TransportName = "auto",
    launch_from: Annotated[
        str, typer.Option(help="Where jobs start: first (of their nodes), local, or a host.")
    ] = "first",
    playbook: Annotated[str, typer.Option(help="Measure all nodes together as this playbook does.")] = "full",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the plan and run nothing.")] = False,
    baseline: options.BaselineFile = None,
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
    """Measure all nodes together and, where that is slow, search in rounds of pairs for who slows them.

    Example: healthcheck localise -H cluster.hosts --budget 30m
    """
    from healthcheck.cli.alerts import told_of
    from healthcheck.cli.asked import Asked
    from healthcheck.cli.run import run_and_finish

    loud = options.loudness(quiet, verbose)
    told = told_of(notify, notify_on, metrics_file)
    asked = Asked(
        hosts=hosts,
        playbook=playbook,
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
        only="localise",
        launch_from=launch_from,
        launcher=launcher,
        transport=transport,
        max_rounds=max_rounds,
        budget=budget,
        sensitivity=sensitivity,
        healthy=healthy,
        broken=broken,
        baseline=baseline,
    )
    if dry_run:
        from healthcheck.cli.plan import print_plan

        with on_stdout(lang, json):
            print_plan(asked, json)
        return
    raise typer.Exit(run_and_finish(asked, json, loud, resume=resume, told=told))
