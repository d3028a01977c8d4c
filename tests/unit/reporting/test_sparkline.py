"""A row of numbers as one line of characters."""

from __future__ import annotations

import pytest

from healthcheck.reporting.sparkline import ASCII, BLOCKS, levels_for, sparkline


def test_the_largest_stands_highest_and_the_smallest_lowest() -> None:
    assert sparkline([100, 150, 200]) == "▁▅█"


def test_noise_does_not_look_like_mountains() -> None:
    assert set(sparkline([230.0, 230.5, 229.8, 230.2])) <= set("▆▇█")


def test_a_run_without_a_number_leaves_its_place_empty() -> None:
    assert sparkline([200, None, 100]) == "█ ▁"
    assert sparkline([None, None]) == "  "
    assert sparkline([]) == ""


def test_values_that_are_all_zero_or_all_the_same_are_one_line() -> None:
    assert sparkline([0.0, 0.0]) == "██"
    assert len(set(sparkline([5.0] * 9))) == 1


@pytest.mark.parametrize(
    ("encoding", "levels"),
    [("utf-8", BLOCKS), ("ascii", ASCII), ("latin-1", ASCII), (None, ASCII), ("no such", ASCII)],
)
def test_a_terminal_that_cannot_write_blocks_gets_ascii(encoding: str | None, levels: str) -> None:
    assert levels_for(encoding) == levels
    assert len(levels) == 8
