"""What `report.md` takes from the page: as much as a ticket bears. Everything else stands in report.html."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from healthcheck.model.message import say
from healthcheck.model.verdict import Verdict
from healthcheck.reporting.cluster_map import Group
from healthcheck.reporting.joining import in_a_row, pair
from healthcheck.reporting.map_rows import MapRow, map_rows
from healthcheck.reporting.names import folded, folded_titles
from healthcheck.reporting.node_table import NodeLine
from healthcheck.reporting.search_story import StoryRound, StoryRow
from healthcheck.reporting.since import Since
from healthcheck.reporting.since_rows import SinceRow
from healthcheck.reporting.ticket_rows import TicketRow, ticket_rows
from healthcheck.reporting.todo import Entry
from healthcheck.reporting.view import Page

MOST_FOR = 3
"""What speaks for a thing to do: the strongest; how many more there are is said."""
MOST_GROUPS = 6
ENTRY_LINES = 42
"""Lines of the things to do that are told in full, the most urgent at least; the others are rows of a table."""
MOST_ENTRIES = 24
"""Things to do in the table below those told in full."""
MOST_ROWS = 10
"""Rows of a table or list of which a large cluster could have any number; how many more there are is said."""
MOST_ROUNDS = 8
"""Rows of the search; of more than these the page has all."""
MOST_MOVED = 6
"""Rows of the comparison with the last run."""
_KEY_SETTINGS = ("driver", "cuda", "nccl", "mpi", "ofed", "kernel")
"""Settings worth a word in a ticket where all nodes agree on them."""


class SpeaksFor(Struct, frozen=True):
    """The strongest of what speaks for an entry: `told` as text, then raw lines by their place; `more` are left out."""

    told: tuple[str, ...]
    quotes: tuple[tuple[str, tuple[str, ...]], ...]
    more: str


class Reason(Struct, frozen=True):
    """Nodes (folded) that are not PASS for one reason that no entry tells."""

    nodes: str
    verdict: Verdict
    why: str


class Ticket(Struct, frozen=True):
    """The shortened parts, in the order of the page. `more_*` count what is left out.

    `full` are the things to do that are told in full, `speaks` for each of them its strongest evidence; `entries` of
    the `further` ones are rows of a table. `groups` are those of the map with nodes that are not PASS, or where there
    are many, the groups of each verdict. `rounds` are the rows of the search, none where they are too many; `moved`
    those of the comparison with the last run, none where nothing moved.
    """

    full: tuple[Entry, ...]
    speaks: tuple[SpeaksFor, ...]
    further: int
    entries: tuple[Entry, ...]
    more_entries: int
    groups: tuple[str, ...]
    rows: tuple[TicketRow, ...]
    rounds: tuple[tuple[StoryRound, StoryRow], ...]
    reasons: tuple[Reason, ...]
    more_reasons: int
    moved: tuple[SinceRow, ...]
    more_moved: int
    remarks: tuple[str, ...]
    more_remarks: int
    agree: str
    made_with: str
    limits: str
    files: str


def ticket(page: Page) -> Ticket:
    """The short form of a page."""
    touched = [group for group in page.cluster.groups if not group.all_pass]
    reasons = _reasons(page)
    full = _full(page.entries)
    others = (*page.entries[len(full) :], *page.more_entries)
    rounds = () if page.search is None else page.search.story.rounds
    told = tuple((one, row) for one in rounds for row in one.rows)
    moved = _moved(page.since)
    remarks = [
        *(str(say("report.looks.remark_line", nodes=one.nodes, text=one.text)) for one in page.looks.remarks),
        *(one.line for one in page.looks.not_read),
    ]
    return Ticket(
        full=full,
        speaks=tuple(map(_speaks, full)),
        further=len(others),
        entries=others[:MOST_ENTRIES],
        more_entries=len(others[MOST_ENTRIES:]),
        groups=tuple(map(_map_row, map_rows(touched, fold=False)) if len(touched) <= MOST_GROUPS else _where(touched)),
        rows=ticket_rows(page.bandwidth, [bar.known_good for bar in page.bars]),
        rounds=told if len(told) <= MOST_ROUNDS else (),
        reasons=reasons[:MOST_ROWS],
        more_reasons=len(reasons[MOST_ROWS:]),
        moved=moved[:MOST_MOVED],
        more_moved=len(moved[MOST_MOVED:]),
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


def _full(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """As many as `ENTRY_LINES` bear, from the first on; no table is made for the last one alone."""
    lines = 0
    for place, entry in enumerate(entries):
        lines += 7 + len(entry.commands) + 3 * bool(entry.commands)
        if lines > ENTRY_LINES and 0 < place < len(entries) - 1:
            return tuple(entries[:place])
    return tuple(entries)


def _speaks(entry: Entry) -> SpeaksFor:
    """Texts first: they say what a raw line means. Raw lines where there is room, and none that a text repeats."""
    told = entry.evidence_for[:MOST_FOR]
    raw = [(source, text) for source, text in entry.evidence if text not in set(entry.evidence_for)]
    quoted = raw[: MOST_FOR - len(told)]
    by_source: dict[str, list[str]] = {}
    for source, text in quoted:
        by_source.setdefault(source, []).append(text)
    left = len(entry.evidence_for) - len(told) + len(raw) - len(quoted)
    return SpeaksFor(
        told=told,
        quotes=tuple((source, tuple(texts)) for source, texts in by_source.items()),
        more=str(say("report.ticket.more_for", n=left)) if left else "",
    )


def _where(touched: Sequence[Group]) -> tuple[str, ...]:
    """For each verdict the groups in which it is: who has it stands in the table of verdicts."""
    found: dict[Verdict, list[str]] = {}
    for group in touched:
        for verdict, _ in group.others:
            found.setdefault(verdict, []).append(group.title)
    return tuple(pair(verdict.name, folded_titles(found[verdict])) for verdict in sorted(found, reverse=True))


def _map_row(row: MapRow) -> str:
    others = (f"{verdict.name} {names}" for verdict, names in row.others)
    return pair(row.title, in_a_row((row.count, *others), "text.comma"))


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
