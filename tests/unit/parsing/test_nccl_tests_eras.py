"""The columns of every era, several tables in one output, device lists."""

from __future__ import annotations

import pytest

from healthcheck.model.measurement import FailureKind, OutputState, ParsedOutput, Placement
from healthcheck.parsing.nccl_tests import parse_output
from tests.unit.parsing.samples import COLUMNS, FOOTER, GOOD, HEAD, ROW_1, ROW_2, kinds, only_table

E1 = """\
nThread 1 nGpus 2 minBytes 1024 maxBytes 1024 step: 2(factor) warmup iters: 5 iters: 20 validation: 1
# NCCL Tests compiled with NCCL 2.4
# Using devices
#   Rank  0 on      nodeA device  0 [0x07] Tesla V100-SXM2-32GB
#   Rank  1 on      nodeA device  1 [0x0a] Tesla V100-SXM2-32GB

#                                               out-of-place                    in-place
#      bytes             N    type      op     time  algbw  busbw      res     time  algbw  busbw      res
        1024           256   float     sum    0.022   0.05   0.07    5e-07    0.023   0.06   0.08\t    N/A
 Out of bounds values : 0 OK
 Avg bus bandwidth    : 0.075

"""


def test_the_first_era_printed_milliseconds_and_deltas() -> None:
    output = parse_output(E1)
    (row,) = only_table(output).rows
    assert row.out_of_place == Placement(22.0, 0.05, 0.07, max_delta=5e-07)
    assert row.in_place == Placement(23.0, 0.06, 0.08)
    assert (output.state, output.verified, output.wrong_values) == (OutputState.COMPLETE, True, None)
    assert only_table(output).n_ranks == 2


def test_the_first_era_measured_broadcast_out_of_place_only() -> None:
    start = E1.index("#                                ")
    text = E1[:start] + (
        "#                                             out-of-place\n"
        "#      bytes             N    type    root     time  algbw  busbw      res\n"
        "        1024           256   float       0    0.022   0.05   0.07    0e+00\n"
        " Out of bounds values : 0 OK\n Avg bus bandwidth    : 0.07\n"
    )
    (row,) = only_table(parse_output(text)).rows
    assert (row.root, row.redop, row.in_place) == (0, None, None)
    assert row.out_of_place == Placement(22.0, 0.05, 0.07, max_delta=0.0)


def era(columns: str, row: str) -> ParsedOutput:
    return parse_output(HEAD + columns + row + FOOTER)


def test_e2_reduce_has_redop_and_root() -> None:
    columns = "# size count type redop root time algbw busbw error time algbw busbw error\n"
    output = era(columns, " 1024 256 float sum 3 22.01 0.05 0.07 5e-07 22.02 0.06 0.08 N/A\n")
    (row,) = only_table(output).rows
    assert (row.redop, row.root) == ("sum", 3)
    assert row.out_of_place == Placement(22.01, 0.05, 0.07, max_delta=5e-07)


def test_e2_all_gather_has_neither() -> None:
    columns = "# size count type time algbw busbw error time algbw busbw error\n"
    (row,) = only_table(era(columns, " 1024 32 float 22.01 0.05 0.07 0e+00 22.02 0.06 0.08 0e+00\n")).rows
    assert (row.redop, row.root, row.count) == (None, None, 32)


def test_e2_broadcast_has_a_root_instead_of_a_redop() -> None:
    columns = "# size count type root time algbw busbw error time algbw busbw error\n"
    (row,) = only_table(era(columns, " 1024 256 float 0 22.01 0.05 0.07 0e+00 22.02 0.06 0.08 0e+00\n")).rows
    assert (row.redop, row.root) == (None, 0)


def test_e4a_leaves_the_redop_column_empty() -> None:
    (row,) = only_table(era(COLUMNS, " 1024 32 float        -1 22.01 0.05 0.07 0 22.02 0.06 0.08 0\n")).rows
    assert (row.redop, row.root, row.out_of_place) == (None, -1, Placement(22.01, 0.05, 0.07, wrong=0.0))


def test_cpu_time_is_a_time() -> None:
    assert len(only_table(parse_output(GOOD.replace(" time", " cputime"))).rows) == 2


@pytest.mark.parametrize("number", ["1.04858e+06", "2.68435e+08"])
def test_a_wrong_count_beyond_six_digits(number: str) -> None:
    output = parse_output(GOOD.replace(ROW_1, ROW_1.replace("      0\n", f"  {number}\n")))
    assert output.wrong_values == float(number)
    assert kinds(output) == [FailureKind.DATA_CHECK]


def test_numbers_that_overflow_their_column() -> None:
    row = " 8589934592 2147483648 float sum -1 143779 619657.10 6e+05 0 0.22 7017920.42 0.00 0\n"
    (got,) = only_table(era(COLUMNS, row)).rows
    assert got.out_of_place == Placement(143779.0, 619657.10, 6e05, wrong=0.0)
    assert got.in_place == Placement(0.22, 7017920.42, 0.0, wrong=0.0)


@pytest.mark.parametrize("value", ["nan", "-nan", "inf"])
def test_an_average_that_is_no_number(value: str) -> None:
    output = parse_output(GOOD.replace("0.125", value))
    assert only_table(output).avg_busbw_gbyte_s is None
    assert output.state is OutputState.COMPLETE


def test_timestamps_stand_behind_the_row() -> None:
    columns = COLUMNS.replace("#wrong\n", "#wrong           timestamp\n")
    (row,) = only_table(era(columns, ROW_1.rstrip("\n") + "  2026-11-29 15:39:34\n")).rows
    assert row.in_place == Placement(22.02, 0.05, 0.05, wrong=0.0)


def test_rccl_names_the_algorithm_behind_the_row() -> None:
    columns = COLUMNS.replace("#wrong\n", "#wrong  algo  proto  nchannels\n")
    (row,) = only_table(era(columns, ROW_1.rstrip("\n") + "  RING  LL128  16\n")).rows
    assert row.in_place == Placement(22.02, 0.05, 0.05, wrong=0.0)


def test_rccl_without_the_out_of_place_half() -> None:
    columns = "#                    in-place\n# size count type redop root time algbw busbw #wrong\n"
    (row,) = only_table(era(columns, " 1024 256 float sum -1 22.01 0.05 0.07 0\n")).rows
    assert (row.out_of_place, row.in_place) == (None, Placement(22.01, 0.05, 0.07, wrong=0.0))


def test_rccl_says_who_it_is() -> None:
    text = GOOD.replace("# nccl-tests version 2.19.6 nccl-headers=23203 nccl-library=23203\n", "")
    text = text.replace("# Using devices", "rccl-tests: Version develop:4a65e8d\n# Using devices")
    table = only_table(parse_output(text.replace("NVIDIA A100-SXM4-80GB", "AMD Instinct MI60 / MI50")))
    assert (table.tool, table.tool_version) == ("rccl-tests", "develop:4a65e8d")
    assert table.gpu_models == ("AMD Instinct MI60 / MI50",)


def test_a_version_with_its_commit() -> None:
    table = only_table(parse_output(GOOD.replace("version 2.19.6", "version 2.20.0 (b4d5bee)")))
    assert table.tool_version == "2.20.0 (b4d5bee)"


def test_runs_one_after_the_other() -> None:
    output = parse_output(GOOD + GOOD + GOOD)
    assert output.state is OutputState.COMPLETE
    assert [len(table.rows) for table in output.tables] == [2, 2, 2]


def test_rows_after_a_footer_belong_to_nobody() -> None:
    output = parse_output(GOOD + ROW_1 + ROW_2 + FOOTER)
    assert [len(table.rows) for table in output.tables] == [2, 0]
    assert output.state is OutputState.TRUNCATED


def test_a_crash_and_then_a_good_run() -> None:
    crash = HEAD + COLUMNS + ROW_1 + "nodeB: Test CUDA failure common.cu:9 'unspecified launch failure'\n"
    output = parse_output(crash + GOOD)
    assert [table.complete for table in output.tables] == [False, True]
    assert kinds(output) == [FailureKind.CUDA]


def test_old_runs_have_only_a_config_line_to_tell_them_apart() -> None:
    old = GOOD[GOOD.index("# nThread") :]
    output = parse_output(old + old, argv=("/opt/nccl-tests/build/all_reduce_perf", "-b", "1K"))
    assert [table.collective for table in output.tables] == ["all_reduce", "all_reduce"]
    assert "collective_inferred" in [warning.code for warning in output.warnings]


def test_sizes_start_again_for_the_next_data_type() -> None:
    doubles = (ROW_1 + ROW_2).replace(" float", "double")
    output = parse_output(HEAD + COLUMNS + ROW_1 + ROW_2 + doubles + FOOTER)
    assert output.state is OutputState.COMPLETE
    assert [row.dtype for row in only_table(output).rows] == ["float", "float", "double", "double"]


def test_tagged_processes_with_a_table_each_are_no_mpi_build() -> None:
    tagged = [[f"[1,{rank}]<stdout>:{line}" for line in GOOD.splitlines(True)] for rank in (0, 1)]
    mixed = [line for pair in zip(*tagged, strict=True) for line in pair]
    output = parse_output(mixed)
    assert kinds(output) == [FailureKind.NOT_MPI_BUILD]
    assert [len(table.rows) for table in output.tables] == [2, 2]


def test_containers_that_run_side_by_side_are_two_good_runs() -> None:
    tagged = [[f"{name}  | {line}" for line in GOOD.splitlines(True)] for name in ("left-1", "right-1")]
    output = parse_output([line for pair in zip(*tagged, strict=True) for line in pair])
    assert output.state is OutputState.COMPLETE
    assert [len(table.rows) for table in output.tables] == [2, 2]


def test_two_heads_from_one_mpirun_are_no_mpi_build() -> None:
    output = parse_output(GOOD + GOOD, argv=("mpirun", "-np", "2", "all_reduce_perf", "-g", "1"))
    assert kinds(output) == [FailureKind.NOT_MPI_BUILD]


def test_a_second_rank_0_in_one_list_is_no_mpi_build() -> None:
    first = HEAD.splitlines(True)[5]
    output = parse_output(GOOD.replace(first, first + first))
    assert kinds(output) == [FailureKind.NOT_MPI_BUILD]


def test_rank_numbers_repeat_where_processes_have_different_numbers_of_gpus() -> None:
    second = HEAD.splitlines(True)[6]
    output = parse_output(GOOD.replace(second, second + second))
    assert FailureKind.NOT_MPI_BUILD not in kinds(output)


def test_a_device_list_cut_inside_a_line() -> None:
    second = HEAD.splitlines(True)[6]
    output = parse_output(
        GOOD.replace(second, second[:60] + "#  Rank  2 Group  0 Pid 1 on nodeC device 0 [0000:07:00] X\n")
    )
    assert only_table(output).n_ranks is None
    assert [rank.rank for rank in only_table(output).ranks] == [0, 2]
    assert "device_list_cut" in [warning.code for warning in output.warnings]


def test_a_missing_device_line_is_not_counted_away() -> None:
    first = HEAD.splitlines(True)[5]
    assert only_table(parse_output(GOOD.replace(first, ""))).n_ranks is None


def test_nccl_s_own_log_knows_the_ranks_of_a_cut_list() -> None:
    first = HEAD.splitlines(True)[5]
    told = "nodeA:1:1 [0] NCCL INFO ncclCommInitRank comm 0x1 rank 0 nranks 2 cudaDev 0 busId 7000 - Init COMPLETE\n"
    output = parse_output(GOOD.replace(first, "").replace(COLUMNS, told + COLUMNS))
    assert only_table(output).n_ranks == 2
    assert "n_ranks_inferred" in [warning.code for warning in output.warnings]
