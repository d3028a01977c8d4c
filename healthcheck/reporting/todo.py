"""What to do now: the findings, most urgent first, those with one cause folded into one entry."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence

from msgspec import Struct

from healthcheck.model.component import Kind
from healthcheck.model.finding import Finding
from healthcheck.model.message import say
from healthcheck.model.record import RunRecord
from healthcheck.model.verdict import Verdict
from healthcheck.reporting.again import nccl_line, raw_line, resume_line
from healthcheck.reporting.decision import held_up, urgent_first
from healthcheck.reporting.figures import one_line
from healthcheck.reporting.names import folded

FULL_ENTRIES = 10
"""Findings with an entry of their own; the rest is a table."""
MOST_HOSTS = 10
"""Nodes of one entry whose lines are all written out; how many more there are is said."""
NCCL_LOG = "NCCL log"
"""How a source of evidence names the log of a rank."""
_FOLDED = (Kind.NODE, Kind.HCA, Kind.GPU)


class Entry(Struct, frozen=True):
    """One thing to do. Several nodes, or the same part of several nodes, with one cause are one entry.

    `commands` are the lines for the first of them, `every_command` those for up to 10 of them, and `unwritten` are
    the nodes after those.
    """

    anchor: str
    title: str
    verdict: Verdict
    confidence: str
    cause: str
    alike: str
    evidence_for: tuple[str, ...]
    evidence_against: tuple[str, ...]
    remedy: str
    commands: tuple[str, ...]
    commands_note: str
    every_command: tuple[str, ...]
    unwritten: tuple[str, ...]
    evidence: tuple[tuple[str, str], ...]
    hosts: tuple[str, ...]


def todo(record: RunRecord) -> tuple[Entry, ...]:
    """The findings, most urgent first; those that differ in nothing but the node become one entry."""
    groups: dict[tuple[object, ...], list[Finding]] = {}
    for finding in urgent_first(record):
        groups.setdefault(_alike(finding), []).append(finding)
    held = held_up(record)
    ordered = sorted(
        groups.values(), key=lambda found: (-found[0].verdict, -max(len(found), held.get(found[0].job, 1)))
    )
    lines = _Lines(record)
    return tuple(_entry(place, found, lines) for place, found in enumerate(ordered, start=1))


def _alike(finding: Finding) -> tuple[object, ...]:
    """What two findings share when they are one thing to do."""
    host = finding.component.host
    if host is None or finding.component.kind not in _FOLDED:
        return (finding.component,)
    texts = (finding.cause.english, finding.remedy.english)
    return (finding.verdict, finding.confidence, _part(finding), *(_without(host, text) for text in texts))


def _part(finding: Finding) -> str:
    """The component without its node: `/hca:mlx5_2`, empty for the node itself."""
    return finding.component.text.removeprefix(finding.component.host or "")


def _without(host: str, text: str) -> str:
    if host not in text:
        return text
    return re.sub(rf"(?<![\w.-]){re.escape(host)}(?![\w-])", "\0", text)


def _entry(place: int, found: Sequence[Finding], lines: _Lines) -> Entry:
    first = found[0]
    hosts = tuple(dict.fromkeys(f.component.host or "" for f in found if f.component.host))
    many = len(found) > 1
    own = lines.of(first)
    every = tuple(dict.fromkeys(line for one in found[:MOST_HOSTS] for line in lines.of(one)))
    title = f"{folded(hosts)}{_part(first)}" if many else str(first.component)
    return Entry(
        anchor=f"f{place}",
        title=one_line(title),
        verdict=first.verdict,
        confidence=str(say(f"report.confidence.{first.confidence}")),
        cause=one_line(str(first.cause)),
        alike=str(say("report.todo.alike", n=len(found), components=one_line(title))) if many else "",
        evidence_for=_distinct(str(message) for message in first.evidence_for),
        evidence_against=_distinct(str(message) for message in first.evidence_against),
        remedy=one_line(str(first.remedy)),
        commands=own,
        commands_note=str(say("report.todo.commands_more", component=str(first.component))) if every != own else "",
        every_command=every,
        unwritten=hosts[MOST_HOSTS:] if every != own else (),
        evidence=tuple(
            dict.fromkeys((one_line(quote.source), one_line(quote.text)) for one in found for quote in one.evidence)
        ),
        hosts=hosts,
    )


class _Lines:
    """The suggested lines of a finding, and those that need the folder of the run, which only the record knows."""

    def __init__(self, record: RunRecord) -> None:
        self._raw = {job.id: raw_line(record, job) for job in record.jobs}
        self._nccl = {job.id: nccl_line(record, job) for job in record.jobs}
        self._resume = {shlex.join(("healthcheck", "run", "--resume", record.run_id)): resume_line(record)}

    def of(self, finding: Finding) -> tuple[str, ...]:
        """Going on is said with the results folder of the run; what the job wrote stands last, NCCL's log if quoted."""
        lines = [self._resume.get(line, line) for line in finding.commands]
        logged = any(NCCL_LOG in quote.source for quote in finding.evidence)
        nccl = self._nccl.get(finding.job) if logged else None
        return _distinct(line for line in (*lines, nccl, self._raw.get(finding.job)) if line is not None)


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(one_line, texts)))
