"""Another run of ours on a node is somebody else at work, too."""

from __future__ import annotations

import pytest

from healthcheck.model.reading import ReadingState
from healthcheck.model.verdict import Verdict
from healthcheck.probes import leftovers
from tests.unit.probes.fixtures import answer, said

OTHER = "5100 0011aabb all_reduce_perf\n5101 0011aabb orted\n5200 probe-0011aabb sh"


def test_nothing_of_another_run_is_fine() -> None:
    result = leftovers.judge("n1", leftovers.read(said("")), "mine")
    assert result.verdict is Verdict.PASS


def test_ranks_of_another_run_keep_the_node_from_being_loaded_and_its_looks_do_not() -> None:
    reading = leftovers.read(said(OTHER))
    assert reading.value is not None and [process.pid for process in reading.value] == [5100, 5101]
    result = leftovers.judge("n1", reading, "mine")
    assert (result.verdict, result.rule) == (Verdict.SKIPPED, "busy.leftover")
    assert "0011aabb" in str(result.message) and "all_reduce_perf" in str(result.message)
    assert leftovers.judge("n1", reading, "mine", allow_busy=True).verdict is Verdict.PASS


def test_our_own_processes_are_not_others() -> None:
    assert leftovers.judge("n1", leftovers.read(said(OTHER)), "0011aabb").verdict is Verdict.PASS


@pytest.mark.parametrize("noise", ["Welcome to n1!", "12 ", "x y z"])
def test_what_cannot_be_read_is_not_idle(noise: str) -> None:
    reading = leftovers.read(said(noise))
    assert reading.state is ReadingState.UNPARSABLE
    assert leftovers.judge("n1", reading, "mine").verdict is Verdict.INCONCLUSIVE
    assert leftovers.judge("n1", leftovers.read(None), "mine").verdict is Verdict.INCONCLUSIVE


def test_the_fixtures_are_what_they_are_called() -> None:
    verdicts = {
        name: leftovers.judge("n1", leftovers.read(answer("leftovers", name)), "mine").verdict
        for name in ("healthy", "sick_other_run", "tool_missing")
    }
    assert list(verdicts.values()) == [Verdict.PASS, Verdict.SKIPPED, Verdict.INCONCLUSIVE]
