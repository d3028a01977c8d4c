"""`healthcheck probe`: the looks at the nodes alone; no benchmark is started."""

from __future__ import annotations

from typing import Annotated

import typer

from healthcheck.cli import options


def command(
    hosts: options.Hosts = None,
    platform: options.PlatformName = "auto",
    launcher: options.Launcher = None,
    transport: options.TransportName = "auto",
    nccl_tests: options.NcclTestsFolder = None,
    accept_new_host_keys: options.AcceptNew = False,
    allow_degraded: options.AllowDegraded = False,
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
    playbook: Annotated[str, typer.Option(help="Probe for the needs of this playbook.")] = "quick",
) -> None:
    """Look at every node once: GPUs, HCAs, running processes, MPI, nccl-tests. Nothing on the nodes is changed.

    Example: healthcheck probe -H 'gpu[001-128]'
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
        ssh_config=ssh_config,
        accept_new_host_keys=accept_new_host_keys,
        allow_degraded=allow_degraded,
        nccl_tests=nccl_tests,
        only="probe",
        launcher=launcher,
        transport=transport,
    )
    raise typer.Exit(run_and_finish(asked, json, loud, told=told))
