"""An alert from a record: verdict, cause, next command, and where the report lies. A few lines, for a phone."""

from __future__ import annotations

from healthcheck.model.alert import Alert
from healthcheck.model.history import PastRun
from healthcheck.model.message import say
from healthcheck.model.record import RunRecord
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
    told = [_short(sentence) for sentence in sentences]
    where = one_line(str(say("notify.report", machine=record.owner.machine, file=report)))
    heading = one_line(str(say("notify.next")))
    shown = one_line(command)
    plain = [*told, *([heading, f"  {shown}"] if shown else []), where]
    marked = [*map(escaped, told), *([f"{escaped(heading)} {code_span(shown)}"] if shown else []), escaped(where)]
    return Alert(f"healthcheck: {stdout_line(record)}", "\n".join(plain), "\n\n".join(marked), record.verdict)


def _short(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= LONGEST else line[: LONGEST - 3].rstrip() + "..."
