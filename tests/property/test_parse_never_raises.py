"""Damaged output: never an exception, never a row that was not there, never `complete` without its footer."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from healthcheck.model.measurement import OutputState
from healthcheck.parsing.launcher_output import classify
from healthcheck.parsing.nccl_tests import parse_output
from healthcheck.reporting.parsed_output import ParsedFile, as_csv, as_json, as_text
from tests.unit.parsing.captures import nccl_capture, nccl_names

TEXTS = {name: nccl_capture(name).stdout for name in nccl_names()}
GOOD = [name for name in TEXTS if parse_output(TEXTS[name]).state is OutputState.COMPLETE]

names = st.sampled_from(sorted(TEXTS))
good_names = st.sampled_from(GOOD)


@st.composite
def damaged(draw: st.DrawFn) -> str:
    """A true output with a few accidents."""
    text = TEXTS[draw(names)]
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(len(text) - 1, 0)))
        end = draw(st.integers(at, min(at + 400, len(text))))
        kind = draw(st.sampled_from(["flip", "drop", "cut", "duplicate", "join", "insert"]))
        if kind == "flip":
            text = text[:at] + draw(st.characters()) + text[at + 1 :]
        elif kind == "drop":
            text = text[:at] + text[end:]
        elif kind == "cut":
            text = text[:at]
        elif kind == "duplicate":
            text = text[:end] + text[at:end] + text[end:]
        elif kind == "join":
            text += TEXTS[draw(names)]
        else:
            text = text[:at] + draw(st.text(max_size=40)) + text[at:]
    return text


@settings(max_examples=150, deadline=None)
@given(damaged(), st.sampled_from([None, 0, 1, 137]))
def test_damage_never_raises_and_stays_printable(text: str, exit_code: int | None) -> None:
    output = parse_output(text, exit_code=exit_code)
    file = ParsedFile("x", output)
    assert json.loads(as_json([file]))["files"][0]["state"] == output.state.value
    assert as_csv([file])
    assert list(as_text(file))
    if exit_code:
        assert output.state is OutputState.FAILED


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes(data: bytes) -> None:
    assert parse_output(data).state in OutputState


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=400), st.text(max_size=400), st.sampled_from([None, 0, 1, 124, 137, 255]))
def test_any_text_of_a_launcher(stdout: str, stderr: str, exit_code: int | None) -> None:
    failure = classify(stdout, stderr, exit_code)
    assert failure is None or str(failure.message)


@settings(max_examples=100, deadline=None)
@given(good_names, st.data())
def test_a_cut_footer_is_never_complete(name: str, data: st.DataObject) -> None:
    text = TEXTS[name]
    average = text.index("\n", text.index("Avg bus bandwidth"))
    output = parse_output(text[: data.draw(st.integers(0, average))])
    assert output.state in (OutputState.TRUNCATED, OutputState.EMPTY)


@settings(max_examples=60, deadline=None)
@given(good_names, st.data())
def test_a_cut_keeps_the_rows_before_it_and_invents_none(name: str, data: st.DataObject) -> None:
    text = TEXTS[name]
    whole = parse_output(text)
    part = parse_output(text[: data.draw(st.integers(0, len(text)))])
    assert len(part.tables) <= 1
    if part.tables:
        rows = part.tables[0].rows
        assert rows == whole.tables[0].rows[: len(rows)]


@settings(max_examples=60, deadline=None)
@given(good_names, st.data())
def test_a_dropped_line_never_makes_a_row(name: str, data: st.DataObject) -> None:
    lines = TEXTS[name].splitlines(keepends=True)
    del lines[data.draw(st.integers(0, len(lines) - 1))]
    whole = parse_output(TEXTS[name]).tables[0].rows
    part = parse_output(lines)
    assert all(row in whole for table in part.tables for row in table.rows)


@pytest.mark.parametrize("name", GOOD)
def test_without_either_footer_line_it_is_not_complete(name: str) -> None:
    for part in ("Out of bounds values", "Avg bus bandwidth", "nThread", "algbw"):
        lines = [line for line in TEXTS[name].splitlines(keepends=True) if part not in line]
        assert parse_output(lines).state is not OutputState.COMPLETE
