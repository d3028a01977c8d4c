"""What is kept of an earlier run answers a comparison as its whole record does."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from healthcheck.errors import InputError
from healthcheck.evaluation.comparison import compare
from healthcheck.model.earlier import Earlier, EarlierRun, PastReading
from healthcheck.model.message import say
from healthcheck.parsing.earlier import decode_earlier, encode_earlier
from tests.unit.evaluation.two_runs import names, run, without_numbers

RUNS = (
    EarlierRun("a", "2026-01-02", "PASS", (PastReading("single_node", "all_reduce", 8, 231.5, 230, "n1", "PASS"),)),
)


def _again(earlier: Earlier) -> Earlier:
    return decode_earlier(encode_earlier(earlier).encode(), "earlier.json")


@pytest.mark.parametrize("speed", [{}, {"node0001": 0.9}])
def test_a_comparison_does_not_miss_what_was_left_out(speed: dict[str, float]) -> None:
    before, after = run(names(16), seed=1), run(names(16), seed=2, speed=speed)
    kept = _again(Earlier(before)).before
    assert kept is not None
    assert compare(kept, after) == compare(before, after)


def test_a_job_without_numbers_keeps_its_reasons() -> None:
    before, after = without_numbers(run(names(4), seed=1), "node0002", "FAIL", "it hung"), run(names(4), seed=2)
    kept = _again(Earlier(before)).before
    assert kept is not None
    assert compare(after, kept) == compare(after, before)


def test_runs_and_notes_come_back_as_they_were() -> None:
    earlier = Earlier(None, RUNS, (say("report.since.unreadable", what="a record"),))
    assert _again(earlier) == earlier


def test_jobs_of_a_search_are_not_kept() -> None:
    before = run(names(4), seed=1)
    searched = replace(before, jobs=(*before.jobs, replace(before.jobs[0], stage="localise")))
    assert encode_earlier(Earlier(searched)) == encode_earlier(Earlier(before))


@pytest.mark.parametrize("data", [b"", b"{}", b"[]", b'{"schema": "healthcheck.earlier/2"}', b"\xff", b"[" * 100_000])
def test_what_is_no_such_file_is_said_with_its_name(data: bytes) -> None:
    with pytest.raises(InputError, match=r"earlier\.json"):
        decode_earlier(data, "earlier.json")
