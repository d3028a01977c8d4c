"""Every true capture: its state, its tables, its failures."""

from __future__ import annotations

import pytest

from healthcheck.model.measurement import FailureKind, OutputState, Placement
from healthcheck.parsing.nccl_tests import parse_output
from tests.unit.parsing.captures import nccl_capture, nccl_names

# name -> (ranks, hosts, rows, wrong_values, verified)
COMPLETE: dict[str, tuple[int | None, tuple[str, ...], int, float | None, bool]] = {
    "v2.10.1-coll-alltoall": (8, ("nodeA",), 10, None, True),
    "v2.10.1-mpi-np16-2hosts": (16, ("nodeA", "nodeB"), 31, None, True),
    "v2.10.1-sweep-g8": (8, ("nodeA",), 31, None, True),
    "v2.13.10-coll-hypercube": (8, ("nodeA",), 10, 0, True),
    "v2.13.10-coll-sendrecv": (8, ("nodeA",), 10, 0, True),
    "v2.13.10-mpi-np16-2hosts": (16, ("nodeA", "nodeB"), 31, 0, True),
    "v2.13.10-sweep-g8": (8, ("nodeA",), 31, 0, True),
    "v2.13.10-sweep-g8-c0": (8, ("nodeA",), 31, None, False),
    "v2.16.9-mpi-tag-output": (16, ("nodeA", "nodeB"), 4, 0, True),
    "v2.16.9-sweep-g8": (8, ("nodeA",), 31, 0, True),
    "v2.17.10-mpi-nccl-debug-info": (4, ("nodeA", "nodeB"), 4, 0, True),
    "v2.17.10-mpi-np16-2hosts": (16, ("nodeA", "nodeB"), 31, 0, True),
    "v2.17.10-sweep-g8": (8, ("nodeA",), 31, 0, True),
    "v2.19.6-device-lines-overflow-g32": (None, ("gpu-worker-rack12-0034",), 4, 0, True),
    "v2.19.6-json-J-mpi-2hosts": (16, ("nodeA", "nodeB"), 4, 0, True),
    "v2.19.6-memory-M1": (8, ("vm",), 4, 0, True),
    "v2.19.6-mpi-np16-2hosts": (16, ("nodeA", "nodeB"), 31, 0, True),
    "v2.19.6-mpi-slow-host": (16, ("nodeA", "nodeB"), 4, 0, True),
    "v2.19.6-mpi-split-div2": (2, ("nodeA",), 3, 0, True),
    "v2.19.6-per-iter-I1": (8, ("vm",), 4, 0, True),
    "v2.19.6-sweep-g8": (8, ("nodeA",), 31, 0, True),
    "v2.19.6-timestamps": (8, ("vm",), 4, 0, True),
}

# name -> (primary failures as (kind, host, line), rows read before it)
FAILED: dict[str, tuple[list[tuple[str, str | None, int | None]], int]] = {
    "v2.10.1-init-system-error-g8": ([("nccl", "vm", 12)], 0),
    "v2.10.1-wrong-g8": ([("data_check", None, 20)], 4),
    "v2.16.9-too-many-gpus-g9": ([("cuda", "vm", 5)], 0),
    "v2.16.9-wrong-g8": ([("data_check", None, 17)], 4),
    "v2.17.10-hang-own-timeout-T2": ([("timeout", "nodeA", 31), ("timeout", "nodeB", 39)], 17),
    "v2.19.6-coll-error-midway": ([("nccl", "nodeB", 30)], 17),
    "v2.19.6-crash-segv-midway": ([("killed", "nodeB", None)], 17),
    "v2.19.6-cuda-fabric-manager-down": ([("cuda", "nodeB", 6)], 0),
    "v2.19.6-help": ([("usage", None, 1)], 0),
    "v2.19.6-json-J-crash": ([("killed", "vm", None)], 17),
    "v2.19.6-mpi-tag-output-crash": ([("killed", "nodeB", None)], 17),
    "v2.19.6-n0": ([("no_measurement", None, 22)], 4),
    "v2.19.6-nompi-under-mpirun": ([("not_mpi_build", None, 30)], 16),
    "v2.19.6-stdout-disk-full": ([("no_measurement", None, None)], 0),
    "v2.19.6-unknown-option": ([("usage", None, 1)], 0),
    "v2.19.6-wrong-g8": ([("data_check", None, 18)], 4),
}


def test_every_capture_is_expected_here() -> None:
    assert sorted(COMPLETE | FAILED) == nccl_names()


@pytest.mark.parametrize("name", COMPLETE)
def test_good_run(name: str) -> None:
    ranks, hosts, rows, wrong, verified = COMPLETE[name]
    output = nccl_capture(name).parse()
    assert output.state is OutputState.COMPLETE
    assert output.failures == ()
    (table,) = output.tables
    assert table.complete
    assert (table.n_ranks, table.hosts, len(table.rows)) == (ranks, hosts, rows)
    assert (output.wrong_values, output.verified) == (wrong, verified)
    assert (table.out_of_bounds_count, table.out_of_bounds_ok) == (0, True)
    assert table.gpu_models == ("NVIDIA A100-SXM4-80GB",)


@pytest.mark.parametrize("name", FAILED)
def test_failed_run(name: str) -> None:
    primary, rows = FAILED[name]
    output = nccl_capture(name).parse()
    assert output.state is OutputState.FAILED
    assert [(f.kind.value, f.host, f.line) for f in output.failures if not f.secondary] == primary
    assert sum(len(table.rows) for table in output.tables) == rows


@pytest.mark.parametrize("name", sorted(COMPLETE))
def test_a_good_log_without_exit_code_reads_the_same(name: str) -> None:
    capture = nccl_capture(name)
    assert parse_output(capture.stdout) == capture.parse()


@pytest.mark.parametrize("name", sorted(COMPLETE))
def test_bytes_lines_and_text_are_the_same(name: str) -> None:
    text = nccl_capture(name).stdout
    whole = parse_output(text)
    assert parse_output(text.encode()) == whole
    assert parse_output(text.splitlines()) == whole
    assert parse_output(line.encode() for line in text.splitlines(keepends=True)) == whole


@pytest.mark.parametrize("name", sorted(COMPLETE))
def test_a_good_looking_log_of_a_failed_process_is_not_complete(name: str) -> None:
    output = parse_output(nccl_capture(name).stdout, exit_code=1)
    assert output.state is OutputState.FAILED
    assert "exit code 1" in output.failures[0].message


def test_of_ranks_that_each_ran_alone_both_reasons_are_named() -> None:
    (failure,) = nccl_capture("v2.19.6-nompi-under-mpirun").parse().failures
    assert "its own table" in failure.message
    assert "without MPI=1" in failure.message and "with another MPI than the launcher is of" in failure.message


def test_values_of_a_row() -> None:
    (table,) = nccl_capture("v2.19.6-sweep-g8").parse().tables
    row = table.rows[-1]
    assert (row.size_bytes, row.count, row.dtype, row.redop, row.root) == (1 << 33, 1 << 31, "float", "sum", -1)
    assert row.out_of_place == Placement(65634.1, 130.88, 229.03, wrong=0.0)
    assert row.in_place == Placement(65452.6, 131.24, 229.67, wrong=0.0)
    assert table.avg_busbw_gbyte_s == 95.7796
    assert (table.collective, table.tool, table.tool_version) == ("all_reduce", "nccl-tests", "2.19.6")


def test_ranks_of_a_device_list() -> None:
    (table,) = nccl_capture("v2.19.6-mpi-np16-2hosts").parse().tables
    assert [rank.rank for rank in table.ranks] == list(range(16))
    assert [rank.host for rank in table.ranks] == ["nodeA"] * 8 + ["nodeB"] * 8
    assert table.ranks[9].bus_id == "0000:0f:00"
    assert (table.ranks[9].device, table.ranks[9].group) == (1, 0)


def test_a_split_run_is_about_the_group_of_rank_0() -> None:
    (table,) = nccl_capture("v2.19.6-mpi-split-div2").parse().tables
    assert (table.n_ranks, table.hosts, len(table.ranks)) == (2, ("nodeA",), 16)


def test_a_cut_device_list_gives_no_number_of_ranks() -> None:
    output = nccl_capture("v2.19.6-device-lines-overflow-g32").parse()
    assert output.tables[0].n_ranks is None
    assert "device_list_cut" in [warning.code for warning in output.warnings]


def test_an_error_column_is_a_delta_not_a_count() -> None:
    output = nccl_capture("v2.10.1-wrong-g8").parse()
    half = output.tables[0].rows[0].out_of_place
    assert half is not None
    assert (half.wrong, half.max_delta) == (None, 3.0)
    assert (output.wrong_values, output.verified) == (None, True)


def test_a_row_of_size_zero_and_a_nan_average_are_unknown_not_zero() -> None:
    (table,) = nccl_capture("v2.10.1-coll-alltoall").parse().tables
    assert table.rows[0].out_of_place == Placement(0.0, None, None, max_delta=0.0)
    assert table.avg_busbw_gbyte_s is None
    assert table.rows[1].redop is None


def test_an_empty_redop_column_leaves_the_root_in_place() -> None:
    (table,) = nccl_capture("v2.13.10-coll-hypercube").parse().tables
    assert {(row.redop, row.root) for row in table.rows} == {(None, -1)}
    assert [row.size_bytes for row in table.rows[:3]] == [0, 0, 512]


def test_not_checked_is_none() -> None:
    output = nccl_capture("v2.13.10-coll-sendrecv").parse()
    row = output.tables[0].rows[0]
    assert row.out_of_place is not None
    assert row.in_place is not None
    assert (row.out_of_place.wrong, row.in_place.wrong) == (0.0, None)


def test_the_columns_of_one_iteration_are_not_taken_for_results() -> None:
    (table,) = nccl_capture("v2.19.6-per-iter-I1").parse().tables
    assert table.rows[0].out_of_place == Placement(19.97, 52.51, 91.90, wrong=0.0)
    assert table.rows[0].in_place == Placement(19.98, 52.48, 91.85, wrong=0.0)


def test_wrong_values_are_summed_over_rows_and_placements() -> None:
    assert nccl_capture("v2.19.6-wrong-g8").parse().wrong_values == 24 * 8


def test_a_half_row_is_a_warning_not_a_row() -> None:
    output = nccl_capture("v2.17.10-hang-own-timeout-T2").parse()
    assert [row.size_bytes for row in output.tables[0].rows][-1] == 524288
    assert [(warning.code, warning.line) for warning in output.warnings] == [("row_cut", 31)]


def test_what_the_launcher_says_follows_from_what_the_rank_said() -> None:
    failures = nccl_capture("v2.19.6-coll-error-midway").parse().failures
    assert [(failure.kind, failure.secondary) for failure in failures] == [
        (FailureKind.NCCL, False),
        (FailureKind.LAUNCHER, True),
    ]


def test_mixed_output_of_a_build_without_mpi_has_no_ranks_of_its_own() -> None:
    output = nccl_capture("v2.19.6-nompi-under-mpirun").parse()
    (table,) = output.tables
    assert (table.n_ranks, table.hosts, table.complete) == (None, ("nodeA", "nodeB"), False)
    assert (table.avg_busbw_gbyte_s, table.out_of_bounds_count) == (None, None)
