"""A job that did not measure must never look like one that did, nor a fault like a missing measurement."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from healthcheck.evaluation.integrity import consistent, covers, judge_integrity, wrong_values
from healthcheck.model.collective import Collective
from healthcheck.model.command import ExitKind
from healthcheck.model.measurement import (
    CollectiveRow,
    Failure,
    FailureKind,
    OutputState,
    ParseWarning,
    Placement,
)
from healthcheck.model.message import Message, say
from healthcheck.model.verdict import Verdict
from tests.unit.evaluation.builders import GIB, job, outcome, row, sweep


def test_a_whole_checked_table_is_a_measurement() -> None:
    assert judge_integrity(outcome(sweep(230.0))).verdict is Verdict.PASS


@pytest.mark.parametrize("wrong", [(3.0, 0.0), (0.0, 3.0)])
def test_wrong_values_are_fail_even_in_a_fast_complete_run(wrong: tuple[float, float]) -> None:
    found = judge_integrity(outcome((row(GIB, 230.0, 230.0, wrong=wrong), *sweep(230.0)[1:])))
    assert found.verdict is Verdict.FAIL
    assert "3 values" in str(found.message)


def test_wrong_values_that_good_hardware_prints_too_do_not_count() -> None:
    rows = (row(GIB, 230.0, 230.0, wrong=(0.0, 9.0)),)
    exchange = replace(job(sizes=(GIB, GIB)), collective=Collective.ALLTOALL)
    assert wrong_values(outcome(rows, of=exchange)) == 0
    assert wrong_values(outcome((row(GIB, 230.0, 230.0, wrong=(9.0, 0.0)),), of=exchange)) == 9
    cube = replace(exchange, collective=Collective.HYPERCUBE)
    assert wrong_values(outcome((row(GIB, 230.0, 230.0, wrong=(9.0, 9.0)),), of=cube)) == 0


@pytest.mark.parametrize("kind", ["rank_exited", "mpi_abort", "daemon_lost", "killed"])
def test_what_only_the_launcher_saw_is_a_fault_once_the_test_had_begun(kind: str) -> None:
    error = Message(f"launch.{kind}", {})
    vague = (Failure(FailureKind.LAUNCHER, "mpirun detected that one or more processes exited", None, 3),)
    begun = outcome((), state=OutputState.FAILED, exit_code=1, failures=vague, launch_error=error)
    assert judge_integrity(begun).verdict is Verdict.FAIL
    assert judge_integrity(begun).rule == f"integrity.{kind}"
    never = outcome((), state=OutputState.FAILED, exit_code=1, failures=vague, launch_error=error, started=False)
    assert judge_integrity(never).verdict is Verdict.INCONCLUSIVE


def test_ranks_that_each_ran_alone_for_want_of_a_pmi_are_no_build_without_mpi() -> None:
    error = Message("launch.no_pmi", {"line": "No PMIx server was reachable, but a PMI1/2 was detected."})
    mixed = (Failure(FailureKind.NOT_MPI_BUILD, "every process printed its own table", None, 3),)
    several = outcome(
        sweep(230.0), state=OutputState.FAILED, exit_code=0, failures=mixed, launch_error=error, n_ranks=1
    )
    found = judge_integrity(several)
    assert (found.verdict, found.rule) == (Verdict.INCONCLUSIVE, "integrity.no_pmi")
    assert "No PMIx server" in str(found.message)
    ended = outcome((), state=OutputState.EMPTY, exit_code=16, launch_error=error, started=False)
    assert judge_integrity(ended).rule == "integrity.no_pmi"
    assert judge_integrity(outcome(sweep(230.0), launch_error=error)).verdict is Verdict.PASS, "all ranks, one table"


@pytest.mark.parametrize("kind", [FailureKind.UNKNOWN, FailureKind.KILLED, FailureKind.TIMEOUT])
def test_an_exit_code_without_a_reason_proves_a_fault_only_once_the_test_had_begun(kind: FailureKind) -> None:
    failure = (Failure(kind, "exit code 137"),)
    begun = outcome((), state=OutputState.FAILED, exit_code=137, failures=failure)
    never = outcome((), state=OutputState.FAILED, exit_code=137, failures=failure, started=False)
    assert judge_integrity(begun).verdict is Verdict.FAIL
    assert judge_integrity(never).verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize("kind", [ExitKind.STALLED, ExitKind.TIMED_OUT])
def test_a_job_that_started_and_stopped_is_broken_one_that_never_started_is_unknown(kind: ExitKind) -> None:
    begun = outcome((), state=OutputState.TRUNCATED, kind=kind, exit_code=None, verified=None)
    never = outcome((), state=OutputState.EMPTY, kind=kind, exit_code=None, verified=None, started=False)
    assert judge_integrity(begun).verdict is Verdict.FAIL
    assert judge_integrity(never).verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize(
    "kind", [ExitKind.UNREACHABLE, ExitKind.LOGIN_REFUSED, ExitKind.HOST_KEY_UNKNOWN, ExitKind.STOPPED]
)
def test_what_was_never_measured_is_inconclusive(kind: ExitKind) -> None:
    nothing = outcome((), state=OutputState.EMPTY, kind=kind, exit_code=None, verified=None, started=False)
    assert judge_integrity(nothing).verdict is Verdict.INCONCLUSIVE


def test_a_printed_cuda_error_outranks_the_way_the_job_was_ended() -> None:
    failure = Failure(FailureKind.CUDA, "uncorrectable ECC error encountered", "node03", 12)
    found = judge_integrity(
        outcome((), state=OutputState.FAILED, kind=ExitKind.STOPPED, exit_code=None, failures=(failure,))
    )
    assert found.verdict is Verdict.FAIL
    assert found.rule == "integrity.cuda"
    assert "ECC" in found.evidence[0].text and "node03" in found.evidence[0].source


def test_a_secondary_failure_does_not_hide_the_first_cause() -> None:
    late = Failure(FailureKind.NCCL, "remote process exited", "node01", 3, secondary=True)
    cause = Failure(FailureKind.IB_COMPLETION, "status=12", "node04", 9)
    found = judge_integrity(outcome((), state=OutputState.FAILED, exit_code=3, failures=(late, cause)))
    assert found.rule == "integrity.ib_completion"


def test_a_missing_binary_is_not_a_broken_node() -> None:
    error = say("launch.binary_missing", host="node02", program="all_reduce_perf")
    found = judge_integrity(
        outcome((), state=OutputState.EMPTY, exit_code=132, verified=None, started=False, launch_error=error)
    )
    assert found.verdict is Verdict.INCONCLUSIVE
    assert found.rule == "integrity.binary_missing"


def test_a_crashed_rank_is() -> None:
    error = say("launch.rank_signalled", host="node02", rank=1, signal="11")
    found = judge_integrity(outcome((), state=OutputState.TRUNCATED, exit_code=139, launch_error=error))
    assert found.verdict is Verdict.FAIL


def test_what_the_launcher_is_read_to_say_outranks_the_line_of_it_that_was_printed() -> None:
    printed = Failure(FailureKind.LAUNCHER, "mpirun detected that one or more processes exited", None, 40)
    error = say("launch.rank_exited", host="node02", rank=1, code=3)
    found = judge_integrity(
        outcome((), state=OutputState.TRUNCATED, exit_code=3, failures=(printed,), launch_error=error)
    )
    assert (found.verdict, found.rule) == (Verdict.FAIL, "integrity.rank_exited")
    assert found.message == error


def test_exit_code_zero_without_a_footer_proves_nothing() -> None:
    assert judge_integrity(outcome(sweep(230.0), state=OutputState.TRUNCATED)).verdict is Verdict.INCONCLUSIVE


def test_a_complete_table_with_a_bad_exit_code_is_a_failure() -> None:
    assert judge_integrity(outcome(sweep(230.0), exit_code=9)).verdict is Verdict.FAIL


def test_a_table_that_is_complete_counts_though_mpirun_hung_in_teardown() -> None:
    assert judge_integrity(outcome(sweep(230.0), kind=ExitKind.TEARDOWN_HUNG, exit_code=None)).verdict is Verdict.PASS


@pytest.mark.parametrize("found", [16, 1, None])
def test_another_number_of_ranks_is_another_measurement(found: int | None) -> None:
    assert judge_integrity(outcome(sweep(230.0), n_ranks=found)).rule == "integrity.ranks"


def test_a_missing_size_is_not_overlooked() -> None:
    assert judge_integrity(outcome(sweep(230.0)[:-1])).rule == "integrity.sizes"


def test_a_size_lowered_for_lack_of_memory_is_judged_by_what_is_left() -> None:
    lowered = (ParseWarning("max_bytes_reduced", "Reducing maxBytes", 9),)
    assert judge_integrity(outcome(sweep(230.0)[:-1], warnings=lowered)).verdict is Verdict.PASS


def test_unchecked_results_are_no_measurement_where_a_check_was_asked_for() -> None:
    assert judge_integrity(outcome(sweep(230.0), verified=False)).rule == "integrity.unverified"
    unchecked = outcome(sweep(230.0), of=job(check=False), verified=False)
    assert judge_integrity(unchecked).verdict is Verdict.PASS


def test_sizes_match_when_the_cut_is_smaller_than_the_ranks_explain() -> None:
    # 8 ranks x 16 x 4 bytes: the printed 8589934560 of a true log, and one step too far.
    assert covers(row(8 * GIB - 511, 230.0), 8 * GIB, 8)
    assert not covers(row(8 * GIB - 512, 230.0), 8 * GIB, 8)
    assert not covers(row(8 * GIB + 4, 230.0), 8 * GIB, 8)


def test_bus_bandwidth_that_contradicts_the_algorithm_bandwidth_is_noticed() -> None:
    good = row(GIB, 230.0, 230.0)
    assert consistent(good, 1.75)
    # The factor of an article that forgot the 2: busbw below algbw for 8 ranks.
    assert not consistent(good, 0.875)


def test_ranks_that_all_ran_on_one_host_measured_no_network() -> None:
    together = job(hosts=2)
    crowded = outcome(sweep(230.0, n_ranks=16), of=together, n_ranks=16, ran_on=("node01",))
    assert judge_integrity(crowded).rule == "integrity.hosts"
    assert judge_integrity(crowded).verdict is Verdict.INCONCLUSIVE
    spread = outcome(sweep(230.0, n_ranks=16), of=together, n_ranks=16)
    assert judge_integrity(spread).verdict is Verdict.PASS
    cut = (ParseWarning("device_list_cut", "the device list is cut", 9),)
    unsure = outcome(sweep(230.0, n_ranks=16), of=together, n_ranks=16, ran_on=("node01",), warnings=cut)
    assert judge_integrity(unsure).verdict is Verdict.PASS


def test_a_sweep_from_tiny_sizes_is_not_called_contradictory() -> None:
    tiny = CollectiveRow(8, 2, "float", "sum", -1, Placement(21.5, 0.0, 0.0, 0.0), Placement(21.4, 0.0, 0.0, 0.0))
    assert consistent(tiny, 1.75)
    assert not consistent(replace(tiny, size_bytes=1 << 20), 1.75)
