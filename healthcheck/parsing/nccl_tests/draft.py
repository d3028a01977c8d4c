"""A table while it is being read, and what it becomes."""

from __future__ import annotations

from enum import IntEnum

from healthcheck.model.measurement import CollectiveRow, CollectiveTable, ParseWarning, Placement, Rank
from healthcheck.parsing.nccl_tests.layout import Layout
from healthcheck.parsing.nccl_tests.ranks import count_ranks, is_whole


class Stage(IntEnum):
    """How far down a table we are. A line of an earlier stage starts the next table."""

    NOTHING = 0
    VERSION = 1
    STARTING = 2
    CONFIG = 3
    DEVICES = 4
    HEADER = 5
    ROWS = 6
    BOUNDS = 7
    AVERAGE = 8


class Draft:
    """One table so far. Plain attributes: this is the one mutable thing of the parser."""

    def __init__(self) -> None:
        self.stage = Stage.NOTHING
        self.line: int | None = None  # of the config line
        self.tool: str | None = None
        self.tool_version: str | None = None
        self.collective: str | None = None
        self.command: str | None = None
        self.trace: str | None = None
        self.gpus_per_process: int | None = None
        self.configured = False
        self.ranks: list[Rank] = []
        self.devices_cut = False
        self.init_ranks: set[int] = set()
        self.known_ranks: int | None = None  # as its format says
        self.layout: Layout | None = None
        self.rows: list[CollectiveRow] = []
        self.lines: list[int] = []
        self.joined: set[int] = set()  # lines of rows that were put together from pieces
        self.loose_rows: list[CollectiveRow] = []
        self.loose_lines: list[int] = []
        self.unread_rows = False
        self.bounds: tuple[int, bool, int] | None = None
        self.average: float | None = None
        self.average_ok: bool | None = None
        self.average_line: int | None = None

    @property
    def finished(self) -> bool:
        """Both footer lines came."""
        return self.bounds is not None and self.average_line is not None

    @property
    def complete(self) -> bool:
        """Config line, column header, a measured row and the footer."""
        return self.configured and self.layout is not None and self.finished and any(map(measured, self.rows))

    @property
    def started(self) -> bool:
        """Something of a table was seen, more than what stands in front of one."""
        return self.stage >= Stage.CONFIG or bool(self.rows) or bool(self.loose_rows)

    def group(self) -> list[Rank]:
        """The devices of the communicator the table is about: under a split, world rank 0's group."""
        first = next((rank for rank in self.ranks if rank.rank == 0), None)
        return [rank for rank in self.ranks if first is None or rank.group == first.group]

    def add_row(self, row: CollectiveRow, line: int) -> None:
        """One more measured size."""
        self.stage = Stage.ROWS
        self.rows.append(row)
        self.lines.append(line)

    def drop_joined(self) -> list[int]:
        """Take out the rows that were put together from pieces, when nobody knows whose pieces they were."""
        kept = [(row, line) for row, line in zip(self.rows, self.lines, strict=True) if line not in self.joined]
        dropped = sorted(self.joined)
        self.rows, self.lines, self.joined = [row for row, _ in kept], [line for _, line in kept], set()
        return dropped

    def table(self, merged: bool, warnings: list[ParseWarning]) -> CollectiveTable:
        """The value. `merged`: rows of several processes are mixed in here, so it has no communicator of its own."""
        group = self.group()
        n_ranks = None if merged else self._n_ranks(len(group), warnings)
        models = (rank.model for rank in group if rank.model)
        return CollectiveTable(
            collective=self.collective,
            tool=self.tool,
            tool_version=self.tool_version,
            n_ranks=n_ranks,
            hosts=tuple(dict.fromkeys(rank.host for rank in group)),
            gpu_models=tuple(dict.fromkeys(models)),
            ranks=tuple(self.ranks),
            rows=tuple(self.rows),
            avg_busbw_gbyte_s=None if merged else self.average,
            out_of_bounds_count=None if merged or self.bounds is None else self.bounds[0],
            out_of_bounds_ok=None if merged or self.bounds is None else self.bounds[1],
            complete=self.complete and not merged,
        )

    def _n_ranks(self, listed: int, warnings: list[ParseWarning]) -> int | None:
        if self.known_ranks is not None:
            return self.known_ranks
        whole = is_whole(self.ranks, self.gpus_per_process or 1) and not self.devices_cut
        if self.ranks and not whole:
            text = "the device list is cut: hosts and ranks may be missing"
            warnings.append(ParseWarning("device_list_cut", text, self.line))
        told = frozenset(self.init_ranks)
        ranks, warning = count_ranks(listed if whole else None, told, self.rows, self.collective)
        if warning is not None:
            warnings.append(ParseWarning(warning.code, warning.message, self.line))
        return ranks


def measured(row: CollectiveRow) -> bool:
    """True when at least one half was timed."""
    return any(_timed(half) for _, half in row.placements)


def _timed(half: Placement) -> bool:
    return half.time_us is not None and half.algbw_gbyte_s is not None


def merge(drafts: list[Draft]) -> Draft:
    """One draft from the pieces of interleaved output, where nobody can tell whose line is whose."""
    whole = drafts[0]
    for other in drafts[1:]:
        whole.tool = whole.tool or other.tool
        whole.tool_version = whole.tool_version or other.tool_version
        whole.collective = whole.collective or other.collective
        whole.command = whole.command or other.command
        whole.trace = whole.trace or other.trace
        whole.ranks += other.ranks
        whole.rows += other.rows
        whole.lines += other.lines
        whole.joined |= other.joined
    for draft in drafts:
        whole.rows += draft.loose_rows
        whole.lines += draft.loose_lines
    in_order = sorted(zip(whole.lines, whole.rows, strict=True), key=lambda pair: pair[0])
    whole.lines, whole.rows = [line for line, _ in in_order], [row for _, row in in_order]
    return whole
