"""What went wrong, on which host, in which line, and what only follows from it."""

from __future__ import annotations

import pytest

from healthcheck.model.measurement import FailureKind, OutputState
from healthcheck.parsing.nccl_tests import parse_output
from tests.unit.parsing.samples import COLUMNS, FOOTER, GOOD, HEAD, ROW_1, ROW_2, kinds

WARN = "nodeB:99:99 [3] transport/net_ib.cc:1295 NCCL WARN "
PEER = "NET/IB : Got completion from peer 10.0.0.1<4711> "


@pytest.mark.parametrize(
    ("line", "kind", "host"),
    [
        ("nodeB: Test NCCL failure common.cu:1 'unhandled system error / '", FailureKind.NCCL, "nodeB"),
        ("nodeB: Test CUDA failure common.cu:1 'out of memory'", FailureKind.OUT_OF_MEMORY, "nodeB"),
        ("Cuda failure common.cu:1 'invalid device ordinal'", FailureKind.CUDA, None),
        ("CuRAND error 203 at common.cu:5", FailureKind.CUDA, None),
        ("nodeB: Test timeout (30s) common.cu:443", FailureKind.TIMEOUT, "nodeB"),
        (
            WARN + "NET/IB : Got completion from peer 10.0.0.1<4711> with status=12 opcode=0",
            FailureKind.IB_COMPLETION,
            "nodeB",
        ),
        (WARN + "NET/IB : Got completion with error 12, opcode 1, len 0", FailureKind.IB_COMPLETION, "nodeB"),
        (WARN + "Bootstrap : no socket interface found", FailureKind.BOOTSTRAP, "nodeB"),
        (WARN + "Call to connect to 10.0.0.1<5> failed : Connection refused", FailureKind.SOCKET, "nodeB"),
        (WARN + "Cuda failure 'out of memory'", FailureKind.OUT_OF_MEMORY, "nodeB"),
        (WARN + "Cuda failure 'unspecified launch failure'", FailureKind.CUDA, "nodeB"),
        ("nodeB:99:99 [3] NCCL INFO transport/net.cc:304 -> 2", FailureKind.NCCL, "nodeB"),
        ("Invalid number of GPUs: 9 requested but only 8 were found.", FailureKind.USAGE, None),
        (
            "/x/all_reduce_perf: error while loading shared libraries: libnccl.so.2: cannot open",
            FailureKind.MISSING_LIBRARY,
            None,
        ),
        (
            "mpirun noticed that process rank 2 with PID 7 on node nodeB exited on signal 9 (Killed).",
            FailureKind.KILLED,
            "nodeB",
        ),
        ("srun: error: nodeB: task 3: Killed", FailureKind.KILLED, "nodeB"),
        (
            "slurmstepd: error: *** STEP 7.0 ON g1 CANCELLED AT 2026-01-01T00:00:00 DUE TO TIME LIMIT ***",
            FailureKind.TIMEOUT,
            None,
        ),
        ("bash: line 1: mpirun: command not found", FailureKind.LAUNCHER, None),
    ],
)
def test_kind_and_host_of_a_failure(line: str, kind: FailureKind, host: str | None) -> None:
    output = parse_output(HEAD + COLUMNS + ROW_1 + line + "\n")
    assert output.state is OutputState.FAILED
    assert [(f.kind, f.host, f.line) for f in output.failures] == [(kind, host, 13)]


def test_a_warning_that_a_good_run_survives_is_no_failure() -> None:
    line = WARN + "NET/IB : Got completion from peer 10.0.0.1<4711> with status=12 opcode=0\n"
    assert parse_output(HEAD + COLUMNS + ROW_1 + line + ROW_2 + FOOTER).state is OutputState.COMPLETE


def test_flushed_completions_follow_from_the_one_that_broke() -> None:
    text = WARN + "NET/IB : Got completion from peer 10.0.0.1<1> with status={} opcode=0\n"
    output = parse_output(HEAD + COLUMNS + text.format(5) + text.format(12))
    assert [failure.secondary for failure in output.failures] == [True, False]


def test_a_remote_error_follows_from_the_host_that_broke() -> None:
    text = "nodeA: Test NCCL failure common.cu:1 'remote process exited or there was a network error'\n"
    output = parse_output(HEAD + COLUMNS + text + "nodeB: Test CUDA failure common.cu:9 'out of memory'\n")
    assert [(f.host, f.secondary) for f in output.failures] == [("nodeA", True), ("nodeB", False)]


def test_a_bandwidth_below_the_minimum() -> None:
    output = parse_output(GOOD.replace(": 0.125", ": 0.125 FAILED"))
    assert kinds(output) == [FailureKind.MIN_BANDWIDTH]


def test_hypercube_reports_wrong_values_on_good_hardware() -> None:
    three = HEAD.splitlines(True)[6].replace("Rank  1", "Rank  2")
    text = GOOD.replace("all_reduce_perf", "hypercube_perf").replace(COLUMNS, three + COLUMNS)
    output = parse_output(text.replace("       0\n", "      16\n").replace(": 0 OK", ": 16 FAILED"))
    assert output.state is OutputState.COMPLETE
    assert output.wrong_values == 32
    assert "wrong_not_judged" in [warning.code for warning in output.warnings]


def test_the_in_place_count_of_alltoall_is_not_judged() -> None:
    text = GOOD.replace("all_reduce_perf", "alltoall_perf")
    assert parse_output(text.replace("       0\n", "      16\n")).state is OutputState.COMPLETE
    assert kinds(parse_output(text.replace("22.01    0.05    0.05       0", "22.01    0.05    0.05      16"))) == [
        FailureKind.DATA_CHECK
    ]


def test_memory_that_did_not_suffice_is_a_warning() -> None:
    note = "#\n# Reducing maxBytes to 1024 due to memory limitation\n"
    output = parse_output(HEAD + note + COLUMNS + ROW_1 + FOOTER)
    assert output.state is OutputState.COMPLETE
    assert [(w.code, w.line) for w in output.warnings] == [("max_bytes_reduced", 10)]


def test_a_type_that_was_not_known_is_a_warning() -> None:
    output = parse_output("invalid type flaot, defaulting to float .. \n" + GOOD)
    assert [warning.code for warning in output.warnings] == ["option_ignored"]


@pytest.mark.parametrize(
    ("exit_code", "kind"), [(137, FailureKind.KILLED), (124, FailureKind.TIMEOUT), (42, FailureKind.UNKNOWN)]
)
def test_an_exit_code_is_evidence_enough(exit_code: int, kind: FailureKind) -> None:
    assert kinds(parse_output(HEAD + COLUMNS + ROW_1, exit_code=exit_code)) == [kind]


@pytest.mark.parametrize("text", ["", "\n\n", "hello\nworld\n", "{}\n", "1 2 3\n"])
def test_nothing_recognised_is_empty_unless_it_claims_success(text: str) -> None:
    assert parse_output(text).state is OutputState.EMPTY
    assert kinds(parse_output(text, exit_code=0)) == [FailureKind.NO_MEASUREMENT]


def test_a_thousand_ranks_that_say_the_same_are_kept_short() -> None:
    lines = (f"node{rank}: Test NCCL failure common.cu:1 'internal error / '\n" for rank in range(5000))
    output = parse_output([*HEAD.splitlines(True), *lines])
    assert 100 <= len(output.failures) <= 200


@pytest.mark.parametrize("prefix", ["[1,0]<stderr>:", "2025-01-03T09:37:10.1Z ", " 0: ", "launcher-1  | ", "[0] "])
def test_what_a_launcher_says_is_understood_behind_a_prefix(prefix: str) -> None:
    (failure,) = parse_output(f"{prefix}hello\n{prefix}Permission denied, please try again.\n").failures
    assert (failure.kind, failure.line) == (FailureKind.LAUNCHER, 2)
    assert failure.message == "Permission denied, please try again."
