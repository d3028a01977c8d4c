"""`healthcheck diagnose`: links and training together: which rule of thumb matches, and what to do next."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from healthcheck.cli import options
from healthcheck.cli.language import in_english

if TYPE_CHECKING:
    from collections.abc import Sequence

    from healthcheck.diagnosis.joint.given import Given
    from healthcheck.model.record import RunRecord


def command(
    more: Annotated[
        list[Path] | None, typer.Argument(metavar="[V]...", help="More documents, as --vitals: `--vitals *.json`.")
    ] = None,
    vitals: Annotated[
        list[Path] | None,
        typer.Option(
            "--vitals",
            metavar="V",
            help="What vitals log, vitals trace or vitals mfu printed with --json; one of each kind at most.",
        ),
    ] = None,
    record: Annotated[
        str | None,
        typer.Option("--record", metavar="R", help="A check-up: its run directory, or a run id below --results."),
    ] = None,
    hosts: Annotated[
        str | None,
        typer.Option(
            "--hosts",
            "-H",
            help="The nodes the training ran on, a hostfile or a quoted node set: the record is read for those alone.",
        ),
    ] = None,
    threshold: Annotated[
        list[str] | None,
        typer.Option("--threshold", metavar="NAME=VALUE", help="Another threshold, such as mfu.low=0.2; repeatable."),
    ] = None,
    results: options.Results = options.DEFAULT_RESULTS,
    json: options.Json = False,
    quiet: options.Quiet = False,
    html: options.Html = None,
    lang: options.Lang = None,
) -> None:
    """Links and training together: the rule of thumb that matches, its numbers, what is missing, what to do next.

    Exit code: 1 for a FAIL in the link record, else 4 when a rule matches, else 3 when too little is known, else 0.

    Example: healthcheck diagnose --vitals vitals-log.json vitals-trace.json --record 20260314T021503Z-qhzt
    """
    import sys

    from healthcheck.cli.exits import out, say
    from healthcheck.cli.html_page import check_place, write_page
    from healthcheck.cli.terminal import width
    from healthcheck.diagnosis.joint.answer import diagnose
    from healthcheck.reporting.joint import joint_document, joint_line, joint_lines
    from healthcheck.reporting.training_page import render_training
    from healthcheck.workflows.training import shown

    if html is not None:
        check_place(html)
    given = _given([*(vitals or []), *(more or [])], record, hosts, threshold or [], results)
    joint = diagnose(given)
    if html is not None:
        write_page(html, render_training(shown(given.training, joint)))
    with in_english():
        out(joint_document(joint).rstrip("\n") if json else joint_line(joint))
    if not quiet:
        for line in joint_lines(joint, width(sys.stderr)):
            say(line)
    raise typer.Exit(joint.exit_code)


def _given(
    files: Sequence[Path], record: str | None, hosts: str | None, thresholds: Sequence[str], results: Path
) -> Given:
    """Everything that was asked for, read; InputError where one of it is wrong."""
    from healthcheck.diagnosis.joint.given import Given
    from healthcheck.diagnosis.joint.thresholds import asked_thresholds
    from healthcheck.edge.shipped import load_hosts
    from healthcheck.edge.vitals_documents import read_documents
    from healthcheck.errors import InputError
    from healthcheck.workflows.training import training_of

    if not files:
        raise InputError(
            "--vitals",
            "names no document; save one first, such as `healthcheck vitals log train.log --json > vitals-log.json`",
        )
    wanted = asked_thresholds(thresholds)
    saved = read_documents(files)
    return Given(
        training=training_of([one.document for one in saved]),
        vitals=tuple(one.file for one in saved),
        record=None if record is None else _record(record, results),
        record_named=record or "",
        hosts=None if hosts is None else tuple(host.name for host in load_hosts(hosts)[0]),
        hosts_named=hosts or "",
        thresholds=wanted,
    )


def _record(named: str, results: Path) -> RunRecord:
    from healthcheck.edge.clock import SystemClock
    from healthcheck.edge.store import DirectoryStore

    return DirectoryStore.open(named, results, SystemClock()).load_record()
