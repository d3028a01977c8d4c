"""What another judgement changed, as a person reads it."""

from __future__ import annotations

from msgspec.structs import replace

from healthcheck.model.message import say
from healthcheck.model.record import HostRecord, RunRecord
from healthcheck.model.verdict import Verdict
from healthcheck.reporting.rejudged import MOST_LINES, changes
from tests.golden.records import sick


def _with(*hosts: HostRecord) -> RunRecord:
    return replace(sick(), hosts=hosts)


def test_nothing_changed_is_nothing_to_tell() -> None:
    assert changes(sick(), sick()) == []


def test_the_same_change_for_the_same_reason_is_one_line_and_the_worst_comes_first() -> None:
    slow = (say("job.stopped"),)
    before = _with(*(HostRecord(f"n{i}", Verdict.PASS) for i in range(1, 5)))
    after = _with(
        HostRecord("n1", Verdict.DEGRADED, slow),
        HostRecord("n2", Verdict.DEGRADED, slow),
        HostRecord("n3", Verdict.FAIL, slow),
        HostRecord("n4", Verdict.PASS),
    )
    assert changes(before, after) == [
        "n3: PASS -> FAIL, because stopped by the user",
        "n[1-2]: PASS -> DEGRADED, because stopped by the user",
    ]
    assert changes(after, before)[0].endswith("because nothing is held against it any more")


def test_a_fleet_does_not_fill_the_screen_and_a_name_moves_no_cursor() -> None:
    names = [f"n{i:03d}\x1b[2J" for i in range(100)]
    before = _with(*(HostRecord(name, Verdict.PASS) for name in names))
    after = _with(
        *(
            HostRecord(name, Verdict.FAIL, (say("job.stalled", seconds=float(place)),))
            for place, name in enumerate(names)
        )
    )
    lines = changes(before, after)
    assert len(lines) == MOST_LINES + 1 and lines[-1] == f"and {100 - MOST_LINES} nodes more"
    assert all("\x1b" not in line for line in lines)
