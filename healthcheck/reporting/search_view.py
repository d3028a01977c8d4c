"""The search for who slowed the fabric, as text: each round with who was with whom, what it read, what it says."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from healthcheck.model.message import say
from healthcheck.model.record import RunRecord
from healthcheck.model.search import (
    FullLine,
    NodeStanding,
    PairLine,
    RailsRecord,
    RoundRecord,
    SearchRecord,
    Standing,
)
from healthcheck.model.search_jobs import SEARCH_STAGE, SLOW_SHARE
from healthcheck.reporting.figures import gbyte_s, one_line
from healthcheck.reporting.names import folded
from healthcheck.reporting.search_jobs import evidence_of, speeds_told
from healthcheck.reporting.search_sizes import ReadAt
from healthcheck.reporting.search_story import Story, kind_text, story

MOST_ROWS = 40
_SETTLED = ("confirmed", "likely", "one_off")


class SearchRow(Struct, frozen=True):
    """One job of a round."""

    who: str
    why: str
    measured: str
    expected: str
    says: str


class SearchRound(Struct, frozen=True):
    """One table; `rest` says what was folded away or could not be measured."""

    title: str
    rows: tuple[SearchRow, ...]
    rest: tuple[str, ...]


class RailRow(Struct, frozen=True):
    """One rail of a node: what it reads, in percent of healthy rails, as text and as the length of its bar."""

    rail: str
    hca: str
    of_expected: str
    bar_percent: int
    slow: bool
    says: str


class Rails(Struct, frozen=True):
    """Every rail of one node that was named."""

    title: str
    rows: tuple[RailRow, ...]


class SearchView(Struct, frozen=True):
    """The section. `answer` is its one sentence, `lines` say how it ended and what it could not see; `suspects` who is
    not out of doubt."""

    answer: str
    story: Story
    rails: tuple[Rails, ...]
    lines: tuple[str, ...]
    suspects: tuple[str, ...]
    rounds: tuple[SearchRound, ...]


def search_view(record: RunRecord) -> SearchView | None:
    """None for a run without a search."""
    search = record.search
    if search is None:
        return None
    ends = [str(check.message) for check in record.checks if check.check == "localise.search"]
    paired = any(one.pairs for one in search.rounds)
    unseen = say("report.search.unseen", unseen=f"{100 * search.unseen:.1f}", noise=f"{100 * search.noise:.1f}")
    lines = [
        *ends,
        str(say("report.search.statistic")),
        *_cost(record, search),
        str(unseen if paired else say("report.search.no_pair")),
    ]
    if search.gone:
        lines.append(str(say("report.search.gone", hosts=folded(search.gone))))
    return SearchView(
        answer=one_line(_answer(search, ends)),
        story=story(record, search),
        rails=tuple(map(_rails, search.rails)),
        lines=tuple(map(one_line, lines)),
        suspects=(*map(_suspect, search.suspects), *_between(search)),
        rounds=tuple(_round(one, search.unseen * SLOW_SHARE, ReadAt(record)) for one in search.rounds),
    )


def _cost(record: RunRecord, search: SearchRecord) -> Iterator[str]:
    """All jobs of the search, in its rounds and beside them, and that those without a verdict are evidence."""
    inside = {pair.job for one in search.rounds for pair in one.pairs}
    inside |= {full.job for one in search.rounds for full in one.fulls}
    jobs = sum(len(one.pairs) + len(one.fulls) for one in search.rounds)
    more = sum(job.id.startswith(f"{SEARCH_STAGE}-") and job.id not in inside for job in record.jobs)
    rounds = len(search.rounds)
    if more:
        yield str(say("report.search.cost_more", rounds=rounds, jobs=jobs, more=more))
    else:
        yield str(say("report.search.cost", rounds=rounds, jobs=jobs))
    found = evidence_of(record)
    if found:
        yield str(say("report.search.not_judged", n=len(found), counts=speeds_told(found)))


def _answer(search: SearchRecord, ends: list[str]) -> str:
    """Who it is, then how it ended."""
    end = ends[0] if ends else search.ending
    named = [one.host for one in search.suspects if one.standing in (Standing.CONFIRMED, Standing.LIKELY)]
    if named:
        return str(say("report.search.answer", who=folded(named), n=len(named), end=end))
    between = [f"{link.a} - {link.b}" for link in search.links if link.state in _SETTLED]
    between += [f"{a} - {b}" for a, b in search.paths]
    if between:
        return str(say("report.search.answer_between", who=", ".join(between), end=end))
    return str(say("report.search.answer_nobody", end=end))


def _rails(of: RailsRecord) -> Rails:
    rows = []
    for rail, loss in enumerate(of.losses):
        device = of.devices[rail] if rail < len(of.devices) else ""
        share = round(100 * (1 - loss))
        slow = rail in of.slow
        says = say("report.search.rail_slow") if slow else say("report.search.rail_fine")
        hca = one_line(device) or str(say("search.rail.unnamed"))
        bar = max(0, min(100, share))
        rows.append(RailRow(str(say("report.search.rail", rail=rail)), hca, f"{share} %", bar, slow, str(says)))
    return Rails(str(say("report.search.rails_of", host=one_line(of.host))), tuple(rows))


def _suspect(standing: NodeStanding) -> str:
    if not standing.partners:
        return one_line(str(say("report.search.not_measured", host=standing.host)))
    loss, sure = f"{100 * standing.loss:.0f}", f"{100 * standing.probability:.0f}"
    line = say(
        "report.search.suspect",
        host=standing.host,
        standing=say(f"report.search.standing.{standing.standing}"),
        loss=loss,
        sure=sure,
        partners=standing.partners,
    )
    return one_line(str(line))


def _between(search: SearchRecord) -> tuple[str, ...]:
    links = [
        say(
            "report.search.link",
            a=link.a,
            b=link.b,
            state=say(f"report.search.standing.{link.state}"),
            loss=f"{100 * link.loss:.0f}",
            jobs=link.jobs,
        )
        for link in search.links
        if link.state in _SETTLED
    ]
    paths = [say("report.search.path", a=a, b=b) for a, b in search.paths]
    return tuple(one_line(str(message)) for message in (*links, *paths))


def _round(one: RoundRecord, slow: float, read_at: ReadAt) -> SearchRound:
    """The slowest first, so that what is folded away is what is well."""
    pairs = sorted(one.pairs, key=lambda pair: -pair.loss)
    rows = [*(_full(full, read_at) for full in one.fulls), *(_pair(pair, slow, read_at) for pair in pairs[:MOST_ROWS])]
    rest = []
    left = pairs[MOST_ROWS:]
    if left:
        slowest = max(round(100 * pair.loss) for pair in left)
        rest.append(str(say("report.search.folded", n=len(left), loss=slowest)))
    if one.untested:
        names = folded(host for pair in one.untested for host in pair)
        rest.append(str(say("report.search.untested", n=len(one.untested), hosts=names)))
    title = say("report.search.round", round=one.round, kind=kind_text(one.kind), jobs=len(one.pairs) + len(one.fulls))
    return SearchRound(one_line(str(title)), tuple(rows), tuple(map(one_line, rest)))


def _pair(pair: PairLine, slow: float, read_at: ReadAt) -> SearchRow:
    if pair.measured_gbyte_s is None:
        says = say("report.search.stuck")
    elif pair.loss > slow:
        says = say("report.search.slow", loss=round(100 * pair.loss))
    else:
        says = say("report.search.fine")
    who = f"{pair.a} {pair.b}"
    return SearchRow(
        one_line(who),
        str(say(f"report.search.purpose.{pair.purpose}")),
        _measured(pair, read_at),
        gbyte_s(pair.expected_gbyte_s),
        str(says),
    )


def _measured(of: PairLine | FullLine, read_at: ReadAt) -> str:
    value = gbyte_s(of.measured_gbyte_s)
    return value if of.measured_gbyte_s is None else read_at.told(value, [of.job])


def _full(full: FullLine, read_at: ReadAt) -> SearchRow:
    value = full.measured_gbyte_s
    loss = None if value is None else round(100 * (1 - value / full.expected_gbyte_s))
    says = say("report.search.stuck") if loss is None else say("report.search.of_expected", percent=100 - loss)
    who = str(say("report.search.together", n=len(full.hosts)))
    return SearchRow(who, "", _measured(full, read_at), gbyte_s(full.expected_gbyte_s), str(says))
