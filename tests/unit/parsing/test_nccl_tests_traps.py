"""One test a trap: what launchers and accidents do to the text."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from healthcheck.model.measurement import FailureKind, OutputState
from healthcheck.parsing.nccl_tests import parse_output
from tests.unit.parsing.captures import nccl_capture
from tests.unit.parsing.samples import COLUMNS, FOOTER, GOOD, HEAD, LEFT_2, ROW_1, ROW_2, only_table


def test_the_text_these_tests_change_is_complete() -> None:
    assert parse_output(GOOD).state is OutputState.COMPLETE


PREFIXES = {
    "open mpi 4": "[1,0]<stdout>:",
    "open mpi 4 with time": "Thu Aug 27 01:33:12 2020[1,0]<stdout>:",
    "open mpi 4 time only": "Thu Aug 27 01:33:12 2020<stdout>:",
    "open mpi 5": "[1,0]<stdout>: ",
    "open mpi 5 in detail": "[prterun-gpu-01-4711@1,0]<stdout>: ",
    "hydra": "[0] ",
    "srun": " 0: ",
    "kubectl": "2025-01-03T09:37:10.123456789Z ",
    "kubectl pod": "[pod/launcher-x7/main] ",
    "both": "2025-01-03T09:37:10.123Z [1,0]<stdout>:",
    "ray": "(head, rank=0, pid=3808) ",
    "compose": "launcher-1  | ",
    "quoted": "> ",
    "indented": "    ",
    "colour": "\x1b[36m",
}


@pytest.mark.parametrize("prefix", PREFIXES.values(), ids=PREFIXES)
def test_a_prefix_changes_nothing(prefix: str) -> None:
    tagged = "".join(prefix + line for line in GOOD.splitlines(keepends=True))
    assert parse_output(tagged) == parse_output(GOOD)


@pytest.mark.parametrize("prefix", ["[0] ", " 0: ", "[1,0]<stdout>:"])
def test_a_prefix_inside_a_row(prefix: str) -> None:
    numbers = ROW_2.removeprefix(LEFT_2)
    inside = GOOD.replace(ROW_2, prefix + LEFT_2 + prefix + numbers[:33] + prefix + numbers[33:])
    tagged = inside.replace(ROW_1, prefix + ROW_1).replace(HEAD, "".join(prefix + x for x in HEAD.splitlines(True)))
    tagged = tagged.replace(COLUMNS, "".join(prefix + line for line in COLUMNS.splitlines(True)))
    tagged = tagged.replace(FOOTER, "".join(prefix + line for line in FOOTER.splitlines(True)))
    assert parse_output(tagged) == parse_output(GOOD)


def test_open_mpi_tags_only_the_first_line_of_what_a_rank_writes_at_once() -> None:
    tagged = "[1,0]<stdout>:" + HEAD + "[1,0]<stdout>:" + COLUMNS + "[1,0]<stdout>:" + ROW_1 + ROW_2 + FOOTER
    noise = "[1,1]<stderr>:nodeB:1:1 [0] NCCL WARN hello\n"
    assert parse_output(tagged.replace("#\n", "#\n" + noise)) == parse_output(GOOD)


def test_markdown_ate_the_hashes_and_blanks() -> None:
    eaten = "\n".join(" ".join(line.lstrip("# ").split()) for line in GOOD.splitlines())
    assert only_table(parse_output(eaten)) == only_table(parse_output(GOOD))


def test_windows_line_ends() -> None:
    assert parse_output(GOOD.replace("\n", "\r\n")) == parse_output(GOOD)


def test_nccl_lines_between_the_rows() -> None:
    noise = (
        "nodeA:17010:17044 [0] NCCL INFO Connected all rings\n"
        "\n[2025-01-03 09:37:10] nodeA:17010:17044 [0] misc/ibvwrap.cc:38 NCCL WARN Failed to open libibverbs.so[.1]\n"
    )
    output = parse_output(HEAD + noise + COLUMNS + noise + ROW_1 + noise + ROW_2 + FOOTER)
    assert output.state is OutputState.COMPLETE
    assert len(only_table(output).rows) == 2


def test_a_nccl_line_written_into_a_row() -> None:
    torn = LEFT_2 + "nodeA:17010:17044 [0] NCCL INFO Channel 00 -> whatever\n" + ROW_2.removeprefix(LEFT_2)
    output = parse_output(HEAD + COLUMNS + ROW_1 + torn + FOOTER)
    assert output == parse_output(GOOD)


def test_another_process_dies_into_a_row() -> None:
    text = HEAD + COLUMNS + ROW_1 + LEFT_2 + "nodeB: Test timeout (2s) common.cu:443\n"
    output = parse_output(text)
    assert [(f.kind, f.host, f.line) for f in output.failures] == [(FailureKind.TIMEOUT, "nodeB", 13)]
    assert [warning.code for warning in output.warnings] == ["row_cut"]
    assert len(only_table(output).rows) == 1


def test_another_process_dies_after_half_the_numbers() -> None:
    text = (
        HEAD
        + COLUMNS
        + ROW_1
        + ROW_2[: len(LEFT_2) + 25]
        + "nodeB: Test NCCL failure all_reduce.cu:5 'internal error / '\n"
    )
    output = parse_output(text)
    assert [(f.kind, f.host) for f in output.failures] == [(FailureKind.NCCL, "nodeB")]
    assert len(only_table(output).rows) == 1


def test_the_last_digit_may_be_missing_where_the_last_line_has_no_end() -> None:
    output = parse_output(HEAD + COLUMNS + ROW_1 + ROW_2.rstrip("\n"))
    assert [row.size_bytes for row in only_table(output).rows] == [1024]
    assert [warning.code for warning in output.warnings] == ["row_cut"]
    assert output.state is OutputState.TRUNCATED


@pytest.mark.parametrize("end", ["# Avg bus bandwidth    : 0.1", "# Out of bounds values : 0 OK\n", ""])
def test_a_footer_cut_anywhere_is_no_footer(end: str) -> None:
    body = HEAD + COLUMNS + ROW_1 + ROW_2 + ("# Out of bounds values : 0 OK\n" if "Avg" in end else "") + end
    output = parse_output(body)
    assert output.state is OutputState.TRUNCATED
    assert not only_table(output).complete


def test_numbers_without_a_header_are_not_guessed() -> None:
    output = parse_output(HEAD + ROW_1 + ROW_2 + FOOTER)
    assert only_table(output).rows == ()
    assert output.state is OutputState.TRUNCATED
    assert output.failures == ()
    assert "row_without_header" in [warning.code for warning in output.warnings]


def _debug_log(lines: int) -> Iterator[str]:
    yield from HEAD.splitlines(True)
    for number in range(lines):
        channel = f"Channel {number % 32:02d}/0 : 0[7000] -> 1[f000] via P2P/IPC/read"
        yield f"nodeA:17010:17044 [{number % 8}] NCCL INFO {channel}\n"
    yield from (COLUMNS + ROW_1 + ROW_2 + FOOTER).splitlines(True)


def test_a_debug_log_is_skipped_at_speed() -> None:
    lines = list(_debug_log(60_000))
    megabytes = sum(map(len, lines)) / 1e6
    start = time.process_time()
    output = parse_output(lines)
    spent_s = time.process_time() - start
    assert output.state is OutputState.COMPLETE
    assert megabytes / spent_s > 10  # the contract says 20 on an idle core; this machine may be busy


def test_the_source_is_read_once_and_never_kept() -> None:
    assert parse_output(_debug_log(1000)) == parse_output(list(_debug_log(1000)))


def test_a_true_log_with_debug_lines() -> None:
    output = nccl_capture("v2.17.10-mpi-nccl-debug-info").parse()
    assert output.warnings == ()
