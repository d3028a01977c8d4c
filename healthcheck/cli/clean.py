"""`healthcheck clean`: end what a dead run of this user left behind."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from healthcheck.cli import options

if TYPE_CHECKING:
    from healthcheck.cli.asked import Asked
    from healthcheck.model.record import RunRecord
    from healthcheck.model.vitals_capture import CaptureBegun
    from healthcheck.workflows.clean import Cleaned

# How many of the newest run directories are looked through for runs that were cut off.
LOOK_BACK = 30


def command(
    run: Annotated[
        str | None, typer.Argument(help="A run directory or run id; default: all runs that were cut off.")
    ] = None,
    results: options.Results = options.DEFAULT_RESULTS,
    ssh_config: options.SshConfig = None,
    transport: Annotated[
        Literal["auto", "ssh", "srun"],
        typer.Option(
            "--transport", help="How nodes are reached: ssh, or steps of the Slurm job we are in. Auto: as the run did."
        ),
    ] = "auto",
    clean_cache: Annotated[
        bool, typer.Option("--clean-cache", help="Also remove our cache of binaries on the hosts of RUN.")
    ] = False,
    json: options.Json = False,
    lang: options.Lang = None,
) -> None:
    """End and delete what a run that was killed left on its hosts. Exit 3 when something may be left.

    Example: healthcheck clean 20260314T021503Z-qhzt
    """
    from healthcheck.cli.asked import Asked
    from healthcheck.cli.document import print_document
    from healthcheck.cli.exits import say
    from healthcheck.edge.captures import dead_captures
    from healthcheck.edge.clock import SystemClock
    from healthcheck.edge.store import DirectoryStore
    from healthcheck.model.message import say as message

    asked = Asked(hosts=None, results=results, ssh_config=ssh_config, transport=transport)
    if run is not None:
        store = DirectoryStore.open(run, results, SystemClock())
        cleaned = [clean_up(store.folder, _not_running(store.load_record(), run), asked, clean_cache)]
    else:
        runs, captures = dead_runs(results), dead_captures(results)
        if not runs and not captures:
            say(str(message("clean.nothing", results=str(results))))
        cleaned = [clean_up(folder, record, asked, clean_cache) for folder, record in runs]
        cleaned += [clean_up_capture(folder, begun, asked) for folder, begun in captures]
    removed = remove_locks(results)
    if json:
        print_document("healthcheck.clean/1", runs=cleaned, locks_removed=removed)
    raise typer.Exit(0 if all(done.settled for done in cleaned) else 3)


def remove_locks(results: Path) -> tuple[str, ...]:
    """Remove what dead processes of this machine still lock, name what may be left of others; the hosts."""
    from healthcheck.cli.exits import say
    from healthcheck.edge.clock import SystemClock
    from healthcheck.edge.host_locks import remove_stale, stale_locks
    from healthcheck.model.message import say as message

    removed = remove_stale(results, SystemClock())
    for lock in removed:
        if lock.dead is not None:
            say(str(message("lock.removed", host=lock.host, who=lock.dead)))
    for lock in stale_locks(results):
        say(str(message("cli.note", what=message("lock.not_removed", host=lock.host, why=lock.message))))
    return tuple(lock.host for lock in removed)


def dead_runs(results: Path) -> list[tuple[Path, RunRecord]]:
    """(folder, record) of the runs of this user below `results` that are incomplete and whose process is gone, newest
    first. A folder may have been renamed."""
    from healthcheck.cli.asked import in_process
    from healthcheck.edge.owner import is_dead, user_name
    from healthcheck.edge.store import RECORD, earlier_runs
    from healthcheck.errors import InputError
    from healthcheck.parsing.record_codec import decode_record
    from healthcheck.workflows.files_only import read_file

    found = []
    for folder in earlier_runs(results)[:LOOK_BACK]:
        path = folder / RECORD
        try:
            record = decode_record(read_file(path), str(path))
        except (InputError, OSError):
            continue  # somebody else's folder, or a newer version's record: not ours to clean
        ours = record.owner.user == user_name() and not in_process(record)
        if ours and record.state == "incomplete" and is_dead(record.owner):
            found.append((folder, record))
    return found


def _not_running(record: RunRecord, run: str) -> RunRecord:
    from healthcheck.edge.owner import is_dead, still_there
    from healthcheck.errors import InputError

    if record.state == "incomplete" and not is_dead(record.owner):
        raise InputError(run, f"{still_there(record.owner)}; end that first")
    return record


def clean_up(folder: Path, record: RunRecord, asked: Asked, clean_cache: bool = False) -> Cleaned:
    """Sweep the hosts of the run in `folder` and tell what is left where."""
    from msgspec.structs import replace

    from healthcheck.cli.clean_reach import reach
    from healthcheck.cli.console import Console
    from healthcheck.edge.store import DirectoryStore
    from healthcheck.workflows.clean import clean_run, remove_cache
    from healthcheck.workflows.engine import Engine

    reached = reach(record, folder, asked)
    outside = reached.outside
    store = DirectoryStore(folder, outside.clock)
    engine = Engine(outside.transport, outside.local, outside.clock, Console(outside.clock), store, width=outside.width)
    try:
        done = clean_run(record, engine)
        if clean_cache:
            remove_cache(record, engine)
    finally:
        outside.close()
    _tell(done, record.owner.token, reached.advice)
    if done.settled and record.state == "incomplete":
        # Settled: it is no longer listed as cut off, and can still be resumed.
        store.save_record(replace(record, state="interrupted"))
    return done


def clean_up_capture(folder: Path, begun: CaptureBegun, asked: Asked) -> Cleaned:
    """The same for a capture of training steps that was killed."""
    from healthcheck.cli.clean_reach import reach_capture
    from healthcheck.cli.console import Console
    from healthcheck.edge.captures import CLEANED
    from healthcheck.edge.store import DirectoryStore
    from healthcheck.workflows.clean import clean_capture
    from healthcheck.workflows.engine import Engine

    outside = reach_capture(begun, folder, asked)
    store = DirectoryStore(folder, outside.clock)
    engine = Engine(outside.transport, outside.local, outside.clock, Console(outside.clock), store)
    try:
        done = clean_capture(folder.name, begun, engine)
    finally:
        outside.close()
    _tell(done, begun.owner.token, "")
    if done.settled:
        store.write(CLEANED, "")
    return done


def _tell(done: Cleaned, token: str, advice: str) -> None:
    """What is left where; `advice` is what helps with nodes that could not be looked at."""
    from healthcheck.cli.exits import say
    from healthcheck.launchers.rank_log import folders_of_run
    from healthcheck.model.message import say as message
    from healthcheck.parsing.nodeset import fold, fold_for_slurm

    if done.clean:
        say(str(message("clean.clean", run_id=done.run_id, hosts=fold(done.clean))))
    if done.left:
        say(str(message("clean.left", run_id=done.run_id, hosts=fold(done.left))))
    if done.unknown:
        say(str(message("clean.unknown", run_id=done.run_id, hosts=fold(done.unknown))))
        if advice:
            job = shlex.join(("salloc", f"--nodelist={fold_for_slurm(done.unknown)}"))
            say(str(message(advice, run_id=done.run_id, job=job)))
    if done.logs:
        folders = f"{folders_of_run(token)}.*"
        say(str(message("clean.logs", run_id=done.run_id, hosts=fold(done.logs), folders=folders)))
