"""`healthcheck prune`: old runs away, the newest of each kind kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from healthcheck.cli import options

if TYPE_CHECKING:
    from pathlib import Path

    from healthcheck.model.message import Message
    from healthcheck.model.retention import KeptRun


def command(
    keep: Annotated[int, typer.Option("--keep", min=1, help="How many complete runs of each playbook stay.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Name what would go and remove nothing.")] = False,
    results: options.Results = options.DEFAULT_RESULTS,
    json: options.Json = False,
    quiet: options.Quiet = False,
    lang: options.Lang = None,
) -> None:
    """Remove old runs: of each playbook the newest stay. Gates, probes and searches are counted by themselves.

    Never one that is not over, and nothing that is no run directory of yours. Exit: 0; 3 when something could not go.

    Example: healthcheck prune --keep 24 --dry-run
    """
    from healthcheck.cli.exits import EXIT_INCONCLUSIVE, out, say
    from healthcheck.edge.history_index import DirectoryIndex
    from healthcheck.edge.owner import is_dead
    from healthcheck.edge.run_folders import finish_removals, kept_runs
    from healthcheck.edge.store import check_results
    from healthcheck.model.message import say as message
    from healthcheck.workflows.prune import choose

    check_results(results)
    if not dry_run:
        finish_removals(results)
    runs, not_ours = kept_runs(results)
    going, unfinished = choose(runs, keep, is_dead)
    gone, size, failed = _go(results, going, dry_run)
    notes: list[Message] = []
    if gone and not dry_run:
        notes += DirectoryIndex(results).past().notes
    if not quiet:
        if dry_run:
            for run in gone:
                say(str(message("prune.would_go", run_id=run.run_id, what=_kind(run))))
        for told in (*(left.why for left in (*unfinished, *not_ours)), *notes):
            say(str(message("cli.note", what=told)))
    for problem in failed.values():
        say(problem)
    stay = len(runs) - len(gone)
    if json:
        _print_document(keep, dry_run, gone, stay, size, failed, {left.folder: left.why for left in unfinished})
    else:
        verb = "would remove" if dry_run else "removed"
        out(f"{verb} {len(gone)} {'run' if len(gone) == 1 else 'runs'} ({size / 1e6:.1f} MB), {stay} stay")
    raise typer.Exit(EXIT_INCONCLUSIVE if failed else 0)


def _go(results: Path, going: tuple[KeptRun, ...], dry_run: bool) -> tuple[list[KeptRun], int, dict[str, str]]:
    """(those that went, or would; their bytes; run id -> why it could not)."""
    from healthcheck.edge.run_folders import remove_run, size_of
    from healthcheck.errors import StoreError

    gone: list[KeptRun] = []
    size, failed = 0, {}
    for run in going:
        try:
            size += size_of(results / run.run_id) if dry_run else remove_run(results, run)
            gone.append(run)
        except StoreError as error:
            failed[run.run_id] = str(error)
    return gone, size, failed


def _kind(run: KeptRun) -> str:
    words = ["gate" if run.gate else run.part, run.playbook, "simulated" if run.simulated else "", run.state]
    return " ".join(filter(None, words))


def _print_document(
    keep: int,
    dry_run: bool,
    gone: list[KeptRun],
    stay: int,
    size: int,
    failed: dict[str, str],
    unfinished: dict[str, Message],
) -> None:
    from healthcheck.cli.document import print_document
    from healthcheck.cli.language import in_english

    with in_english():
        print_document(
            "healthcheck.prune/1",
            keep=keep,
            dry_run=dry_run,
            removed=[{"run_id": run.run_id, "playbook": run.playbook, "state": run.state} for run in gone],
            removed_bytes=size,
            stay=stay,
            failed=[{"run_id": run_id, "problem": problem} for run_id, problem in failed.items()],
            not_over=[{"run_id": run_id, "reason_en": str(why)} for run_id, why in unfinished.items()],
        )
