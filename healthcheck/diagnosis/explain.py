"""From check results to the lines an operator acts on: who, why, what to do, in the order to do it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from healthcheck.diagnosis.cause import Cause
from healthcheck.diagnosis.causes import BY_CODE, CAUSES, FOLLOWS, NOT_MEASURED, STOPPED, urgency
from healthcheck.diagnosis.fingerprints import Shape
from healthcheck.diagnosis.grouping import BETWEEN_NODES, Group, groups
from healthcheck.diagnosis.hinting import UNEXPLAINED_SLOWNESS, Hinting
from healthcheck.diagnosis.suggesting import suggested
from healthcheck.diagnosis.warnings import NOT_ALONE
from healthcheck.evaluation.limits import ALGBW_CHECK, BUSBW_CHECK
from healthcheck.model.component import Component, Kind, natural, node
from healthcheck.model.finding import CheckResult, Confidence, Finding
from healthcheck.model.message import Arg, Message, distinct, say
from healthcheck.model.platform import Platform
from healthcheck.model.reading import Evidence, noted
from healthcheck.model.verdict import Verdict

MOST_EVIDENCE = 12
NAMED_PARTS = 8
_BANDWIDTHS = (BUSBW_CHECK, ALGBW_CHECK)
_SURE = (Confidence.CONFIRMED, Confidence.LIKELY, Confidence.SUSPECTED)


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
    shapes: Mapping[str, Shape] | None = None,
    platform: Platform | None = None,
) -> tuple[Finding, ...]:
    """One finding a fault (a component and its cause), most urgent first; what a fault explains is evidence of it.

    `members` maps a job to its hosts: only a job that a host took part in can speak for it. `hosts` maps every host
    that was named to its verdict; one that is not PASS without a result of its own gets a finding that says so. A
    SKIPPED result becomes a finding only where a host was left alone (busy); a check that does not apply to the
    machine does not. `interrupted`: the user ended the run, which is why hosts may be without a result.
    `shapes` maps a job to what it was, so that a number on `platform` that nothing explains is told what it looks like.
    """
    members = members or {}
    found = groups(checks, members)
    passed = _Passed(checks, members)
    hinting = Hinting(platform, shapes or {}, checks, members)
    ranked = [_explained(group, passed, hinting, run_id) for group in found]
    spoken_for = {group.component.host for group in found}
    ranked += [
        _unmeasured(host, verdict, STOPPED if interrupted else NOT_MEASURED, run_id)
        for host, verdict in hosts.items()
        if verdict is not Verdict.PASS and host not in spoken_for
    ]
    return tuple(entry.finding for entry in sorted(ranked, key=_Ranked.key))


class _Passed:
    """The results that are well and may speak against a finding: a few kinds of them on each node, of very many."""

    def __init__(self, checks: Sequence[CheckResult], members: Mapping[str, tuple[str, ...]]) -> None:
        self._on_host: dict[str | None, list[CheckResult]] = {}
        self._between: dict[str, list[CheckResult]] = {}
        named = frozenset(name for cause in CAUSES for name in cause.contradicted)
        not_good = frozenset(check.job for check in checks if check.verdict > Verdict.PASS)
        for check in checks:
            if check.verdict is not Verdict.PASS:
                continue
            if check.rule in named or check.check in named:
                self._on_host.setdefault(check.component.host, []).append(check)
            hosts = members.get(check.job, ())
            # That a slow job was whole says nothing for anybody in it.
            if len(hosts) > 1 and check.component.kind in BETWEEN_NODES and check.job not in not_good:
                for host in hosts:
                    self._between.setdefault(host, []).append(check)

    def against(self, group: Group, cause: Cause) -> list[CheckResult]:
        """A good joint job speaks against a sick card of a node in it; other looks by what the catalogue says."""
        host = group.component.host or ""
        named = cause.contradicted
        against = [
            check
            for check in self._on_host.get(host, ())
            if (check.check in named or check.rule in named)
            and (check.component == group.component or check.component.kind is Kind.NODE)
        ]
        return against + (self._between.get(host, []) if group.component.kind is Kind.HCA else [])


def _explained(group: Group, passed: _Passed, hinting: Hinting, run_id: str) -> _Ranked:
    first, cause, args = group.own[0], group.cause, group.own[0].message.args
    sure, looks = first.confidence, None
    if group.follows:
        parts = sorted({other.component for other in group.follows}, key=lambda part: natural(part.text))
        cause, args = FOLLOWS, {"parts": ", ".join(map(str, parts[:NAMED_PARTS])), "count": len(parts)}
    elif cause.code in UNEXPLAINED_SLOWNESS and (looks := hinting.of(group.own)) is not None:
        cause, args, sure = BY_CODE[looks.cause], looks.args, looks.confidence
    told = _one_number_each((*group.own, *sorted(group.folded, key=lambda check: -check.verdict)))
    evidence = dict.fromkeys(entry for check in told for entry in check.evidence or (_as_evidence(check),))
    unsure = first.message.code in NOT_ALONE
    finding = Finding(
        component=group.component,
        verdict=group.verdict,
        confidence=Confidence.SUSPECTED if unsure else sure or cause.confidence,
        cause=_text("cause", cause, args),
        remedy=_text("remedy", cause, args),
        evidence_for=distinct((*(check.message for check in told), *((looks.message,) if looks else ()))),
        evidence_against=distinct(
            (
                *(told for check in group.own for told in check.against),
                *(check.message for check in passed.against(group, cause)),
            )
        ),
        commands=_told(cause, first.message) + suggested(cause.commands, group.component, run_id),
        evidence=tuple(evidence)[:MOST_EVIDENCE],
        job=_job(group),
    )
    return _Ranked(finding, urgency(group.cause), secondary=bool(group.follows) or cause.secondary)


def _one_number_each(checks: Sequence[CheckResult]) -> tuple[CheckResult, ...]:
    """Of the bandwidths of one component in one stage the least of its peak: the algorithm bandwidth of a job is its
    bus bandwidth in other units, and other collectives and repeats of the same nodes say the same once more."""
    least: dict[tuple[Component, str], CheckResult] = {}
    for check in checks:
        if _is_share(check):
            key = check.component, check.stage
            known = least.get(key)
            if known is None or _share(check) < _share(known):
                least[key] = check
    return tuple(check for check in checks if not _is_share(check) or least[check.component, check.stage] is check)


def _is_share(check: CheckResult) -> bool:
    return check.check in _BANDWIDTHS and isinstance(check.message.args.get("percent"), int)


def _share(check: CheckResult) -> tuple[float, bool]:
    """Percent of peak; of two alike the bus bandwidth is the less."""
    percent = check.message.args["percent"]
    assert isinstance(percent, int)
    return percent, check.check != BUSBW_CHECK


def _job(group: Group) -> str:
    """The job whose output shows it; what was cut off by hand shows nothing."""
    if group.cause is STOPPED:
        return ""
    return next((check.job for check in (*group.own, *group.folded) if check.job), "")


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
        commands=suggested(cause.commands, node(host), run_id),
        evidence=(noted("record.json", say("evidence.no_result", host=host)),),
    )
    return _Ranked(finding, urgency(cause))


def _text(what: str, cause: Cause, args: Mapping[str, Arg]) -> Message:
    return Message(f"{what}.{cause.code}", dict(args))


def _as_evidence(check: CheckResult) -> Evidence:
    """For a result that quotes nothing: its own sentence, under the name of the check."""
    return noted(f"{check.stage} {check.check}".strip(), check.message)
