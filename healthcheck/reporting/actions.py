"""`suggested-actions.sh`: every suggested command in one file, all commented out. healthcheck never runs it."""

from __future__ import annotations

import shlex

from healthcheck.model.message import Message, say
from healthcheck.model.record import RunRecord
from healthcheck.reporting.again import again_line, resume_line
from healthcheck.reporting.decision import decide
from healthcheck.reporting.figures import one_line
from healthcheck.reporting.joining import in_a_row, pair
from healthcheck.reporting.names import folded
from healthcheck.reporting.scope import next_step
from healthcheck.reporting.state import not_ended
from healthcheck.reporting.todo import todo
from healthcheck.reporting.view import start_lines


def suggested_actions(record: RunRecord) -> str:
    """A shell script whose every line is a comment: running it as it is does nothing.

    Host names are data: what is built here is quoted with shlex, and whatever a finding suggests is forced onto
    one commented line.
    """
    lines = ["#!/bin/sh", *_comment(say("report.actions.head", run_id=record.run_id))]
    lines += _comment(say("report.actions.how"))
    if record.simulated:
        lines += _comment(say("report.simulated.banner"))
    if (note := not_ended(record)) is not None:
        lines += _comment(note)
    blocks = [*_findings(record), *_start(record), *_again(record), *_next(record), *_clean(record)]
    if not blocks:
        lines += ["#", *_comment(say("report.actions.nothing"))]
    for title, commands in blocks:
        lines += ["#", *_comment(title), *(f"#   {one_line(command)}" for command in commands)]
    return "\n".join(lines) + "\n"


Block = tuple[str | Message, tuple[str, ...]]


def _findings(record: RunRecord) -> list[Block]:
    blocks: list[Block] = []
    for entry in todo(record):
        lines = list(entry.every_command)
        if lines and entry.unwritten:
            lines.append(str(say("report.actions.more", n=len(entry.unwritten), names=folded(entry.unwritten))))
        head = pair(entry.title, in_a_row((entry.verdict.name, entry.confidence), "text.comma"))
        title = in_a_row((head, entry.cause, entry.remedy), "text.full_stop")
        title = in_a_row((title, entry.by_hand), "text.next")
        blocks.append((title, tuple(lines)))
    return blocks


def _start(record: RunRecord) -> list[Block]:
    if not decide(record).offers_list:
        return []
    title = say("report.actions.start", ready=len(record.healthy_hosts))
    return [(title, start_lines(record, "healthy.hosts"))]


def _again(record: RunRecord) -> list[Block]:
    """A run that was ended is gone on with; only one that is complete is measured again."""
    line = resume_line(record)
    if line is not None:
        return [(say("report.actions.resume"), (line,))]
    line = again_line(record)
    return [] if line is None else [(say("report.actions.again"), (line,))]


def _next(record: RunRecord) -> list[Block]:
    """The whole check-up, after one that measured only a part."""
    step = next_step(record)
    return [] if step is None else [(say("report.actions.next"), (step.line,))]


def _clean(record: RunRecord) -> list[Block]:
    if not any(host.may_still_run for host in record.hosts):
        return []
    return [(say("report.actions.undo"), (shlex.join(("healthcheck", "clean", record.run_id)),))]


def _comment(text: str | Message) -> list[str]:
    return [f"# {one_line(str(text))}"]
