"""What was run, with what, and where every limit comes from."""

from __future__ import annotations

import shlex

from msgspec import Struct

from healthcheck.model.message import say
from healthcheck.model.record import JobRecord, RunRecord
from healthcheck.model.search_jobs import Part
from healthcheck.model.verdict import Verdict
from healthcheck.reporting.again import run_folder
from healthcheck.reporting.bandwidth import stage_text
from healthcheck.reporting.figures import number, one_line
from healthcheck.reporting.names import folded
from healthcheck.reporting.search_jobs import evidence_of, part_text, speeds_told


class Provenance(Struct, frozen=True):
    """`judge_again` is the line that judges the run again.

    `limits` are (what, peak, PASS from, FAIL below, source), `commands` (title, line), the others (name, value).

    `versions` has everything by name; `tools` leaves out what the nodes told, which stands by itself.
    """

    judge_again: str
    limits: tuple[tuple[str, str, str, str, str], ...]
    commands: tuple[tuple[str, str], ...]
    versions: tuple[tuple[str, str], ...]
    tools: tuple[tuple[str, str], ...]


def provenance(record: RunRecord) -> Provenance:
    """Everything a reader needs who does not believe a number."""
    told = {setting.name for setting in record.fleet}
    command = shlex.join(("healthcheck", "rejudge", run_folder(record)))
    return Provenance(
        judge_again=one_line(command),
        limits=_limits(record),
        commands=_commands(record),
        versions=_versions(record, frozenset()),
        tools=_versions(record, frozenset(told)),
    )


def _commands(record: RunRecord) -> tuple[tuple[str, str], ...]:
    """One exact command line of each kind of job: same stage, collective, number of nodes and verdict.

    Jobs of a search, which have none, are of one kind where they are there for the same.
    """
    evidence = {one.job.id: one for one in evidence_of(record)}
    kinds: dict[tuple[str, str, int, Verdict | None, Part | None], list[JobRecord]] = {}
    for job in record.jobs:
        if job.command:
            part = evidence[job.id].part if job.id in evidence else None
            kinds.setdefault((job.stage, job.collective, len(job.hosts), job.verdict, part), []).append(job)
    lines = []
    for (stage, _, _, verdict, part), jobs in kinds.items():
        job, told = jobs[0], stage_text(stage)
        if verdict is None:
            counts = speeds_told(evidence[each.id] for each in jobs)
            what, who = part_text(part or Part.OTHER), folded(job.hosts)
            title = say("report.commands.evidence", stage=told, part=what, who=who, n=len(jobs), counts=counts)
        else:
            alike = "report.commands.one" if len(jobs) == 1 else "report.commands.alike"
            title = say(alike, stage=told, who=f"{folded(job.hosts)}, {verdict.name}", n=len(jobs))
        lines.append((one_line(str(title)), one_line(shlex.join(job.command))))
    return tuple(lines)


def _limits(record: RunRecord) -> tuple[tuple[str, str, str, str, str], ...]:
    lines = [
        (
            " ".join(part for part in (stage_text(limit.stage), one_line(limit.collective)) if part),
            f"{number(limit.peak)} {one_line(limit.unit)}",
            f"{100 * limit.healthy:g} %",
            f"{100 * limit.broken:g} %",
            one_line(limit.source if limit.origin is None else str(limit.origin)),
        )
        for limit in record.provenance.limits
    ]
    return tuple(dict.fromkeys(lines))


def _versions(record: RunRecord, without: frozenset[str]) -> tuple[tuple[str, str], ...]:
    unknown, not_recognised = str(say("report.not_recorded")), str(say("report.versions.no_platform"))
    no_hosts = str(say("report.versions.no_hosts")) if record.simulated else unknown
    made_by = record.provenance
    digest = str(say("report.versions.digest", digest=made_by.playbook_sha256)) if made_by.playbook_sha256 else unknown
    lines = [
        (str(say("report.versions.tool")), made_by.tool or unknown),
        *((name, value) for name, value in sorted(made_by.versions.items()) if name not in without),
        (str(say("report.versions.playbook", name=record.playbook.name)), digest),
        (str(say("report.versions.platform")), record.platform.name if record.platform is not None else not_recognised),
        (str(say("report.versions.hostfile")), made_by.hostfile or no_hosts),
        (str(say("report.versions.arguments")), shlex.join(made_by.arguments) or unknown),
    ]
    return tuple((one_line(name), one_line(value)) for name, value in lines)
