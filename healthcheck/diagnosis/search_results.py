"""What a search found, as check results: who, how surely, and every reading that speaks for and against."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from statistics import median

from healthcheck.diagnosis.localise import MOST_SOUGHT, in_order, weigh
from healthcheck.diagnosis.rails_of import SlowRails
from healthcheck.diagnosis.search import Ending
from healthcheck.diagnosis.search_record import Found, untested
from healthcheck.diagnosis.standings import CALM
from healthcheck.evaluation.reading import told_at
from healthcheck.model.component import FABRIC, Component, hca, link, node, path
from healthcheck.model.finding import CheckResult, Confidence
from healthcheck.model.message import Arg, Message, say
from healthcheck.model.reading import Evidence, noted
from healthcheck.model.search import LinkStanding, NodeStanding, PairReading, Standing
from healthcheck.model.units import signed
from healthcheck.model.verdict import Verdict

NODE_CHECK = "localise.node"
RAIL_CHECK = "localise.rail"
LINK_CHECK = "localise.link"
PATH_CHECK = "localise.path"
SEARCH_CHECK = "localise.search"
STAGE = "localise"
BUDGET, STOPPED, NOTHING_MEASURED, NO_ORDER = "budget", "stopped", "nothing_measured", "no_order"
"""Endings that the search itself does not know."""

MOST_LINES = 8
_SURE = {
    Standing.CONFIRMED: Confidence.CONFIRMED,
    Standing.LIKELY: Confidence.LIKELY,
    Standing.SUSPECTED: Confidence.SUSPECTED,
}
_LINK_SURE = {"confirmed": Confidence.CONFIRMED, "likely": Confidence.LIKELY}


def search_checks(found: Found, slow: Verdict, why: Message | None = None) -> tuple[CheckResult, ...]:
    """All results of a search. `slow` is the verdict of the job it began with; `why` nothing could be measured.

    A confirmed node is FAIL where it loses a tenth or more, or the job was FAIL; below that it is an outlier, DEGRADED.
    What lies between nodes is as bad as the job it slows.
    """
    told = _Told(found)
    checks = [*told.nodes(slow), *told.links(slow), *told.paths(slow), *told.leaves(slow)]
    return (*checks, _ending(told, slow, named=bool(checks), why=why))


class _Told:
    """The readings of a search, to be quoted."""

    def __init__(self, found: Found) -> None:
        self.found = found
        self.view, self.problem = found.phase.view, found.phase.problem
        self.readings = in_order(found.phase.readings)
        self.places = weigh(self.problem, self.view, self.readings)
        self.rails = {rails.host: rails for rails in found.rails}

    def slow(self, place: int) -> bool:
        return self.view.residuals[place] < -max(self.view.sought / 2, self.view.levels[place].noise)

    def slow_on_the_way(self) -> Message:
        """How many readings of pairs were slow, and with whom, where nobody is named for it."""
        pairs = [{self.readings[place].a, self.readings[place].b} for place in range(len(self.readings))]
        slow = [pair for place, pair in enumerate(pairs) if self.slow(place)]
        if not slow:
            return say("search.once.no_pair")
        shared = set.intersection(*slow)
        if len(slow) > 1 and len(shared) == 1:
            return say("search.once.pairs_with", slow=len(slow), readings=len(pairs), host=shared.pop())
        return say("search.once.pairs", slow=len(slow), readings=len(pairs))

    def nodes(self, slow: Verdict) -> Iterator[CheckResult]:
        if self.found.ending == Ending.PAIR:
            return
        for standing in self.view.nodes:
            confidence = _SURE.get(standing.standing)
            if confidence is None or (standing.host in self.found.gone and confidence is not Confidence.CONFIRMED):
                continue
            yield self._node(standing, confidence, slow)
            rails = self.rails.get(standing.host)
            if rails is not None and not rails.node_wide:
                yield from self._rails(rails, confidence, slow)

    def _node(self, standing: NodeStanding, confidence: Confidence, slow: Verdict) -> CheckResult:
        host, places = standing.host, self.places[standing.host]
        partners = len({self._partner(host, place) for place in places if self.slow(place)})
        percent = round(100 * standing.loss)
        if standing.intermittent:
            message = say("search.node.intermittent", percent=percent, partners=partners)
        elif confidence is Confidence.CONFIRMED:
            message = say("search.node.confirmed", percent=percent, partners=partners)
        elif confidence is Confidence.LIKELY:
            message = say("search.node.likely", percent=percent, partners=partners)
        else:
            message = say("search.node.suspected", percent=percent, partners=partners)
        rails = self.rails.get(host)
        more = () if rails is None else self._about_rails(rails)
        verdict = Verdict.DEGRADED
        if confidence is Confidence.CONFIRMED and (standing.loss >= MOST_SOUGHT or slow is Verdict.FAIL):
            verdict = Verdict.FAIL
        return self._check(
            NODE_CHECK,
            node(host),
            verdict,
            message,
            "slow_node",
            confidence,
            speaking=[place for place in places if self.slow(place)],
            against=[place for place in places if not self.slow(place)],
            host=host,
            more=more,
        )

    def _about_rails(self, rails: SlowRails) -> tuple[Evidence, ...]:
        source = f"{STAGE}-rail*-{rails.host}"
        if rails.node_wide:
            text = say("search.rails.node_wide", slow=len(rails.rails), rails=len(rails.losses))
            return (noted(source, text),)
        return () if rails.rails else (noted(source, say("search.rails.none")),)

    def _rails(self, rails: SlowRails, confidence: Confidence, slow: Verdict) -> Iterator[CheckResult]:
        devices = self.found.devices.get(rails.host, ())
        for rail in rails.rails:
            device = devices[rail] if rail < len(devices) else ""
            loss = rails.losses[rail]
            yield CheckResult(
                check=RAIL_CHECK,
                component=hca(rails.host, device) if device else node(rails.host),
                verdict=Verdict.FAIL if loss >= MOST_SOUGHT or slow is Verdict.FAIL else Verdict.DEGRADED,
                message=say(
                    "search.rail.confirmed",
                    rail=rail,
                    device=device or say("search.rail.unnamed"),
                    percent=round(100 * loss),
                ),
                rule=f"slow_rail.{confidence.value}",
                stage=STAGE,
                evidence=(noted(f"{STAGE}-rail*-{rails.host}", _losses(rails)),),
                confidence=confidence,
            )

    def links(self, slow: Verdict) -> Iterator[CheckResult]:
        for standing in self.view.links:
            confidence = _LINK_SURE.get(standing.state)
            if confidence is not None:
                yield self._link(standing, confidence, slow)

    def _link(self, standing: LinkStanding, confidence: Confidence, slow: Verdict) -> CheckResult:
        a, b = standing.a, standing.b
        own = [place for place in self.places[a] if self._partner(a, place) == b]
        elsewhere = [place for end in (a, b) for place in self.places[end] if place not in own]
        return self._check(
            LINK_CHECK,
            link(a, b),
            max(Verdict.DEGRADED, slow),
            say("search.link.slow", a=a, b=b, percent=round(100 * standing.loss), jobs=standing.jobs),
            "slow_link",
            confidence,
            speaking=own,
            # That both are well elsewhere is what makes it the link: only slow readings elsewhere would speak against.
            against=[place for place in elsewhere if self.slow(place)],
        )

    def paths(self, slow: Verdict) -> Iterator[CheckResult]:
        leaf = dict(zip(self.problem.hosts, self.problem.leaves, strict=True))
        for a, b in self.view.paths:
            own = [i for i, r in enumerate(self.readings) if {leaf[r.a], leaf[r.b]} == {a, b}]
            loss = -median(self.view.residuals[place] for place in own)
            yield self._check(
                PATH_CHECK,
                path(a, b),
                max(Verdict.DEGRADED, slow),
                say("search.path.slow", a=a, b=b, percent=round(100 * loss)),
                "slow_path",
                Confidence.CONFIRMED,
                speaking=[place for place in own if self.slow(place)],
                against=[place for place in own if not self.slow(place)],
            )

    def leaves(self, slow: Verdict) -> Iterator[CheckResult]:
        leaf = dict(zip(self.problem.hosts, self.problem.leaves, strict=True))
        for name in self.view.leaf_wide:
            own = [standing for standing in self.view.nodes if leaf[standing.host] == name]
            sick = [one for one in own if one.standing in (Standing.CONFIRMED, Standing.LIKELY)]
            yield CheckResult(
                PATH_CHECK,
                FABRIC,
                max(Verdict.DEGRADED, slow),
                say("search.leaf.slow", leaf=name, sick=len(sick), nodes=len(own)),
                "slow_leaf.likely",
                stage=STAGE,
                confidence=Confidence.LIKELY,
            )

    def _check(
        self,
        check: str,
        component: Component,
        verdict: Verdict,
        message: Message,
        rule: str,
        confidence: Confidence,
        *,
        speaking: Sequence[int],
        against: Sequence[int],
        host: str = "",
        more: tuple[Evidence, ...] = (),
    ) -> CheckResult:
        values = [value for place in speaking if (value := self.readings[place].busbw_gbyte_s) is not None]
        levels = [self.view.levels[place].value for place in speaking]
        return CheckResult(
            check=check,
            component=component,
            verdict=verdict,
            message=message,
            rule=f"{rule}.{confidence.value}",
            stage=STAGE,
            observed=round(median(values), 2) if values else None,
            expected=round(median(levels), 2) if levels else None,
            unit="GB/s",
            evidence=(*more, *(self._quoted(place, host) for place in speaking[:MOST_LINES])),
            job=self.readings[speaking[0]].job if speaking else "",
            confidence=confidence,
            against=tuple(self._fine(place, host) for place in against[:MOST_LINES]),
        )

    def _partner(self, host: str, place: int) -> str:
        reading = self.readings[place]
        return reading.b if reading.a == host else reading.a

    def _quoted(self, place: int, host: str) -> Evidence:
        reading = self.readings[place]
        a, b = reading.a, reading.b
        if host:
            source = say("search.reading_source", round=reading.round, partner=self._partner(host, place))
        else:
            source = say("search.pair_source", round=reading.round, a=a, b=b)
        if reading.busbw_gbyte_s is None:
            return noted(source, say("search.reading_stuck"))
        return noted(source, say("search.reading", **self._numbers(place, reading)))

    def _fine(self, place: int, host: str) -> Message:
        reading = self.readings[place]
        numbers = self._numbers(place, reading)
        a, b = (host, self._partner(host, place)) if host else (reading.a, reading.b)
        return say("search.fine", round=reading.round, a=a, b=b, **numbers)

    def _numbers(self, place: int, reading: PairReading) -> dict[str, Arg]:
        return {
            "measured": told_at(reading.busbw_gbyte_s or 0.0, reading.size_bytes),
            "expected": round(self.view.levels[place].value, 1),
            "change": signed(100 * self.view.residuals[place], 0),
        }


def _losses(rails: SlowRails) -> Message:
    losses = ", ".join(f"{max(round(100 * loss), 0)} %" for loss in rails.losses)
    return say("search.rails.losses", losses=losses)


def _ending(told: _Told, slow: Verdict, *, named: bool, why: Message | None) -> CheckResult:
    """The one result about the search itself: PASS when the rest is proven and somebody was named."""
    found = told.found
    last = found.played[-1].fulls[-1] if found.played and found.played[-1].fulls else found.slow_run
    rounds = 1 + len(found.played)
    numbers: dict[str, Arg] = {
        "hosts": len(last.hosts),
        "measured": told_at(last.busbw_gbyte_s or 0.0, last.size_bytes),
        "expected": round(last.expected_gbyte_s, 1),
    }
    verdict, rule = max(Verdict.DEGRADED, slow), f"search.{found.ending}"
    match found.ending:
        case Ending.VERIFIED if named and found.verified:
            verdict, message = Verdict.PASS, say("search.end.verified", **numbers)
        case Ending.VERIFIED if found.verified:
            rule, message = "search.once", say("search.end.once", **numbers, pairs=told.slow_on_the_way())
        case Ending.SCALE:
            message = say("search.end.scale", hosts=len(found.slow_run.hosts) - len(found.gone))
        case Ending.NOBODY_GOOD:
            message = say("search.end.nobody_good")
        case Ending.PAIR:
            message = say("search.end.pair")
        case Ending.ROUNDS:
            message = say("search.end.rounds", rounds=rounds)
        case Ending.TOO_FEW:
            message = say("search.end.too_few")
        case "budget":
            message = say("search.end.budget", rounds=rounds)
        case "stopped":
            verdict, message = Verdict.INCONCLUSIVE, say("search.end.stopped", rounds=rounds)
        case "nothing_measured":
            verdict = Verdict.INCONCLUSIVE
            message = say("search.end.nothing_measured", why=why or "")
        case "no_order":
            message = say("search.end.no_order", hosts=numbers["hosts"])
        case _ if named:
            unseen = round(100 * found.phase.view.sought, 1)
            message = say("search.end.still_slow", hosts=numbers["hosts"], unseen=unseen)
        case _:
            unseen = round(100 * found.phase.view.sought, 1)
            message = say("search.end.unexplained", hosts=numbers["hosts"], unseen=unseen)
    return CheckResult(
        check=SEARCH_CHECK,
        component=FABRIC,
        verdict=verdict,
        message=message,
        rule=rule,
        stage=STAGE,
        evidence=tuple(_joint(found)),
        job=last.job if verdict is Verdict.PASS else found.slow_run.job,
    )


def _joint(found: Found) -> Iterable[Evidence]:
    """The jobs over many nodes, the slow one first."""
    for reading in (found.slow_run, *(full for played in found.played for full in played.fulls)):
        source = say("search.joint_source", round=reading.round, hosts=len(reading.hosts))
        if reading.busbw_gbyte_s is None:
            yield noted(source, say("search.reading_stuck"))
        else:
            change = signed(-100 * reading.shortfall, 0)
            measured = told_at(reading.busbw_gbyte_s, reading.size_bytes)
            expected = round(reading.expected_gbyte_s, 1)
            yield noted(source, say("search.reading", measured=measured, expected=expected, change=change))


def unsettled(found: Found) -> tuple[str, ...]:
    """Hosts about which the search has nothing to say: not tested, or heard only beside slow ones."""
    masked = [standing.host for standing in found.phase.view.nodes if standing.standing not in CALM and standing.masked]
    known = set(found.verified)
    return tuple(dict.fromkeys(host for host in (*untested(found), *masked) if host not in known))
