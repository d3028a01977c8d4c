"""What to do now: the findings, most urgent first, those with one cause folded into one entry."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from healthcheck.model.component import Kind
from healthcheck.model.finding import Finding
from healthcheck.model.message import say
from healthcheck.model.record import RunRecord
from healthcheck.model.verdict import Verdict
from healthcheck.reporting.decision import urgent_first
from healthcheck.reporting.figures import one_line
from healthcheck.reporting.names import folded

FULL_ENTRIES = 10
"""Findings with an entry of their own; the rest is a table."""


class Entry(Struct, frozen=True):
    """One thing to do. Several nodes with one and the same cause are one entry."""

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
    evidence: tuple[tuple[str, str], ...]
    hosts: tuple[str, ...]


def todo(record: RunRecord) -> tuple[Entry, ...]:
    """The findings, most urgent first; whole nodes with one cause and one remedy become one entry."""
    groups: dict[tuple[object, ...], list[Finding]] = {}
    for finding in urgent_first(record.findings):
        key: tuple[object, ...] = (finding.component,)
        if finding.component.kind is Kind.NODE:
            texts = (str(finding.cause), str(finding.remedy))
            name = finding.component.text
            key = (finding.verdict, finding.confidence, *(text.replace(name, "\0") for text in texts))
        groups.setdefault(key, []).append(finding)
    ordered = sorted(groups.values(), key=lambda found: (-found[0].verdict, -len(found)))
    return tuple(_entry(place, found) for place, found in enumerate(ordered, start=1))


def _entry(place: int, found: Sequence[Finding]) -> Entry:
    first = found[0]
    hosts = tuple(dict.fromkeys(f.component.host or "" for f in found if f.component.host))
    many = len(found) > 1
    return Entry(
        anchor=f"f{place}",
        title=folded(hosts) if many else one_line(str(first.component)),
        verdict=first.verdict,
        confidence=str(first.confidence),
        cause=one_line(str(first.cause)),
        alike=str(say("report.todo.alike", n=len(found), components=folded(hosts))) if many else "",
        evidence_for=tuple(one_line(str(message)) for message in first.evidence_for),
        evidence_against=tuple(one_line(str(message)) for message in first.evidence_against),
        remedy=one_line(str(first.remedy)),
        commands=tuple(one_line(command) for command in first.commands),
        commands_note=str(say("report.todo.commands_more", component=str(first.component)))
        if many and first.commands
        else "",
        evidence=tuple((one_line(quote.source), one_line(quote.text)) for f in found for quote in f.evidence),
        hosts=hosts,
    )
