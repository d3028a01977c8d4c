"""Damaged traces end in an answer whose parts add up, or in one sentence."""

from __future__ import annotations

import io
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from healthcheck.errors import InputError
from healthcheck.model.vitals_trace import SCHEMA
from healthcheck.parsing.record_codec import encode_document
from healthcheck.reporting.trace_text import trace_lines
from healthcheck.vitals.kineto import read_kineto
from healthcheck.vitals.trace_answer import trace_vitals
from healthcheck.vitals.trace_rank import rank_told
from tests.unit.vitals.kineto_worlds import busy, old, overlaps

WHOLE = [
    world(rank).text(indent).encode() for world in (overlaps, busy, old) for rank in (0, 1) for indent in (None, 2)
]
NUMBER = re.compile(rb": ?(-?\d[\d.]*)")
ODD = st.sampled_from(
    [b"NaN", b"-1", b"1e400", b"9" * 30, b'"x"', b"null", b"[]", b"{}", b"}", b"{", b'"', b",", b"\\", b"\0", b": ,"]
)
HARM = st.tuples(st.sampled_from(["byte", "gap", "put", "number"]), st.floats(0, 1, exclude_max=True), ODD)


def harmed(raw: bytes, harms: list[tuple[str, float, bytes]]) -> bytes:
    for what, where, odd in harms:
        at = int(where * len(raw))
        if what == "byte":
            raw = raw[:at] + odd[:1] + raw[at + 1 :]
        elif what == "gap":
            raw = raw[:at] + raw[at + len(odd) * 7 :]
        elif what == "put":
            raw = raw[:at] + odd + raw[at:]
        elif numbers := list(NUMBER.finditer(raw)):
            found = numbers[int(where * len(numbers))]
            raw = raw[: found.start(1)] + odd + raw[found.end(1) :]
    return raw


@given(st.sampled_from(WHOLE), st.lists(HARM, min_size=1, max_size=6), st.floats(0, 1), st.booleans())
@settings(max_examples=100, deadline=None)
@pytest.mark.filterwarnings("error")
def test_a_damaged_trace(raw: bytes, harms: list[tuple[str, float, bytes]], kept: float, whole: bool) -> None:
    damaged = harmed(raw, harms)
    damaged = damaged[: int(len(damaged) * kept)] if kept < 0.2 else damaged
    try:
        columns = [*read_kineto(io.BytesIO(damaged), "a.json"), *read_kineto(io.BytesIO(WHOLE[0]), "b.json")]
    except InputError as refused:
        assert "\n" not in str(refused)
        return
    vitals = trace_vitals([rank for each in columns if (rank := rank_told(each, whole))], ["a", "b"], [], "kineto")
    assert trace_lines(vitals) and encode_document(SCHEMA, vitals)
    for step in (step for rank in vitals.ranks for step in rank.steps):
        parts = step.compute_s + step.exposed_s + step.exposed_memcpy_s + step.idle_s
        assert parts == pytest.approx(step.wall_s, rel=1e-9) and step.wall_s > 0
