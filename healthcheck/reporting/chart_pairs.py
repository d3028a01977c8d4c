"""The pairs that a search measured, as numbers in cells: a cross is a node, one cell is what lies between two."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from healthcheck.model.component import natural
from healthcheck.model.message import say
from healthcheck.model.record import RunRecord
from healthcheck.model.search import Kind, PairLine
from healthcheck.model.search_jobs import SLOW_SHARE, Speed, pair_speed
from healthcheck.reporting.chart import Matrix, MatrixCell, Picture
from healthcheck.reporting.cluster_map import group_labels, short_names
from healthcheck.reporting.figures import one_line
from healthcheck.reporting.joining import in_a_row
from healthcheck.reporting.search_sizes import ReadAt

WHOLE_UP_TO = 16
"""Nodes of which all pairs fit into one matrix; of more, each group with a slow pair has its own."""
MOST_NAMES = 32
"""Names of one such matrix: the nodes of the slow pairs and whom they were measured with."""
MOST_GROUPS = 4
MOST_PAIRS_NAMED = 6

_Readings = dict[tuple[str, str], list[PairLine]]


def pair_pictures(record: RunRecord) -> tuple[Picture, ...]:
    """One for each kind of pairs (whole nodes, or rail by rail), of more than 16 nodes one for each group.

    Nothing for a run without pairs: no job is run for a picture.
    """
    search = record.search
    if search is None:
        return ()
    slow = search.unseen * SLOW_SHARE
    pictures: list[Picture] = []
    for kind in (Kind.NODES, Kind.RAILS):
        readings: _Readings = {}
        for one in search.rounds:
            for pair in one.pairs if one.kind is kind else ():
                readings.setdefault((min(pair.a, pair.b), max(pair.a, pair.b)), []).append(pair)
        if readings:
            pictures += _of_kind(record, kind, readings, slow)
    return tuple(pictures)


def _of_kind(record: RunRecord, kind: Kind, readings: _Readings, slow: float) -> list[Picture]:
    names = {host for pair in readings for host in pair}
    unit = ReadAt(record).told("GB/s", (pair.job for read in readings.values() for pair in read))
    if len(names) <= WHOLE_UP_TO:
        title = say("report.plots.pairs.rails" if kind is Kind.RAILS else "report.plots.pairs.nodes")
        return [_picture(str(title), names, readings, slow, unit)]
    _, group_of = group_labels(record)
    bad = [pair for pair, read in readings.items() if _is_slow(read[-1], slow)]
    groups = _covering(bad, group_of)
    made = [_of_group(group, kind, group_of, readings, bad, slow, unit) for group in groups[:MOST_GROUPS]]
    if len(groups) > MOST_GROUPS and made:
        rest = str(say("report.plots.pairs.rest", n=len(groups) - MOST_GROUPS))
        last = made[-1]
        told = in_a_row((last.sentence, rest), "text.next")
        made[-1] = Picture(last.place, last.title, told, last.note, matrix=last.matrix)
    return made


def _covering(bad: Sequence[tuple[str, str]], group_of: dict[str, str]) -> list[str]:
    """The groups to show so that every slow pair is in one of them, the one with most of them first."""
    left = list(bad)
    chosen: list[str] = []
    while left:
        counts = Counter(group for pair in left for group in {group_of.get(host, "") for host in pair})
        most = max(counts.values())
        group = min((group for group, count in counts.items() if count == most), key=natural)
        chosen.append(group)
        left = [pair for pair in left if all(group_of.get(host, "") != group for host in pair)]
    return chosen


def _of_group(
    group: str,
    kind: Kind,
    group_of: dict[str, str],
    readings: _Readings,
    bad: Sequence[tuple[str, str]],
    slow: float,
    unit: str,
) -> Picture:
    """The nodes of a group in a slow pair, then whom they were measured with, then the rest of a small group."""
    members = [host for host in group_of if group_of[host] == group]
    doubted = [host for pair in bad for host in pair if group_of.get(host) == group]
    partners = [host for pair in readings if set(pair) & set(doubted) for host in pair]
    paired = {host for pair in readings for host in pair}
    near = list(dict.fromkeys((*doubted, *partners)))
    rest = [host for host in members if host in paired and host not in near]
    # Among many names the few slow cells are not seen: then the rest of the group, all well, is left to the rounds.
    names = (near + rest if len(near) + len(rest) <= WHOLE_UP_TO else near)[:MOST_NAMES]
    code = "report.plots.pairs.rails_of" if kind is Kind.RAILS else "report.plots.pairs.nodes_of"
    title = say(code, group=one_line(group))
    return _picture(str(title), names, readings, slow, unit)


def _picture(title: str, names: Iterable[str], readings: _Readings, slow: float, unit: str) -> Picture:
    ordered = sorted(names, key=natural)
    kept = set(ordered)
    shown = {pair: read for pair, read in readings.items() if kept.issuperset(pair)}
    short = short_names(ordered)
    return Picture(
        place="search",
        title=one_line(title),
        sentence=_sentence(shown, slow),
        note=str(say("report.plots.pairs.note", unit=unit)),
        matrix=Matrix(
            names=tuple(map(one_line, ordered)),
            short=tuple(short[name] for name in ordered),
            rows=tuple(tuple(_cell(a, b, shown, slow) for b in ordered) for a in ordered),
        ),
    )


def _sentence(readings: _Readings, slow: float) -> str:
    bad = [pair for pair, read in readings.items() if _is_slow(read[-1], slow)]
    if not bad:
        return str(say("report.plots.pairs.none_slow", n=len(readings)))
    if len(bad) > MOST_PAIRS_NAMED:
        return str(say("report.plots.pairs.most_slow", n=len(readings), slow=len(bad)))
    pairs = ", ".join(str(say("report.plots.pairs.pair", a=one_line(a), b=one_line(b))) for a, b in sorted(bad))
    return str(say("report.plots.pairs.slow", n=len(readings), pairs=pairs))


def _is_slow(pair: PairLine, slow: float) -> bool:
    return pair_speed(pair, slow) is not Speed.FAST


def _cell(a: str, b: str, readings: _Readings, slow: float) -> MatrixCell:
    """Slow as the last reading says: a dip that did not repeat is none."""
    if a == b:
        return MatrixCell(is_self=True)
    read = readings.get((min(a, b), max(a, b)))
    if not read:
        return MatrixCell()
    return MatrixCell(" / ".join(_text(pair, slow) for pair in read), _is_slow(read[-1], slow))


def _text(pair: PairLine, slow: float) -> str:
    if pair.measured_gbyte_s is None:
        return str(say("report.search.stuck"))
    value = f"{pair.measured_gbyte_s:.1f}"
    if not _is_slow(pair, slow):
        return value
    return str(say("report.plots.pairs.loss", value=value, loss=round(100 * pair.loss)))
