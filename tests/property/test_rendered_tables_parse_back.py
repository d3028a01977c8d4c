"""What the simulator prints is what the parser reads: both are held to the same true format from two sides."""

from __future__ import annotations

import math

from hypothesis import given, settings
from hypothesis import strategies as st

from healthcheck.model.collective import Collective
from healthcheck.model.measurement import CollectiveRow, OutputState, Placement
from healthcheck.parsing.nccl_tests import parse_output
from healthcheck.simulator.render import LAYOUTS, Device, TableHead, redop_and_root, render_table

versions = st.sampled_from(sorted(LAYOUTS))
collectives = st.sampled_from(
    [Collective.ALL_REDUCE, Collective.ALL_GATHER, Collective.REDUCE_SCATTER, Collective.BROADCAST, Collective.REDUCE]
)
bandwidths = st.floats(0.0, 2000.0).map(lambda value: round(value, 2))
times = st.floats(0.01, 99_999.0).map(lambda value: round(value, 2))


@st.composite
def heads(draw: st.DrawFn) -> TableHead:
    hosts = draw(st.integers(1, 4))
    per_host = draw(st.integers(1, 8))
    devices = tuple(
        Device(rank, 1000 + rank, f"node{rank // per_host:02d}", rank % per_host, f"0000:{rank:02x}:00", "NVIDIA A100")
        for rank in range(hosts * per_host)
    )
    return TableHead(draw(versions), draw(collectives), devices, min_bytes=1 << 20, max_bytes=1 << 33)


@st.composite
def rows(draw: st.DrawFn, head: TableHead) -> tuple[CollectiveRow, ...]:
    redop, root = redop_and_root(head.collective)
    checked = draw(st.booleans())

    def half() -> Placement:
        checked_value = float(draw(st.integers(0, 3))) if checked else None
        time_us, algbw, busbw = draw(times), draw(bandwidths), draw(bandwidths)
        if head.layout.wrong_count:
            return Placement(time_us, algbw, busbw, wrong=checked_value)
        return Placement(time_us, algbw, busbw, max_delta=checked_value)

    sizes = [1 << power for power in range(20, 20 + draw(st.integers(1, 14)))]
    return tuple(CollectiveRow(size, size // 4, "float", redop, root, half(), half()) for size in sizes)


def close(printed: float | None, meant: float | None) -> bool:
    """Equal as far as a column of six or seven characters can tell."""
    if printed is None or meant is None:
        return printed is meant
    return math.isclose(printed, meant, rel_tol=5e-3, abs_tol=5e-3)


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_the_same_rows_come_back(data: st.DataObject) -> None:
    head = data.draw(heads())
    meant = data.draw(rows(head))
    wrong = sum(half.wrong or half.max_delta or 0 for row in meant for _, half in row.placements)
    output = parse_output(render_table(head, meant, 123.456, int(wrong), simulated=False))
    (table,) = output.tables
    assert (table.n_ranks, len(table.rows)) == (len(head.devices), len(meant))
    assert table.hosts == tuple(dict.fromkeys(device.host for device in head.devices))
    assert output.state is (OutputState.FAILED if wrong else OutputState.COMPLETE)
    assert table.avg_busbw_gbyte_s == 123.456
    for read, row in zip(table.rows, meant, strict=True):
        assert (read.size_bytes, read.count, read.dtype) == (row.size_bytes, row.count, row.dtype)
        for (_, got), (_, half) in zip(read.placements, row.placements, strict=True):
            assert close(got.time_us, half.time_us)
            assert close(got.algbw_gbyte_s, half.algbw_gbyte_s)
            assert close(got.busbw_gbyte_s, half.busbw_gbyte_s)
            assert (got.wrong, got.max_delta) == (half.wrong, half.max_delta)


def test_a_simulated_table_says_so() -> None:
    device = Device(0, 1, "node01", 0, "0000:07:00", "NVIDIA A100")
    head = TableHead("2.19.6", Collective.ALL_REDUCE, (device,), min_bytes=8, max_bytes=8)
    row = CollectiveRow(
        8, 2, "float", "sum", -1, Placement(1.0, 1.0, 0.0, wrong=0.0), Placement(1.0, 1.0, 0.0, wrong=0.0)
    )
    output = parse_output(render_table(head, (row,), 0.0, 0))
    assert output.state is OutputState.COMPLETE
    assert [warning.code for warning in output.warnings] == ["simulated"]
