"""The clock of a node: the delay of the network is never taken for a wrong clock."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from healthcheck.model.node import NodeFacts
from healthcheck.model.reading import ReadingState
from healthcheck.model.verdict import Verdict
from healthcheck.probes import clock
from healthcheck.probes.read import read_node
from tests.unit.probes.fixtures import answer, said

NOW = 1_712_345_678.25


def facts(ahead: float, before: float = 0.1, took: float = 0.0, after: float = 0.1) -> NodeFacts:
    """A node whose clock is `ahead`, asked over a network that takes `before` and `after`, for `took` seconds."""
    first = NOW + ahead
    parts = {"clock": said(f"now {first:.6f}\nsynchronised yes"), "clock_end": said(f"now {first + took:.6f}")}
    return read_node("node01", parts, asked_at=(NOW - before, NOW + took + after))


@pytest.mark.parametrize(
    ("fixture", "state", "synchronised"),
    [
        ("healthy", ReadingState.OBSERVED, True),
        ("healthy_busybox", ReadingState.OBSERVED, True),
        ("sick_unsynchronised", ReadingState.OBSERVED, False),
        ("sick_no_time", ReadingState.UNPARSABLE, None),
        ("tool_missing", ReadingState.TOOL_MISSING, None),
    ],
)
def test_recorded_clocks(fixture: str, state: ReadingState, synchronised: bool | None) -> None:
    reading = clock.read(answer("clock", fixture))
    assert reading.state is state
    assert (reading.value.synchronised if reading.value is not None else None) is synchronised


def test_the_offset_is_right_however_long_the_probes_took() -> None:
    for took in (0.0, 40.0):
        found = clock.offset_s(facts(ahead=300.0, took=took))
        assert found == pytest.approx(300.0, abs=0.01)


def test_a_clock_five_minutes_off_is_said_with_its_direction() -> None:
    ahead, behind = clock.judge(facts(300.0)), clock.judge(facts(-300.0))
    assert (ahead.verdict, ahead.rule) == (behind.verdict, behind.rule) == (Verdict.DEGRADED, "clock.off")
    assert "ahead" in str(ahead.message)
    assert "behind" in str(behind.message)
    assert ahead.evidence


def test_a_slow_connection_is_no_wrong_clock() -> None:
    assert clock.judge(facts(0.0, before=30.0)).verdict is Verdict.PASS
    assert clock.judge(facts(0.0, after=30.0)).verdict is Verdict.PASS
    assert clock.judge(facts(0.0, took=90.0)).verdict is Verdict.PASS


def test_whole_seconds_only_are_no_wrong_clock() -> None:
    parts = {"clock": said(f"now {int(NOW)}.%N"), "clock_end": said(f"now {int(NOW)}.%N")}
    found = clock.judge(read_node("n", parts, asked_at=(NOW + 0.7, NOW + 0.74)))
    assert found.verdict is Verdict.PASS


def test_an_unsynchronised_clock_that_is_right_passes_with_a_remark() -> None:
    parts = {"clock": answer("clock", "sick_unsynchronised")}
    found = clock.judge(read_node("n", parts, asked_at=(NOW - 0.1, NOW + 0.1)))
    assert (found.verdict, found.rule) == (Verdict.PASS, "clock.unsynchronised")


def test_without_our_own_clock_nothing_is_claimed() -> None:
    alone = replace(facts(300.0), asked_at=None)
    assert clock.offset_s(alone) is None
    found = clock.judge(alone)
    assert (found.verdict, found.rule) == (Verdict.SKIPPED, "unseen.not_compared")
    assert "not known" in str(found.message)


def test_a_clock_that_was_set_back_during_the_look_is_read_by_its_first_stamp() -> None:
    reading = clock.read(said(f"now {NOW}"), said(f"now {NOW - 100}"))
    assert reading.value is not None
    assert reading.value.last == reading.value.first


def test_our_own_wrong_clock_is_not_held_against_the_fleet_and_the_odd_one_still_is() -> None:
    fleet = [facts(30.0), facts(30.1), facts(30.2), facts(0.0)]
    ahead = clock.fleet_offset_s(fleet)
    assert [clock.judge(node, ahead).rule for node in fleet] == ["clock.right"] * 3 + ["clock.off"]
    assert clock.fleet_offset_s(fleet[:2]) == 0.0, "two nodes cannot outvote us"
