"""The search as a story: round by round which jobs were slow, whom the fast ones clear, and who is left."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from healthcheck.model.message import say
from healthcheck.model.record import RunRecord
from healthcheck.model.search import Kind, PairLine, RoundRecord, SearchRecord
from healthcheck.model.search_jobs import SLOW_SHARE, Speed, full_speed, pair_speed
from healthcheck.reporting.cluster_map import group_labels
from healthcheck.reporting.figures import gbyte_s, not_measured, one_line
from healthcheck.reporting.names import folded
from healthcheck.reporting.search_sizes import ReadAt

MOST_SLOW = 8
"""Slow pairs of one round with a line of their own; more of them are one line."""
MOST_COLUMNS = 64
"""Nodes with a column each in the strip; above that a group of the map has one, and above 160 groups none has."""
_MOST_GROUPS = 160
LONGEST_NAMES = 80


class StoryRow(Struct, frozen=True):
    """One job, or several alike, of a round. `slow` says it for the eye, `speed` in words."""

    who: str
    measured: str
    of_expected: str
    slow: bool
    speed: str
    tells: str


class StoryRound(Struct, frozen=True):
    """One round. `strip` holds, group by group of the map, one of `slow`, `fast`, `out` for each column.

    `left` are the nodes that were in no fast job so far.
    """

    number: int
    kind: str
    jobs: int
    strip: tuple[tuple[str, ...], ...]
    rows: tuple[StoryRow, ...]
    left: str


class Story(Struct, frozen=True):
    """All rounds. `columns` are the titles over the strip with their width in columns; `legend` says how to read it."""

    rounds: tuple[StoryRound, ...]
    columns: tuple[tuple[str, int], ...]
    legend: str


class _Seen(Struct):
    """Who was in a slow job and who in a fast one: of this round, and before it."""

    slow: set[str]
    fast: set[str]
    was_slow: set[str]
    cleared: set[str]


def story(record: RunRecord, search: SearchRecord) -> Story:
    """The rounds of a search, in order."""
    bar = search.unseen * SLOW_SHARE
    groups = _groups(record, search)
    single = sum(map(len, groups.values())) <= MOST_COLUMNS
    hosts = list(dict.fromkeys(host for one in search.rounds for host in _hosts(one)))
    cleared: set[str] = set()
    was_slow: set[str] = set()
    rounds = []
    read_at = ReadAt(record)
    for one in search.rounds:
        seen = _seen(one, bar, was_slow, cleared)
        rows = _rows(one, bar, seen, read_at)
        cleared |= seen.fast
        was_slow |= seen.slow
        left = _named([host for host in hosts if host not in cleared]) or str(say("report.search.left_none"))
        jobs = len(one.pairs) + len(one.fulls)
        rounds.append(StoryRound(one.round, kind_text(one.kind), jobs, _strip(groups, seen, single), rows, left))
    columns = tuple((one_line(title), len(members) if single else 1) for title, members in groups.items())
    legend = "report.search.strip_nodes" if single else "report.search.strip_groups"
    return Story(tuple(rounds), columns if single else (), str(say(legend)) if groups else "")


def _groups(record: RunRecord, search: SearchRecord) -> dict[str, list[str]]:
    """The nodes of the search by the rows of the map; none where there are too many rows to draw."""
    took_part = {host for one in search.rounds for host in _hosts(one)}
    _, labels = group_labels(record)
    found: dict[str, list[str]] = {}
    for host in record.hosts:
        if host.name in took_part:
            found.setdefault(labels[host.name], []).append(host.name)
    return found if len(found) <= _MOST_GROUPS else {}


def _hosts(one: RoundRecord) -> Iterable[str]:
    for full in one.fulls:
        yield from full.hosts
    for pair in one.pairs:
        yield from (pair.a, pair.b)


def _seen(one: RoundRecord, bar: float, was_slow: set[str], cleared: set[str]) -> _Seen:
    seen = _Seen(set(), set(), set(was_slow), set(cleared))
    for pair in one.pairs:
        (seen.slow if _is_slow(pair, bar) else seen.fast).update((pair.a, pair.b))
    for full in one.fulls:
        slow = full_speed(full, bar) is not Speed.FAST
        (seen.slow if slow else seen.fast).update(full.hosts)
    return seen


def _is_slow(pair: PairLine, bar: float) -> bool:
    return pair_speed(pair, bar) is not Speed.FAST


def _strip(groups: dict[str, list[str]], seen: _Seen, single: bool) -> tuple[tuple[str, ...], ...]:
    if single:
        return tuple(tuple(_mark((host,), seen) for host in members) for members in groups.values())
    return (tuple(_mark(members, seen) for members in groups.values()),) if groups else ()


def _mark(hosts: Sequence[str], seen: _Seen) -> str:
    if not seen.slow.isdisjoint(hosts):
        return "slow"
    return "out" if seen.fast.isdisjoint(hosts) else "fast"


def _rows(one: RoundRecord, bar: float, seen: _Seen, read_at: ReadAt) -> tuple[StoryRow, ...]:
    """The slow jobs one by one, the others as one line."""
    rows = [_full_row(one, place, bar, read_at) for place in range(len(one.fulls))]
    slow = sorted((pair for pair in one.pairs if _is_slow(pair, bar)), key=lambda pair: -pair.loss)
    fast = [pair for pair in one.pairs if not _is_slow(pair, bar)]
    rows += [_slow_pair(pair, seen, read_at) for pair in slow[:MOST_SLOW]]
    if slow[MOST_SLOW:]:
        rest = slow[MOST_SLOW:]
        names = _named([host for pair in rest for host in (pair.a, pair.b)])
        who = str(say("report.search.rest_slow", n=len(rest), names=names))
        rows.append(_row(who, rest, read_at, slow=True, tells=str(say("report.search.tells_pair"))))
    if fast:
        new = _named(sorted(seen.fast - seen.cleared))
        told = say("report.search.tells_cleared", who=new) if new else say("report.search.tells_nothing_new")
        who = str(say("report.search.rest_fast" if slow else "report.search.all_fast", n=len(fast)))
        rows.append(_row(who, fast, read_at, slow=False, tells=str(told)))
    return tuple(rows)


def _slow_pair(pair: PairLine, seen: _Seen, read_at: ReadAt) -> StoryRow:
    again = [host for host in (pair.a, pair.b) if host in seen.was_slow and host not in seen.cleared]
    others = [host for host in (pair.a, pair.b) if host in seen.cleared]
    known = len(again) == 1 and len(others) == 1
    tells = say("report.search.tells_again", who=again[0]) if known else say("report.search.tells_pair")
    return _row(one_line(f"{pair.a} + {pair.b}"), [pair], read_at, slow=True, tells=str(tells))


def _row(who: str, pairs: Sequence[PairLine], read_at: ReadAt, *, slow: bool, tells: str) -> StoryRow:
    read = [pair for pair in pairs if pair.measured_gbyte_s is not None]
    values = sorted(pair.measured_gbyte_s or 0.0 for pair in read)
    shares = [round(100 * (1 - pair.loss)) for pair in read]
    stuck = str(say("report.search.stuck"))
    return StoryRow(
        one_line(who),
        read_at.told(_range([gbyte_s(values[0]), gbyte_s(values[-1])]), [pair.job for pair in read]) if read else stuck,
        _range([f"{share} %" for share in (min(shares), max(shares))]) if shares else not_measured(),
        slow,
        _speed(slow),
        one_line(tells),
    )


def _full_row(one: RoundRecord, place: int, bar: float, read_at: ReadAt) -> StoryRow:
    full = one.fulls[place]
    value = full.measured_gbyte_s
    share = None if value is None else value / full.expected_gbyte_s
    slow = full_speed(full, bar) is not Speed.FAST
    if one.kind is Kind.SLOW_RUN:
        tells = say("report.search.tells_all")
    elif slow:
        tells = say("report.search.tells_still")
    elif one.kind is Kind.VERIFY:
        tells = say("report.search.tells_proven")
    else:
        tells = say("report.search.tells_cleared", who=_named(full.hosts))
    return StoryRow(
        str(say("report.search.together", n=len(full.hosts))),
        str(say("report.search.stuck")) if value is None else read_at.told(gbyte_s(value), [full.job]),
        not_measured() if share is None else f"{round(100 * share)} %",
        slow,
        _speed(slow),
        one_line(str(tells)),
    )


def _named(hosts: Sequence[str]) -> str:
    """The nodes by name; where that is long, how many they are, for the details below have each of them."""
    names = folded(hosts)
    return names if len(names) <= LONGEST_NAMES else str(say("report.who.nodes", n=len(set(hosts))))


def _range(ends: Sequence[str]) -> str:
    low, high = ends
    return low if low == high else str(say("report.search.range", low=low, high=high))


def _speed(slow: bool) -> str:
    return str(say("report.search.slow_word") if slow else say("report.search.fast_word"))


def kind_text(kind: Kind) -> str:
    """What a round measured, in words."""
    return str(
        {
            Kind.SLOW_RUN: say("report.search.slow_run"),
            Kind.RAILS: say("report.search.rails"),
            Kind.NODES: say("report.search.nodes"),
            Kind.VERIFY: say("report.search.verify"),
            Kind.HALVES: say("report.search.halves"),
        }[kind]
    )
