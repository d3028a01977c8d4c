"""The end of a run on a terminal of any width."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from healthcheck.model.record import RunRecord
from healthcheck.model.verdict import Verdict
from healthcheck.reporting.summary import terminal_summary
from tests.golden.records import healthy, interrupted, multi, names, sick, single


@pytest.mark.parametrize("width", [60, 72, 80, 96])
@pytest.mark.parametrize("record", [sick(), interrupted(), healthy(4)], ids=["sick", "interrupted", "healthy"])
def test_verdicts_stand_below_each_other_whatever_was_not_measured(record: RunRecord, width: int) -> None:
    table = [
        line for line in terminal_summary(record, width) if line.startswith(("  Inside a node", "  Between nodes"))
    ]
    words = ("PASS", "DEGRADED", "INCONCLUSIVE", "FAIL")
    assert len({max(line.rfind(f"  {word}") for word in words) for line in table}) == 1
    assert max(map(len, table)) <= width


def test_long_names_wrap_in_their_own_column() -> None:
    hosts = names(40)
    left = tuple(name for place, name in enumerate(hosts) if place % 3)
    record = replace(
        healthy(40),
        jobs=(
            multi(hosts, 96.9, Verdict.FAIL, "multi_node.all_reduce.found"),
            multi(left, 191.9, Verdict.PASS, "multi_node.all_reduce.proven"),
        ),
    )
    lines = terminal_summary(record, 80)
    first = next(place for place, line in enumerate(lines) if "without" in line)
    assert lines[first].endswith("PASS")
    assert lines[first + 1].startswith(" " * 15)
    assert all(len(line) <= 80 for line in lines[first : first + 4])


def test_slow_nodes_beyond_the_table_are_counted_and_named() -> None:
    jobs = tuple(single(name, 140.0, Verdict.FAIL) for name in names(16))
    lines = terminal_summary(replace(healthy(16), jobs=jobs), 96)
    assert "  and 4 more jobs that are not PASS: node[13-16]" in lines


def test_with_several_collectives_each_row_names_its_own() -> None:
    hosts = names(2)
    both = tuple(
        replace(multi(hosts, 190.0, Verdict.PASS, f"multi_node.{name}"), collective=name)
        for name in ("all_reduce", "all_gather")
    )
    text = "\n".join(terminal_summary(replace(healthy(2), jobs=both), 96))
    assert "all_reduce" in text
    assert "all_gather" in text
    assert "all_reduce" not in "\n".join(terminal_summary(healthy(2), 96))


def test_a_simulated_run_never_just_says_start_now() -> None:
    lines = [line for line in terminal_summary(sick(), 96) if "start now" in line]
    assert lines
    assert all("start now (simulated)" in line for line in lines)
    assert "(simulated)" not in "\n".join(terminal_summary(healthy(), 96))


def test_an_interrupted_run_says_how_to_go_on() -> None:
    run_id = interrupted().run_id
    assert f"  go on      healthcheck run --resume {run_id}" in terminal_summary(interrupted(), 80, f"reports/{run_id}")
    text = "\n".join(terminal_summary(interrupted(), 80, f"/srv/my runs/{run_id}"))
    assert f"healthcheck run --resume '/srv/my runs/{run_id}'" in text
    assert "--resume" not in "\n".join(terminal_summary(healthy(), 80))
