"""What the simulator prints, of any era and however disguised, is what the parser reads."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from healthcheck.model.collective import Collective
from healthcheck.model.measurement import CollectiveRow, OutputState, Placement
from healthcheck.parsing.nccl_tests import parse_output
from healthcheck.simulator.render import ERAS, Device, TableHead, render_table
from tests.property import disguise
from tests.property.rendered import Meant, assert_same_rows, tables

NOT_JUDGED = {Collective.HYPERCUBE, Collective.ALLTOALL, Collective.ALLTOALLV, Collective.SENDRECV}


@pytest.mark.parametrize("era", ERAS)
@settings(max_examples=12, deadline=None)
@given(st.data())
def test_a_table_of_any_era_comes_back(era: str, data: st.DataObject) -> None:
    meant = data.draw(tables(era))
    output = parse_output(
        render_table(meant.head, meant.rows, 123.456, meant.wrong, simulated=False),
        argv=(meant.head.collective.binary,),
    )
    (table,) = output.tables
    assert_same_rows(table, meant)
    assert table.collective == meant.head.collective.value
    assert table.n_ranks == len(meant.head.devices)
    assert table.hosts == tuple(dict.fromkeys(device.host for device in meant.head.devices))
    assert table.avg_busbw_gbyte_s == 123.456
    assert (table.out_of_bounds_count, table.out_of_bounds_ok) == (meant.wrong, not meant.wrong)
    if meant.head.collective not in NOT_JUDGED:
        assert output.state is (OutputState.FAILED if meant.wrong else OutputState.COMPLETE)
    if ERAS[era][1].rccl is not None:
        assert table.tool == "rccl-tests"
    if ERAS[era][1].version_line:
        assert table.tool_version == ERAS[era][0]
    assert {warning.code for warning in output.warnings} <= {"collective_inferred", "wrong_not_judged"}


def _read_back(text: str | bytes, meant: Meant) -> None:
    output = parse_output(text)
    (table,) = output.tables
    assert_same_rows(table, meant)
    assert output.state is OutputState.COMPLETE
    assert table.n_ranks == len(meant.head.devices)


@settings(max_examples=120, deadline=None)
@given(st.data())
def test_prefixes_and_noise_change_nothing(data: st.DataObject) -> None:
    meant = data.draw(tables(good=True))
    _read_back(data.draw(disguise.disguised(meant)), meant)


@settings(max_examples=120, deadline=None)
@given(st.data())
def test_rows_in_pieces_are_whole_again(data: st.DataObject) -> None:
    meant = data.draw(tables(good=True))
    _read_back(data.draw(disguise.torn(meant)), meant)


@pytest.mark.parametrize(
    "wrap",
    [
        disguise.markdown,
        disguise.one_json_line_each,
        disguise.one_json_line_for_all,
        disguise.escaped,
        disguise.utf16,
    ],
)
@settings(max_examples=25, deadline=None)
@given(st.data())
def test_a_wrapped_output_is_the_same(wrap: Callable[[Meant], str | bytes], data: st.DataObject) -> None:
    meant = data.draw(tables(good=True))
    _read_back(wrap(meant), meant)


def test_a_simulated_table_says_so() -> None:
    device = Device(0, 1, "node01", 0, "0000:07:00", "NVIDIA A100")
    head = TableHead("2.19.6", Collective.ALL_REDUCE, (device,), min_bytes=8, max_bytes=8)
    row = CollectiveRow(
        8, 2, "float", "sum", -1, Placement(1.0, 1.0, 0.0, wrong=0.0), Placement(1.0, 1.0, 0.0, wrong=0.0)
    )
    output = parse_output(render_table(head, (row,), 0.0, 0))
    assert output.state is OutputState.COMPLETE
    assert [warning.code for warning in output.warnings] == ["simulated"]
