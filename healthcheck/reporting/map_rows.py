"""The cluster map where it is text: groups whose nodes have the same verdicts in the same places share a row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from healthcheck.model.message import say
from healthcheck.model.verdict import Verdict
from healthcheck.reporting.cluster_map import Group
from healthcheck.reporting.figures import letter
from healthcheck.reporting.names import folded, folded_titles


class MapRow(Struct, frozen=True):
    """`title` names its groups, folded; `others` are their nodes that are not PASS, folded by verdict."""

    title: str
    groups: int
    letters: str
    count: str
    others: tuple[tuple[Verdict, str], ...]
    counts: tuple[tuple[Verdict, int], ...]

    def told(self, longest: int) -> str:
        """`FAIL gpu013 SKIPPED gpu[015-016]`; how many they are where the names would be longer than `longest`."""
        names = " ".join(f"{verdict.name} {hosts}" for verdict, hosts in self.others)
        if len(names) <= longest:
            return names
        return " ".join(f"{verdict.name} {say('report.who.nodes', n=count)}" for verdict, count in self.counts)


def map_rows(groups: Iterable[Group], fold: bool) -> tuple[MapRow, ...]:
    """One row a group; with `fold` those that look the same are one row, where the first of them stood."""
    alike: dict[object, list[Group]] = {}
    for place, group in enumerate(groups):
        alike.setdefault(group.letters if fold else place, []).append(group)
    return tuple(map(_row, alike.values()))


def _row(groups: Sequence[Group]) -> MapRow:
    first = groups[0]
    counts = tuple((verdict, len(groups) * first.letters.count(letter(verdict))) for verdict, _ in first.others)
    if len(groups) == 1:
        return MapRow(first.title, 1, first.letters, first.count, first.others, counts)
    by_verdict: dict[Verdict, list[str]] = {verdict: [] for verdict, _ in first.others}
    for group in groups:
        for cell in group.cells:
            if cell.verdict is not Verdict.PASS:
                by_verdict[cell.verdict].append(cell.name)
    return MapRow(
        folded_titles(group.title for group in groups),
        len(groups),
        first.letters,
        str(say("report.map.count_each", count=first.count)),
        tuple((verdict, folded(names)) for verdict, names in by_verdict.items()),
        counts,
    )
