"""What to do now: the findings, most urgent first, those with one cause folded into one entry."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from healthcheck.model.component import Kind
from healthcheck.model.finding import Finding
from healthcheck.model.message import say
from healthcheck.model.record import RunRecord
from healthcheck.model.verdict import Verdict
from healthcheck.reporting.alike import of_all, quotes, without
from healthcheck.reporting.decision import held_up, urgent_first
from healthcheck.reporting.figures import one_line
from healthcheck.reporting.joining import in_a_row
from healthcheck.reporting.names import folded
from healthcheck.reporting.steps import MOST_HOSTS, Steps

FULL_ENTRIES = 10
"""Findings with an entry of their own; the rest is a table."""
LONGEST_TITLE = 120
"""Components with longer names, although folded, are counted in the title of their entry."""
MOST_APART = 3
"""Entries with one cause and other words each, such as the number that was read; more of them become one."""
_CATALOGUE = "cause."
_NOTHING_KNOWN = "cause.not_measured"
_FOLDED = (Kind.NODE, Kind.HCA, Kind.GPU)


class Entry(Struct, frozen=True):
    """One thing to do. Several nodes, or the same part of several nodes, with one cause are one entry.

    `components` are all of them, folded; `title` is the same, or how many they are where that is too long for a title.
    `by_hand` says in words how to drain without Slurm. `commands` are the lines for the first of them, in the order to
    type them, `every_command` those for up to 10 of them, and `unwritten` are the nodes after those. `more_evidence`
    raw lines are left out of `evidence`.
    """

    anchor: str
    title: str
    components: str
    verdict: Verdict
    confidence: str
    cause: str
    alike: str
    evidence_for: tuple[str, ...]
    evidence_against: tuple[str, ...]
    remedy: str
    by_hand: str
    commands: tuple[str, ...]
    commands_note: str
    every_command: tuple[str, ...]
    unwritten: tuple[str, ...]
    evidence: tuple[tuple[str, str], ...]
    more_evidence: int
    hosts: tuple[str, ...]


class First(Struct, frozen=True):
    """The most urgent thing to do in English: its components (folded), their hosts, and whose words stand for all."""

    title: str
    hosts: tuple[str, ...]
    finding: Finding


def todo(record: RunRecord) -> tuple[Entry, ...]:
    """The findings, most urgent first; those that differ in nothing but the node become one entry, and so do more
    than three with one cause, whatever their numbers."""
    steps = Steps(record)
    return tuple(_entry(place, found, steps) for place, found in enumerate(_grouped(record), start=1))


def most_urgent(record: RunRecord) -> First | None:
    """The first thing to do; None where there is nothing."""
    found = next(iter(_grouped(record)), None)
    return None if found is None else First(", ".join(_titles(found)), _hosts(found), found[0])


def _grouped(record: RunRecord) -> list[list[Finding]]:
    groups: dict[tuple[object, ...], list[Finding]] = {}
    for finding in urgent_first(record):
        groups.setdefault(_alike(finding), []).append(finding)
    by_cause: dict[tuple[object, ...], list[list[Finding]]] = {}
    for found in groups.values():
        by_cause.setdefault(_one_cause(found[0]), []).append(found)
    folded_up = [
        each
        for alike in by_cause.values()
        for each in ([[one for found in alike for one in found]] if len(alike) > MOST_APART else alike)
    ]
    held = held_up(record)

    def order(found: Sequence[Finding]) -> tuple[int, bool, int]:
        # Of how many nodes nothing is known says less than whatever is known.
        nothing = found[0].cause.code == _NOTHING_KNOWN
        return -found[0].verdict, nothing, -max(len(found), held.get(found[0].job, 1))

    return sorted(folded_up, key=order)


def _alike(finding: Finding) -> tuple[object, ...]:
    """What two findings share when they are one thing to do."""
    host = finding.component.host
    if host is None or finding.component.kind not in _FOLDED:
        return (finding.component,)
    texts = (finding.cause.english, finding.remedy.english)
    return (finding.verdict, finding.confidence, _part(finding), *(without(host, text) for text in texts))


def _one_cause(finding: Finding) -> tuple[object, ...]:
    """What findings share that are told with the words of one of them where they are too many."""
    component = finding.component
    if component.host is None or component.kind not in _FOLDED or not finding.cause.code.startswith(_CATALOGUE):
        return (component, finding.cause.english)
    return (finding.verdict, finding.confidence, component.kind, finding.cause.code, finding.remedy.code)


def _part(finding: Finding) -> str:
    """The component without its node: `/hca:mlx5_2`, empty for the node itself."""
    return finding.component.text.removeprefix(finding.component.host or "")


def _hosts(found: Sequence[Finding]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.component.host for one in found if one.component.host))


def _titles(found: Sequence[Finding]) -> tuple[str, ...]:
    """`gpu[003,007]/hca:mlx5_1`, one of them for each part."""
    if len(found) == 1:
        return (one_line(str(found[0].component)),)
    parts: dict[str, list[Finding]] = {}
    for one in found:
        parts.setdefault(_part(one), []).append(one)
    return tuple(one_line(f"{folded(_hosts(each))}{part}") for part, each in parts.items())


def _entry(place: int, found: Sequence[Finding], steps: Steps) -> Entry:
    first, hosts, components = found[0], _hosts(found), in_a_row(_titles(found), "text.comma")
    names = folded(hosts)
    names = names if len(names) <= LONGEST_TITLE else _count(hosts)
    lines = steps.of(found)
    quoted, more_quotes = quotes(found)
    return Entry(
        anchor=f"f{place}",
        title=components if len(components) <= LONGEST_TITLE or len(found) == 1 else _counted(found),
        components=components,
        verdict=first.verdict,
        confidence=str(say(f"report.confidence.{first.confidence}")),
        cause=one_line(of_all(first.component.host or "", str(first.cause), names)),
        alike=_told_alike(found, components),
        evidence_for=_distinct(str(message) for message in first.evidence_for),
        evidence_against=_distinct(str(message) for message in first.evidence_against),
        remedy=one_line(of_all(first.component.host or "", str(first.remedy), names)),
        by_hand=one_line(lines.by_hand),
        commands=lines.first,
        commands_note=str(say("report.todo.commands_more", component=str(first.component)))
        if lines.every != lines.first
        else "",
        every_command=lines.every,
        unwritten=hosts[MOST_HOSTS:] if lines.every != lines.first else (),
        evidence=quoted,
        more_evidence=more_quotes,
        hosts=hosts,
    )


def _count(hosts: Sequence[str]) -> str:
    return str(say("report.who.nodes", n=len(hosts)))


def _counted(found: Sequence[Finding]) -> str:
    """How many nodes there are, and of which part of them it is told where that is one."""
    hosts, parts = _count(_hosts(found)), {_part(one).lstrip("/") for one in found}
    part = parts.pop() if len(parts) == 1 else ""
    return str(say("report.todo.part_on", part=one_line(part), who=hosts)) if part else hosts


def _told_alike(found: Sequence[Finding], components: str) -> str:
    if len(found) == 1:
        return ""
    first = found[0]
    if len({_alike(one) for one in found}) == 1:
        return str(say("report.todo.alike", n=len(found), components=components))
    return str(say("report.todo.alike_but", n=len(found), components=components, component=str(first.component)))


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(one_line, texts)))
