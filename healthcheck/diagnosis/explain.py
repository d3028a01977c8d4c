"""From check results to the lines an operator acts on: who, why, what to do, in the order to do it."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from healthcheck.diagnosis.cause import Cause
from healthcheck.diagnosis.causes import CONSEQUENCES, FOLLOWS, NOT_MEASURED, STOPPED, cause_of, urgency
from healthcheck.model.component import Component, Kind, natural, node
from healthcheck.model.finding import CheckResult, Confidence, Finding
from healthcheck.model.message import Arg, Message, say
from healthcheck.model.reading import Evidence
from healthcheck.model.verdict import Verdict

MOST_EVIDENCE = 12
NAMED_PARTS = 8
_SURE = (Confidence.CONFIRMED, Confidence.LIKELY, Confidence.SUSPECTED)
_BETWEEN_NODES = (Kind.FABRIC, Kind.PATH, Kind.LINK, Kind.RAIL)


class _Ranked(Struct, frozen=True):
    """A finding and where it stands in the list."""

    finding: Finding
    urgency: int
    secondary: bool = False

    def key(self) -> tuple[int, bool, int, int, list[tuple[int, int, str]]]:
        """What only follows from something else goes last within its verdict, then the catalogue decides."""
        found = self.finding
        return (
            -found.verdict,
            self.secondary,
            self.urgency,
            _SURE.index(found.confidence),
            natural(found.component.text),
        )


def findings(
    checks: Sequence[CheckResult],
    hosts: Mapping[str, Verdict],
    run_id: str,
    members: Mapping[str, tuple[str, ...]] | None = None,
    interrupted: bool = False,
) -> tuple[Finding, ...]:
    """One finding for each component with something against it, most urgent first.

    `members` maps a job to its hosts: only a job that a host took part in can speak for it. `hosts` maps every host
    that was named to its verdict; one that is not PASS without a result of its own gets a finding that says so. A
    SKIPPED result becomes a finding only where a host was left alone (busy); a check that does not apply to the
    machine does not. `interrupted`: the user ended the run, which is why hosts may be without a result.
    """
    by_component: dict[Component, list[CheckResult]] = {}
    for check in checks:
        if _speaks(check):
            by_component.setdefault(check.component, []).append(check)
    _fold_inactive_ports(by_component)
    sick_ports = sorted(
        (component for component, found in by_component.items() if component.kind is Kind.HCA and _measured_bad(found)),
        key=lambda component: natural(component.text),
    )
    passed = [check for check in checks if check.verdict is Verdict.PASS and check.component.kind in _BETWEEN_NODES]
    took_part = {check.job: frozenset((members or {}).get(check.job, ())) for check in passed}
    ranked = [
        _explained(
            component,
            found,
            sick_ports,
            [check for check in passed if component.kind is Kind.HCA and component.host in took_part[check.job]],
            run_id,
        )
        for component, found in by_component.items()
    ]
    spoken_for = {component.host for component in by_component}
    ranked += [
        _unmeasured(host, verdict, STOPPED if interrupted else NOT_MEASURED, run_id)
        for host, verdict in hosts.items()
        if verdict is not Verdict.PASS and host not in spoken_for
    ]
    return tuple(entry.finding for entry in sorted(ranked, key=_Ranked.key))


def _speaks(check: CheckResult) -> bool:
    return check.sets_aside if check.verdict is Verdict.SKIPPED else check.verdict is not Verdict.PASS


def _measured_bad(found: Iterable[CheckResult]) -> bool:
    return any(check.verdict in (Verdict.DEGRADED, Verdict.FAIL) for check in found)


def _fold_inactive_ports(by_component: dict[Component, list[CheckResult]]) -> None:
    """A node that counts too few active ports says nothing new where the ports that are down are named."""
    named = {check.component.host for found in by_component.values() for check in found if check.rule == "hca.down"}
    for component in list(by_component):
        if component.kind is Kind.NODE and component.host in named:
            by_component[component] = [check for check in by_component[component] if check.rule != "hca.inactive"]
            if not by_component[component]:
                del by_component[component]


def _explained(
    component: Component,
    found: list[CheckResult],
    sick_ports: Sequence[Component],
    passed: Sequence[CheckResult],
    run_id: str,
) -> _Ranked:
    own = [check for check in found if check.rule not in CONSEQUENCES] or found
    ordered = sorted(own, key=lambda check: (-check.verdict, urgency(cause_of(check.rule))))
    first = ordered[0]
    cause, args = STOPPED if _never_reached(first) else cause_of(first.rule), first.message.args
    secondary = component.kind in _BETWEEN_NODES and bool(sick_ports) and _measured_bad(own)
    if secondary:
        cause, args = FOLLOWS, {"parts": ", ".join(map(str, sick_ports[:NAMED_PARTS])), "count": len(sick_ports)}
    evidence = dict.fromkeys(entry for check in ordered for entry in check.evidence or (_as_evidence(check),))
    finding = Finding(
        component=component,
        verdict=first.verdict,
        confidence=cause.confidence,
        cause=_text("cause", cause, args),
        remedy=_text("remedy", cause, args),
        evidence_for=_distinct(check.message for check in ordered),
        evidence_against=_distinct(check.message for check in passed),
        commands=_told(cause, first.message) + commands(cause, component, run_id),
        evidence=tuple(evidence)[:MOST_EVIDENCE],
        job=first.job if cause is not STOPPED else "",  # what was cut off by hand shows nothing
    )
    return _Ranked(finding, urgency(cause_of(first.rule)), secondary)


def _never_reached(check: CheckResult) -> bool:
    """Whether it was not run because the user ended the run before."""
    return check.rule == "integrity.not_run" and check.message.args.get("why") == str(say("run.interrupted"))


def _told(cause: Cause, message: Message) -> tuple[str, ...]:
    """The line that the message of the check brings with it, quoted by whoever made it."""
    return (str(message.args["command"]),) if cause.told and "command" in message.args else ()


def _unmeasured(host: str, verdict: Verdict, cause: Cause, run_id: str) -> _Ranked:
    """A host that was named, is not PASS, and about which nothing was recorded."""
    finding = Finding(
        component=node(host),
        verdict=verdict,
        confidence=cause.confidence,
        cause=_text("cause", cause, {}),
        remedy=_text("remedy", cause, {}),
        evidence_for=(say("finding.no_result"),),
        commands=commands(cause, node(host), run_id),
        evidence=(Evidence("record.json", f"no result for {host}"),),
    )
    return _Ranked(finding, urgency(cause))


def _text(what: str, cause: Cause, args: Mapping[str, Arg]) -> Message:
    return Message(f"{what}.{cause.code}", dict(args))


def _as_evidence(check: CheckResult) -> Evidence:
    """For a result that quotes nothing: its own sentence, under the name of the check."""
    return Evidence(f"{check.stage} {check.check}".strip(), str(check.message))


def _distinct(messages: Iterable[Message]) -> tuple[Message, ...]:
    return tuple({(message.code, str(message)): message for message in messages}.values())


def commands(cause: Cause, component: Component, run_id: str) -> tuple[str, ...]:
    """The suggested lines of a cause, each word quoted; lines about a host only where the component has one."""
    host = component.host
    device = component.text.partition("/")[2].partition(":")[2]
    lines: list[str] = []
    for argv in cause.commands:
        needed = " ".join(argv)
        if (host is None and "{host}" in needed) or (not device and "{device}" in needed):
            continue
        there = argv[0] == "ssh"
        words = [
            word.replace("{host}", host or "")
            .replace("{device}", shlex.quote(device) if there else device)
            .replace("{run_id}", run_id)
            for word in argv
        ]
        lines.append(shlex.join(words))
    return tuple(lines)
