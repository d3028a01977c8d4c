"""What `report.md` takes from the page: as much as a ticket bears. Everything else stands in report.html."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from healthcheck.model.message import say
from healthcheck.model.verdict import Verdict
from healthcheck.reporting.bandwidth import Bandwidth, BandwidthRow
from healthcheck.reporting.joining import in_a_row, pair
from healthcheck.reporting.map_rows import MapRow, map_rows
from healthcheck.reporting.names import folded
from healthcheck.reporting.node_table import NodeLine
from healthcheck.reporting.since import Since
from healthcheck.reporting.since_rows import SinceRow
from healthcheck.reporting.todo import Entry
from healthcheck.reporting.view import Page

MOST_SOURCES, MOST_QUOTES = 3, 3
"""Raw lines of one entry: from how many places, and how many of each."""
MOST_GROUPS = 8
MOST_ENTRIES = 40
"""Things to do in the table below those told in full."""
MOST_ROWS = 12
"""Rows of a table or list of which a large cluster could have any number; how many more there are is said."""
_KEY_SETTINGS = ("driver", "cuda", "nccl", "mpi", "ofed", "kernel")
"""Settings worth a word in a ticket where all nodes agree on them."""


class Reason(Struct, frozen=True):
    """Nodes (folded) that are not PASS for one reason that no entry tells."""

    nodes: str
    verdict: Verdict
    why: str


class Ticket(Struct, frozen=True):
    """The shortened parts, in the order of the page. `more_*` count what is left out.

    `quotes` are, for each entry in full, places and their raw lines that say something its evidence does not. `rows`
    are those of the bandwidth table, each with its share of known-good and the rule that decided; `moved` those of the
    comparison with the last run, none where nothing moved.
    """

    quotes: tuple[tuple[tuple[str, tuple[str, ...]], ...], ...]
    entries: tuple[Entry, ...]
    more_entries: int
    groups: tuple[str, ...]
    more_groups: int
    rows: tuple[tuple[BandwidthRow, str, str], ...]
    reasons: tuple[Reason, ...]
    more_reasons: int
    moved: tuple[SinceRow, ...]
    remarks: tuple[str, ...]
    more_remarks: int
    agree: str
    made_with: str
    limits: str
    files: str


def ticket(page: Page) -> Ticket:
    """The short form of a page."""
    touched = [group for group in page.cluster.groups if not group.all_pass]
    rows = map_rows(touched, fold=len(touched) > MOST_GROUPS)
    reasons = _reasons(page)
    remarks = [
        *(str(say("report.looks.remark_line", nodes=one.nodes, text=one.text)) for one in page.looks.remarks),
        *(one.line for one in page.looks.not_read),
    ]
    return Ticket(
        quotes=tuple(map(_quotes, page.entries)),
        entries=page.more_entries[:MOST_ENTRIES],
        more_entries=len(page.more_entries[MOST_ENTRIES:]),
        groups=tuple(map(_map_row, rows[:MOST_GROUPS])),
        more_groups=sum(row.groups for row in rows[MOST_GROUPS:]),
        rows=_rows(page.bandwidth, [bar.known_good for bar in page.bars]),
        reasons=reasons[:MOST_ROWS],
        more_reasons=len(reasons[MOST_ROWS:]),
        moved=_moved(page.since),
        remarks=tuple(remarks[:MOST_ROWS]),
        more_remarks=len(remarks[MOST_ROWS:]),
        agree=in_a_row(
            (f"{row.name} {row.value}" for name in _KEY_SETTINGS for row in page.fleet.agree if row.name == name),
            "text.comma",
        ),
        made_with=" · ".join(f"{name} {value}" for name, value in page.tools),
        limits=in_a_row(
            say("report.ticket.limit", what=what, peak=peak, healthy=healthy, broken=broken)
            for what, peak, healthy, broken, _ in page.limits
        ),
        files=str(say(_files(page))),
    )


def _files(page: Page) -> str:
    """The code of the text that says what the other files hold: nothing is promised that this run has none of."""
    if page.search is not None:
        return "report.ticket.files"
    return "report.ticket.files_jobs" if page.bandwidth.rows else "report.ticket.files_looks"


def _quotes(entry: Entry) -> tuple[tuple[str, tuple[str, ...]], ...]:
    told = set(entry.evidence_for)
    by_source: dict[str, list[str]] = {}
    for source, text in entry.evidence:
        if text not in told:
            by_source.setdefault(source, []).append(text)
    return tuple((source, tuple(texts[:MOST_QUOTES])) for source, texts in list(by_source.items())[:MOST_SOURCES])


def _map_row(row: MapRow) -> str:
    others = (f"{verdict.name} {names}" for verdict, names in row.others)
    return pair(row.title, in_a_row((row.count, *others), "text.comma"))


def _rows(table: Bandwidth, known_good: Sequence[str]) -> tuple[tuple[BandwidthRow, str, str], ...]:
    """(row, of known-good, which rule and why); the other rules stand in report.html."""
    return tuple(
        (row, good, pair(row.rule, row.why) if row.rule and row.why else row.rule or row.why)
        for row, good in zip(table.rows, known_good, strict=True)
    )


def _moved(since: Since | None) -> tuple[SinceRow, ...]:
    rows = () if since is None else since.rows
    same = str(say("report.since.same"))
    return rows if any(row.read_as != same for row in rows) else ()


def _reasons(page: Page) -> tuple[Reason, ...]:
    """Nodes that are not PASS and stand in no entry, those with one reason together, the most urgent first."""
    told = {host for entry in (*page.entries, *page.more_entries) for host in entry.hosts}
    alike: dict[tuple[Verdict, str], list[NodeLine]] = {}
    for node in page.not_pass:
        if node.name not in told:
            alike.setdefault((node.verdict, node.why), []).append(node)
    return tuple(Reason(folded(node.name for node in nodes), verdict, why) for (verdict, why), nodes in alike.items())
