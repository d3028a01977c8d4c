"""`healthcheck rejudge RUN`: judge a stored run again, from its raw output."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from healthcheck.cli import options
from healthcheck.cli.language import in_english

if TYPE_CHECKING:
    from healthcheck.edge.store import DirectoryStore
    from healthcheck.model.message import Message
    from healthcheck.model.thresholds import AskedThresholds
    from healthcheck.workflows.rejudge import StoredRun
    from healthcheck.workflows.request import RunRequest


def command(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run directory, or a run id below --results.")],
    platform: Annotated[
        str | None,
        typer.Option(help="Another machine type: a name, a file, or auto to find it again. Default: as it was."),
    ] = None,
    healthy: options.Healthy = None,
    broken: options.Broken = None,
    baseline: options.BaselineFile = None,
    allow_degraded: options.AllowDegraded = False,
    results: options.Results = options.DEFAULT_RESULTS,
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    lang: options.Lang = None,
) -> None:
    """Judge a stored run again from its raw output, by another machine type or other limits. Asks no node.

    The run itself stays as it is: record and pages go to RUN/rejudged. Exit codes as for run.

    Example: healthcheck rejudge 20260314T021503Z-qhzt --platform ./my-machine.yaml
    """
    from healthcheck.cli.exits import out, say
    from healthcheck.cli.finish import tell_end
    from healthcheck.cli.report import kept
    from healthcheck.edge.clock import SystemClock
    from healthcheck.edge.earlier import known_earlier
    from healthcheck.edge.rejudged import rejudged_store
    from healthcheck.edge.store import DirectoryStore
    from healthcheck.evaluation.gate import exit_code
    from healthcheck.model.message import say as message
    from healthcheck.model.thresholds import AskedThresholds
    from healthcheck.parsing.record_codec import encode_record
    from healthcheck.reporting.rejudged import changes
    from healthcheck.reporting.summary import stdout_line
    from healthcheck.workflows.pages import write_pages
    from healthcheck.workflows.rejudge import noted, rejudge
    from healthcheck.workflows.training import beside

    loud = options.loudness(quiet, verbose)
    clock = SystemClock()
    store = DirectoryStore.open(run, results, clock)
    stored = _stored(store, run)
    request, how = _request(stored, store, platform, AskedThresholds(healthy, broken), baseline, allow_degraded)
    was = stored.record
    with in_english():
        found = rejudge(stored, request, store, other_baseline=baseline is not None)
        record = noted(found, was, how)
    with rejudged_store(store.folder, clock) as place:
        place.save_record(record)
        write_pages(record, place, known_earlier(record, store.folder), beside(record, kept(store.folder)))
    if not loud.quiet:
        for line in changes(was, record):
            say(line)
        notes = [note for note in record.notes if note not in was.notes]
        for note in notes or [message("rejudge.same")]:
            say(str(message("cli.note", what=note)))
        folder = store.folder / "rejudged"
        if loud.verbose:
            tell_end(record, folder, verbose=True)
        say(str(message("cli.wrote_rejudged", page=str(folder / "report.html"))))
    out(encode_record(record).decode().rstrip("\n") if json else stdout_line(record))
    ready = len(record.healthy_hosts)
    raise typer.Exit(exit_code(record.verdict, request.playbook.gate, request.allow_degraded, record.gate, ready))


def _stored(store: DirectoryStore, run: str) -> StoredRun:
    """The run, complete or cut off; InputError where it still runs, or lacks what it would be judged by."""
    from healthcheck.edge.owner import is_dead, still_there
    from healthcheck.edge.rejudged import is_rejudged
    from healthcheck.errors import InputError
    from healthcheck.workflows.rejudge import StoredRun

    if is_rejudged(store.folder):
        raise InputError(run, f"is a judgement without raw output of its own; give the run, {store.folder.parent}")
    record = store.load_record()
    if record.state == "incomplete" and not is_dead(record.owner):
        raise InputError(run, still_there(record.owner))
    circumstances = store.circumstances()
    if circumstances is None:
        raise InputError(
            run,
            "cannot be judged again: there is no raw/circumstances.json, which this version keeps with the raw output; "
            f"healthcheck report {shlex.quote(run)} still renders it",
        )
    return StoredRun(record, circumstances)


def _request(
    stored: StoredRun,
    store: DirectoryStore,
    platform_name: str | None,
    asked: AskedThresholds,
    baseline_file: Path | None,
    allow_degraded: bool,
) -> tuple[RunRequest, tuple[Message, ...]]:
    """What the run was asked to do, with what is given now in its place; and that in words."""
    from msgspec.structs import replace

    from healthcheck import __version__
    from healthcheck.cli.asked import AUTO
    from healthcheck.cli.given_baseline import given_baseline
    from healthcheck.cli.threshold_options import asked_thresholds
    from healthcheck.edge.baselines import stored_baseline
    from healthcheck.edge.digests import fleet_name, simulated_fleet
    from healthcheck.edge.shipped import load_platform, shipped_platforms
    from healthcheck.model.message import say as message
    from healthcheck.workflows.rejudge import as_asked

    record, kept = stored.record, stored.circumstances
    platform, words = record.platform, []
    if platform_name is not None:
        platform = None if platform_name == AUTO else load_platform(platform_name)[0]
        words.append(message("rejudge.how.platform", name=platform_name))
    before = kept.thresholds
    healthy = before.healthy if asked.healthy is None and before is not None else asked.healthy
    broken = before.broken if asked.broken is None and before is not None else asked.broken
    if asked.healthy is not None:
        words.append(message("rejudge.how.healthy", percent=round(100 * asked.healthy, 1)))
    if asked.broken is not None:
        words.append(message("rejudge.how.broken", percent=round(100 * asked.broken, 1)))
    thresholds = asked_thresholds(healthy, broken, record.playbook, platform)
    baseline = stored_baseline(store.folder)
    if baseline_file is not None:
        hosts, simulated = record.inventory, record.simulated
        made = simulated_fleet(store.folder)
        fleet = "" if made is None else fleet_name(made.seed)
        baseline = given_baseline(baseline_file, record.playbook, "", hosts, platform, simulated=simulated, fleet=fleet)
        words.append(message("rejudge.how.baseline", file=str(baseline_file)))
    request = replace(
        as_asked(stored, f"healthcheck {__version__}", shipped_platforms(), baseline),
        platform=platform,
        thresholds=thresholds,
        allow_degraded=allow_degraded or kept.allow_degraded,
    )
    return request, tuple(words)
