"""Small outputs of any era in pieces, for cases that change one thing of them."""

from __future__ import annotations

from healthcheck.model.collective import Collective
from healthcheck.model.measurement import CollectiveRow, Placement
from healthcheck.simulator.render import (
    ERAS,
    Device,
    Extras,
    TableHead,
    average_busbw,
    footer,
    head,
    printed_size,
    redop_and_root,
    row,
)

SIZES = (1 << 20, 1 << 25, 1 << 30)
ALGBW = (1.25, 60.5, 131.31)
NO_EXTRAS = Extras()
MODEL = "NVIDIA A100-SXM4-80GB"


def devices(count: int = 4, hosts: tuple[str, ...] = ("nodeA", "nodeB"), groups: int = 1) -> tuple[Device, ...]:
    """Ranks spread over the hosts in blocks; `groups` colours, by rank modulo."""
    per_host = max(count // len(hosts), 1)
    return tuple(
        Device(
            rank,
            4000 + rank,
            hosts[min(rank // per_host, len(hosts) - 1)],
            rank % per_host,
            f"0000:{7 + 8 * (rank % per_host):02x}:00",
            MODEL,
            rank % groups,
        )
        for rank in range(count)
    )


class Output:
    """A run of an era: `head`, `rows` (lines) and `footer`; `text` is all of it."""

    def __init__(
        self,
        era: str = "E5f",
        collective: Collective = Collective.ALL_REDUCE,
        ranks: tuple[Device, ...] | None = None,
        extras: Extras = NO_EXTRAS,
        wrong: float | None = 0.0,
        n_ranks: int | None = None,
        factor: float | None = None,
        min_bytes: int = SIZES[0],
        tool_version: str | None = None,
    ) -> None:
        version = ERAS[era][0] if tool_version is None else tool_version
        ranks = devices() if ranks is None else ranks
        self.table = TableHead(version, collective, ranks, min_bytes, SIZES[-1], 32, era=era, extras=extras)
        members = len(ranks) if n_ranks is None else n_ranks
        self.values = tuple(
            self._row(size, algbw, members, factor, wrong) for size, algbw in zip(SIZES, ALGBW, strict=True)
        )
        out_of_bounds = 0 if not wrong else 2 * len(SIZES) * members
        self.head = head(self.table, simulated=False)
        self.rows = [row(self.table, value) for value in self.values]
        self.footer = footer(self.table, average_busbw(self.values), out_of_bounds)

    def _row(self, asked: int, algbw: float, members: int, factor: float | None, wrong: float | None) -> CollectiveRow:
        table = self.table
        size, count = printed_size(table, asked, members)
        redop, root = redop_and_root(table)
        times = table.collective.factor(members) if factor is None else factor
        unchecked = table.layout.wrong_count and not table.collective.in_place_is_checked
        halves = []
        for name, speed in (("out_of_place", algbw), ("in_place", algbw + 0.5)):
            value = None if unchecked and name == "in_place" else wrong
            numbers = (round(size / speed / 1e3, 2), speed, round(speed * times, 2))
            counted = table.layout.wrong_count
            half = Placement(*numbers, wrong=value) if counted else Placement(*numbers, max_delta=value)
            halves.append(half if name in table.halves else None)
        return CollectiveRow(size, count, "float", redop, root, halves[0], halves[1])

    @property
    def text(self) -> str:
        """The whole output."""
        return self.head + "".join(self.rows) + self.footer

    @property
    def body(self) -> str:
        """Up to the last row."""
        return self.head + "".join(self.rows)

    def tagged(self, tag: str) -> str:
        """Every line behind a tag."""
        return "".join(tag + line for line in self.text.splitlines(keepends=True))
