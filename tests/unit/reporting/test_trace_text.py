"""What `vitals trace` prints of many ranks."""

from __future__ import annotations

from msgspec.structs import replace

from healthcheck.model.message import say
from healthcheck.reporting.trace_text import MOST_RANKS, trace_lines
from tests.vitals_documents import a_rank, a_trace


def test_the_rank_that_is_named_is_in_the_table_though_others_have_a_longer_step() -> None:
    ranks = tuple(a_rank(number, step_s=2.0 + number / 1000) for number in range(MOST_RANKS + 4))
    lines = trace_lines(replace(a_trace(*ranks), slowest=0, shares=ranks[0].shares, step_s=ranks[0].step_s))
    assert "on the slowest rank (rank 0)" in lines[0]
    rows = [line for line in lines if line.startswith("rank ")]
    assert rows[1].split()[:2] == ["rank", "0"] and len(rows) == 1 + MOST_RANKS
    assert "4 more ranks, none slower: --json has them." in lines


def test_a_wait_of_seconds_is_written_as_a_person_writes_it() -> None:
    assert "at least 1235 ms" in str(say("trace.note.straggler", rank=3, own=2.0, others=1234.5678))
