"""A small, always equal part of `python -m tests.fuzz_parse`."""

from __future__ import annotations

import time

import pytest

from healthcheck.parsing.nccl_tests import parse_output
from tests.fuzz_parse import fuzz


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_damaged_logs_are_read(seed: int) -> None:
    assert fuzz(250, seed).logs == 250


@pytest.mark.parametrize(
    "line",
    [
        "failure" + "a" * 4000,
        "a" * 4000 + ": Test failure " + "/" * 4000,
        "#  Rank 0 on h device 0 [0] x" + " " * 4000 + "y#z",
        "[" * 4000 + " NCCL WARN",
        "1 " * 2000 + "float NCCL",
        "[1,0]<stdout>: 1024 256 float " + "[1,0]<stdout>: 1" * 200,
        "me" * 2000 + "@ Killed",
        "x\\n" * 1000 + "nThread 1",
    ],
    ids=range(8),
)
def test_long_lines_of_nothing_do_not_hang(line: str) -> None:
    begin = time.process_time()
    parse_output((line + "\n") * 50)
    assert time.process_time() - begin < 2.0
