"""An alert from a record: verdict, cause, next command, and where the report lies. A few lines, for a phone."""

from __future__ import annotations

import shlex

from healthcheck.evaluation.alert_due import verdict_told
from healthcheck.model.alert import Alert
from healthcheck.model.history import PastRun
from healthcheck.model.message import say
from healthcheck.model.record import RunRecord
from healthcheck.model.verdict import Verdict
from healthcheck.reporting.decision import decide
from healthcheck.reporting.figures import one_line
from healthcheck.reporting.markdown import code_span, escaped
from healthcheck.reporting.scope import next_step
from healthcheck.reporting.summary import stdout_line
from healthcheck.reporting.todo import todo

LONGEST = 300
"""Of one sentence, in characters: a service that splits long texts sends several messages."""


def alert_of(record: RunRecord, report: str, before: PastRun | None) -> Alert:
    """What is told of a run; `report` is the absolute path of its page, `before` what its verdict is held against."""
    sentences = [str(decide(record).sentence)]
    entries = todo(record)
    step = next_step(record)
    command = step.line if step is not None else ""
    if entries:
        first = entries[0]
        sentences.append(str(say("notify.cause", component=first.title, cause=first.cause)))
        sentences.append(str(say("notify.do", remedy=first.remedy)))
        command = first.commands[0] if first.commands else command
    if before is None:
        sentences.append(str(say("notify.first")))
    else:
        sentences.append(str(say("notify.changed", verdict=before.verdict, run_id=before.run_id)))
    where = str(say("notify.report", machine=record.owner.machine, file=report))
    return _alert(f"healthcheck: {stdout_line(record)}", sentences, command, where, verdict_told(record))


def alert_of_lost(record: RunRecord, problem: str, folder: str, *, kept: bool) -> Alert:
    """What is told of a run whose results folder failed: how it stands as far as it came, and how to go on.

    `problem` is why, `folder` the absolute path of the run. Where no record was `kept` nothing goes on with it.
    """
    sentences = [str(say("notify.ended", problem=problem))]
    entries = [entry for entry in todo(record) if entry.verdict is Verdict.FAIL]
    if entries:
        sentences.append(str(say("notify.cause", component=entries[0].title, cause=entries[0].cause)))
    command = shlex.join(("healthcheck", "run", "--resume", folder)) if kept else ""
    where = str(say("notify.kept", machine=record.owner.machine, folder=folder))
    return _alert(f"healthcheck: {stdout_line(record)}", sentences, command, where, record.verdict)


def alert_of_none(problem: str, machine: str) -> Alert:
    """What is told where a check-up could not even begin, and so has no record."""
    told = [str(say("notify.never_began", machine=machine, problem=problem))]
    return _alert("healthcheck: INCONCLUSIVE, not begun", told, "", "", Verdict.INCONCLUSIVE)


def alert_of_broken(lacked: str | None, machine: str, folder: str) -> Alert:
    """What is told where healthcheck itself broke off: for what the machine `lacked`, or by a bug where that is None.

    `folder` is the absolute path of what was kept, empty where nothing was begun.
    """
    why = say("notify.ended", problem=lacked) if lacked is not None else say("notify.bug", machine=machine)
    where = str(say("notify.kept", machine=machine, folder=folder)) if folder else ""
    return _alert("healthcheck: INCONCLUSIVE, broke off", [str(why)], "", where, Verdict.INCONCLUSIVE)


def _alert(title: str, sentences: list[str], command: str, where: str, verdict: Verdict) -> Alert:
    told = [_short(sentence) for sentence in sentences]
    heading, shown, where = one_line(str(say("notify.next"))), one_line(command), one_line(where)
    plain = [*told, *([heading, f"  {shown}"] if shown else []), *([where] if where else [])]
    marked = [*map(escaped, told), *([f"{escaped(heading)} {code_span(shown)}"] if shown else [])]
    marked += [escaped(where)] if where else []
    return Alert(title, "\n".join(plain), "\n\n".join(marked), verdict)


def _short(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= LONGEST else line[: LONGEST - 3].rstrip() + "..."
