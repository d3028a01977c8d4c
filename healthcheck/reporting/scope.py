"""What a run was asked for: a whole check-up, one stage of it, a search or only looks; and what comes after that."""

from __future__ import annotations

from msgspec import Struct

from healthcheck.model.message import say
from healthcheck.model.playbook import PROBE_STAGE
from healthcheck.model.record import RunRecord
from healthcheck.model.verdict import Verdict
from healthcheck.reporting.again import whole_line
from healthcheck.reporting.decision import held, not_asked_together
from healthcheck.reporting.figures import one_line

LOCALISE = "localise"
_ASKED = {PROBE_STAGE: "report.meta.probe", LOCALISE: "report.meta.localise"}


class Next(Struct, frozen=True):
    """The step after a run that measured only a part, and the line to copy."""

    title: str
    line: str


def title(record: RunRecord) -> str:
    """The title of the page: what was looked at or measured alone is not said to be ready, nor not to be."""
    kind = not_asked_together(record)
    verdict, total, run_id = record.verdict.name, len(record.hosts), one_line(record.run_id)
    if kind.startswith("looked"):
        return str(say("report.title.looked", verdict=verdict, total=total, run_id=run_id))
    if kind:
        return str(say("report.title.alone", verdict=verdict, total=total, run_id=run_id))
    if held(record):
        return str(say("report.title.held", verdict=verdict, total=total, run_id=run_id))
    ready = len(record.healthy_hosts)
    return str(say("report.title", verdict=verdict, ready=ready, total=total, run_id=run_id))


def scope_told(record: RunRecord) -> str:
    """How much of which playbook was asked for."""
    playbook, only = one_line(record.playbook.name), record.provenance.only
    if only in _ASKED:
        return str(say(_ASKED[only], playbook=playbook))
    if only:
        return str(say("report.meta.only", stage=one_line(only), playbook=playbook))
    return str(say("report.meta.all", playbook=playbook))


def next_step(record: RunRecord) -> Next | None:
    """The line that measures the same nodes as a whole; None where that was asked for, or cannot be said."""
    line = whole_line(record)
    if line is None or not not_asked_together(record):
        return None
    code = "report.next.title" if record.verdict in (Verdict.PASS, Verdict.DEGRADED) else "report.next.later"
    return Next(str(say(code, total=len(record.hosts))), line)


def no_search(record: RunRecord) -> str:
    """Where a search was asked for and none was needed, a sentence that says so; else empty."""
    together = [job for job in record.jobs if len(job.hosts) > 1]
    asked = record.provenance.only == LOCALISE and record.state == "complete"
    fine = bool(together) and all(job.verdict is Verdict.PASS for job in together)
    return str(say("report.no_search")) if asked and fine and record.search is None else ""
