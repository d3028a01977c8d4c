"""Tables of every era, drawn at random, and what must come back when they are read."""

from __future__ import annotations

import math

from hypothesis import strategies as st
from msgspec import Struct

from healthcheck.model.collective import Collective
from healthcheck.model.measurement import CollectiveRow, CollectiveTable, Placement
from healthcheck.simulator.render import ERAS, Device, Extras, TableHead, printed_size, redop_and_root

_FIRST = frozenset({Collective.ALL_REDUCE, Collective.ALL_GATHER, Collective.REDUCE_SCATTER})
_FIRST |= {Collective.BROADCAST, Collective.REDUCE}
_LARGEST_TIME_US = 90_000.0


class Meant(Struct, frozen=True):
    """A table before it is printed."""

    head: TableHead
    rows: tuple[CollectiveRow, ...]

    @property
    def wrong(self) -> int:
        """Wrong values or deltas, summed."""
        halves = [half for row in self.rows for _, half in row.placements]
        return int(sum(half.wrong or half.max_delta or 0 for half in halves))


@st.composite
def tables(draw: st.DrawFn, era: str | None = None, good: bool = False) -> Meant:
    """Any table of any era (`good`: without wrong values). busbw follows from algbw, as it does in true ones."""
    name = draw(st.sampled_from(sorted(ERAS))) if era is None else era
    head = draw(_heads(name))
    count = draw(st.integers(1, 12))
    checked = draw(st.booleans())
    factor = head.collective.factor(len(head.devices))
    redop, root = redop_and_root(head)
    dtype = "float"

    def half(size: int) -> Placement:
        slowest = int(size / _LARGEST_TIME_US / 10) + 1
        algbw = draw(st.integers(slowest, max(80_000, slowest))) / 100
        values = (round(size / algbw / 1e3, 2), algbw, round(algbw * factor, 2))
        bad = float(draw(st.integers(0, 0 if good else 3))) if checked else None
        return Placement(*values, wrong=bad) if head.layout.wrong_count else Placement(*values, max_delta=bad)

    rows = []
    for step in range(count):
        size, elements = printed_size(head, 1 << (10 + 2 * step), len(head.devices))
        halves = {name: half(size) for name in head.halves}
        columns = (
            redop if "redop" in head.columns else None,
            root if "root" in head.columns else None,
        )
        rows.append(CollectiveRow(size, elements, dtype, *columns, halves.get("out_of_place"), halves.get("in_place")))
    return Meant(head, tuple(rows))


@st.composite
def _heads(draw: st.DrawFn, era: str) -> TableHead:
    version, layout = ERAS[era]
    known = [one for one in Collective if not layout.first or one in _FIRST]
    hosts, per_host = draw(st.integers(1, 4)), draw(st.integers(1, 8))
    devices = tuple(
        Device(rank, 1000 + rank, f"node{rank // per_host:02d}", rank % per_host, f"0000:{rank:02x}:00", "NVIDIA A100")
        for rank in range(hosts * per_host)
    )
    newest = layout.unalign
    extras = Extras(
        cpu_time=layout.group and draw(st.booleans()),
        timestamps=newest and draw(st.booleans()),
        per_iteration=newest and draw(st.booleans()),
        memory=newest and draw(st.booleans()),
        algorithm=layout.rccl == "synced" and draw(st.booleans()),
        in_place_only=layout.rccl is not None and draw(st.booleans()),
    )
    collective = draw(st.sampled_from(known))
    return TableHead(version, collective, devices, 1 << 10, 1 << 33, era=era, extras=extras)


def assert_same_rows(read: CollectiveTable, meant: Meant) -> None:
    """The rows as they were meant, as far as the printed digits can tell."""
    assert len(read.rows) == len(meant.rows)
    for got, row in zip(read.rows, meant.rows, strict=True):
        assert (got.size_bytes, got.count, got.dtype) == (row.size_bytes, row.count, row.dtype)
        assert (got.redop, got.root) == (row.redop, row.root)
        assert [name for name, _ in got.placements] == [name for name, _ in row.placements]
        for (_, half), (_, wanted) in zip(got.placements, row.placements, strict=True):
            coarse = 0.6 if meant.head.layout.first else 5e-3  # milliseconds with three decimals
            assert _close(half.time_us, wanted.time_us, coarse)
            assert _close(half.algbw_gbyte_s, wanted.algbw_gbyte_s, 5e-3)
            assert _close(half.busbw_gbyte_s, wanted.busbw_gbyte_s, 5e-3)
            assert (half.wrong, half.max_delta) == (wanted.wrong, wanted.max_delta)


def _close(printed: float | None, meant: float | None, coarse: float) -> bool:
    if printed is None or meant is None:
        return printed is meant
    return math.isclose(printed, meant, rel_tol=5e-3, abs_tol=coarse)
