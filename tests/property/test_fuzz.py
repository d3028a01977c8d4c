"""A small, always equal part of `python -m tests.fuzz_parse`."""

from __future__ import annotations

import pytest

from tests.fuzz_parse import fuzz


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_damaged_logs_are_read(seed: int) -> None:
    assert fuzz(250, seed).logs == 250
