"""`healthcheck run` and `healthcheck plan`: the same arguments, with and without doing it."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from healthcheck.cli import options
from healthcheck.cli.language import in_english, on_stdout

if TYPE_CHECKING:
    from healthcheck.cli.alerts import Told
    from healthcheck.cli.asked import Asked, Begun


def command(
    context: typer.Context,
    playbook: Annotated[
        str, typer.Argument(help="A playbook by name or file: quick, full, preflight, monthly, slurm-gate.")
    ] = "quick",
    hosts: options.Hosts = None,
    platform: options.PlatformName = "auto",
    launcher: options.Launcher = None,
    transport: options.TransportName = "auto",
    launch_from: Annotated[str, typer.Option(help="Where multi-node jobs start: first, local, or a host.")] = "first",
    only: Annotated[str | None, typer.Option(help="Run only this benchmark stage (and the probes).")] = None,
    resume: Annotated[str | None, typer.Option(help="Go on with an interrupted run; what is measured stays.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the plan and run nothing.")] = False,
    parallel: Annotated[int, typer.Option(min=1, help="Most jobs of a stage that run at once.")] = options.MOST_JOBS,
    clean: Annotated[
        bool, typer.Option("--clean", help="First end what dead runs of yours left on the nodes.")
    ] = False,
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
    """Check up the nodes of a hostfile: probe, measure each, measure all, report. Exit: 0 PASS, 1 FAIL, 3, 4.

    Example: healthcheck run full -H cluster.hosts --push ~/nccl-tests/build
    """
    from healthcheck.cli.alerts import told_of
    from healthcheck.cli.asked import Asked

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
        only=only,
        launch_from=launch_from,
        launcher=launcher,
        transport=transport,
        healthy=healthy,
        broken=broken,
        baseline=baseline,
        no_history=no_history,
    )
    if dry_run or context.info_name == "plan":
        from healthcheck.cli.plan import print_plan

        with on_stdout(lang, json):
            print_plan(asked, json)
        return
    code = run_and_finish(asked, json, loud, resume=resume, clean=clean, parallel=parallel, history=True, told=told)
    raise typer.Exit(code)


def run_and_finish(
    asked: Asked,
    as_json: bool,
    loud: options.Loudness,
    *,
    resume: str | None = None,
    clean: bool = False,
    parallel: int = options.MOST_JOBS,
    history: bool = False,
    told: Told | None = None,
) -> int:
    """The check-up that was asked for, from reading its inputs to writing its pages; the exit code of its record.

    `history`: where no baseline is given, the nodes are held against their own past in the results folder.
    """
    from healthcheck.cli.alerts import told_if_broken

    # Inputs first: a mistake in them must have touched no host, not even to clean up.
    with told_if_broken(told, None, loud.quiet):
        begun = _begun(asked, resume, told, loud.quiet)
    with told_if_broken(told, begun[1].folder, loud.quiet):
        _settle_dead_runs(asked, resume, clean, loud.quiet)
        return _to_its_end(
            begun, as_json, loud, resumed=resume is not None, parallel=parallel, history=history, told=told
        )


def _begun(asked: Asked, resume: str | None, told: Told | None, quiet: bool) -> Begun:
    from healthcheck.cli.alerts import tell_not_begun
    from healthcheck.cli.asked import new_run, resumed_run
    from healthcheck.errors import InputError

    try:
        metrics = None if told is None else told.metrics_file
        return new_run(asked, metrics) if resume is None else resumed_run(asked, resume, metrics)
    except InputError as error:
        if told is not None:
            tell_not_begun(told, error, quiet)
        raise


def _to_its_end(
    begun: Begun,
    as_json: bool,
    loud: options.Loudness,
    *,
    resumed: bool,
    parallel: int,
    history: bool,
    told: Told | None,
) -> int:
    """Measure, write, tell."""
    from contextlib import closing

    from msgspec.structs import replace

    from healthcheck.cli.alerts import tell_lost
    from healthcheck.cli.console import head_of, watcher
    from healthcheck.cli.exits import say
    from healthcheck.cli.finish import finish, shown
    from healthcheck.cli.gate_end import tell_removed
    from healthcheck.cli.signals import stop_on_signals, written_first
    from healthcheck.edge.gate_files import remove_old
    from healthcheck.errors import Interrupted, StoreError
    from healthcheck.model.message import say as message
    from healthcheck.wiring import in_time, locks_of, memory_of
    from healthcheck.workflows.cleanup import sweep_all
    from healthcheck.workflows.engine import Engine
    from healthcheck.workflows.nccl_logs import delete_logs
    from healthcheck.workflows.run import NotKept, check_up

    request, store, earlier, outside = begun
    if outside.note is not None and not loud.quiet:
        say(str(message("cli.note", what=outside.note)))
    watching = watcher(outside.clock, head_of(request, shown(store.folder)), loud)
    memory = memory_of(store.folder, request) if history and request.history else None
    engine = Engine(
        outside.transport,
        outside.local,
        outside.clock,
        watching,
        store,
        width=outside.width,
        parallel=min(parallel, outside.most_jobs),
        memory=memory,
        locks=locks_of(store.folder, request, outside.clock),
    )
    if request.gate is not None:
        tell_removed(remove_old(request.gate), loud.quiet)
        used_s = 0.0 if request.gate_before is None else request.gate_before.used_s
        engine = in_time(engine, store.folder, request.gate.budget_s - used_s, len(request.hosts))
    with closing(watching), written_first():
        try:
            # What is recorded must not depend on who reads along: the console tells it in the reader's language.
            with stop_on_signals(engine.cancel, watching.stopping), in_english():
                if resumed:
                    # What the run left behind carries its token, which is ours again: it must not run beside new jobs.
                    sweep_all(request.hosts, request.owner.token, engine.transport, engine.width)
                    left = delete_logs(request.hosts, request.owner.token, engine)
                    earlier = {
                        job: replace(outcome, nccl_left=tuple(host for host in outcome.nccl_left if host in left))
                        for job, outcome in earlier.items()
                    }
                record = check_up(request, engine, earlier)
        except Interrupted:
            finish(store.load_record(), store, as_json, loud, watching, told)
            raise
        except StoreError as error:
            watching.close()
            if told is not None and isinstance(error, NotKept):
                tell_lost(told, error.record, store.folder, str(error), loud.quiet)
            raise StoreError(f"{error}; {_how_on(store.folder)}") from error
        finally:
            outside.close()
        record = finish(record, store, as_json, loud, watching, told)
    return record.exit_code if record.exit_code is not None else 3


def _how_on(folder: Path) -> str:
    """What there is of a run whose folder failed, and the line that goes on with it; of one without a record nothing
    does."""
    from healthcheck.edge.places import is_file
    from healthcheck.edge.store import RECORD

    if not is_file(folder / RECORD):
        return "nothing was measured yet; make room and begin it again"
    on = f"go on with healthcheck run --resume {shlex.quote(str(folder))}"
    return f"the jobs were ended and what was measured before is kept: {on}"


def _settle_dead_runs(asked: Asked, resume: str | None, clean: bool, quiet: bool) -> None:
    """End what runs of this user that were cut off may have left on the nodes, or name them; not the one resumed."""
    from healthcheck.cli.asked import tell_leftovers
    from healthcheck.cli.clean import clean_up, dead_runs

    dead = [] if asked.simulate is not None else dead_runs(asked.results)
    if clean:
        for folder, record in dead:
            clean_up(folder, record, asked)
    elif not quiet:
        tell_leftovers([record for _, record in dead if resume is None or record.run_id != Path(resume).name])
