"""Damaged, cut and mixed training logs: never an exception, and never a number that no line says."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import asdict

from healthcheck.model.training import Framework, RunEvent, StepRecord
from healthcheck.vitals.logs.figures import count, number, percent, positive, scaled, shifted
from healthcheck.vitals.logs.lines import lines_of
from healthcheck.vitals.logs.reader import LogReader

FOLDER = Path(__file__).parents[1] / "fixtures" / "training"
LOGS = {
    f"{path.parent.name}/{path.name}": path for path in sorted(FOLDER.glob("*/*")) if path.suffix in (".log", ".txt")
}
# What a line does not say of itself: where it stands, and what follows from other lines.
NOT_OF_THE_LINE = {"line", "covers", "skipped", "step_time_s", "tokens", "samples", "at_s", "rank"}
DISPATCH = 2400.734
names = st.sampled_from(sorted(LOGS))


def read(data: bytes, framework: Framework | None = None) -> list[StepRecord | RunEvent]:
    return list(LogReader(framework).read(lines_of([data])))


def steps_of(data: bytes, framework: Framework) -> list[StepRecord]:
    return [item for item in read(data, framework) if isinstance(item, StepRecord)]


@cache
def whole(name: str) -> tuple[bytes, Framework, dict[int, list[StepRecord]]]:
    """A fixture, whose it is, and what it says of each step."""
    data = LOGS[name].read_bytes()
    reader = LogReader()
    records: dict[int, list[StepRecord]] = {}
    for item in reader.read(lines_of([data])):
        if isinstance(item, StepRecord):
            records.setdefault(item.step, []).append(item)
    assert reader.framework is not None
    return data, reader.framework, records


def assert_nothing_new(record: StepRecord, known: dict[int, list[StepRecord]]) -> None:
    """Every number of the record stands in the whole log for that step, or is not given."""
    assert record.step in known, f"step {record.step} is made up"
    for field, value in asdict(record).items():
        if field in NOT_OF_THE_LINE or value is None or (isinstance(value, float) and math.isnan(value)):
            continue
        if record.tflops_per_gpu == DISPATCH:  # only the next step shows that its time is none
            continue
        said = [getattr(same, field) for same in known[record.step]]
        assert value in said or _rounds(value, said), f"{field} of {record.step}: {value}"


def _rounds(value: float | str, said: list[float | None]) -> bool:
    """NeMo ends its lines in a number of four digits, less its zeros: one that lost its last digit is taken."""
    return isinstance(value, float) and any(one is not None and abs(value / one - 1) < 0.01 for one in said)


@pytest.mark.parametrize("name", sorted(LOGS))
def test_a_line_that_was_cut_gives_no_other_number(name: str) -> None:
    """Each line of the fixture cut at each place and followed by a line end, as a full disk or a kill leaves it."""
    data, framework, known = whole(name)
    lines = data.split(b"\n")
    for at, line in enumerate(lines):
        if not any(word in line for word in (b"step", b"iter", b"loss", b"throughput", b"Train ", b"Job ID", b"it]")):
            continue
        before = b"\n".join(lines[:at][-6:])
        for end in range(0, len(line), 1 if len(line) < 400 else 3):
            for record in steps_of(before + b"\n" + line[:end] + b"\n", framework):
                assert_nothing_new(record, known)


@given(names, st.data())
@settings(max_examples=150, deadline=None)
def test_lines_that_ran_into_each_other_give_numbers_of_one_of_them(name: str, data: st.DataObject) -> None:
    text, framework, known = whole(name)
    lines = [line for line in text.split(b"\n") if line]
    one, two = data.draw(st.sampled_from(lines)), data.draw(st.sampled_from(lines))
    end = data.draw(st.integers(0, len(one)))
    for record in steps_of(b"\n".join([*lines[:20], one[:end] + two, two]) + b"\n", framework):
        assert_nothing_new(record, known)


@given(names, st.data())
@settings(max_examples=100, deadline=None)
def test_damage_of_any_kind_never_raises(name: str, data: st.DataObject) -> None:
    text = bytearray(whole(name)[0])
    for _ in range(data.draw(st.integers(1, 8))):
        at = data.draw(st.integers(0, len(text)))
        match data.draw(st.sampled_from(["insert", "delete", "swap"])):
            case "insert":
                text[at:at] = data.draw(st.binary(max_size=12))
            case "delete":
                del text[at : at + data.draw(st.integers(1, 200))]
            case _:
                text[at : at + 4] = bytes(reversed(text[at : at + 4]))
    read(bytes(text))
    read(bytes(text), data.draw(st.sampled_from(list(Framework))))


@given(
    st.lists(st.text(max_size=300) | st.sampled_from([path.read_text()[:2000] for path in LOGS.values()]), max_size=12)
)
@settings(max_examples=100, deadline=None)
def test_any_text_is_read_without_an_exception(lines: list[str]) -> None:
    reader = LogReader()
    items = list(reader.read(lines))
    assert reader.framework is not None or not items
    for framework in Framework:
        list(LogReader(framework).read(lines))


@given(st.text(max_size=40) | st.from_regex(r"[-+]?[\d,._]{0,12}[eE]?[-+]?\d{0,4}[KMBGT%]?", fullmatch=True))
def test_a_number_is_wholly_one_or_none(text: str) -> None:
    for reads in (number, positive, count, scaled, percent):
        value = reads(text)
        assert value is None or value == value or "nan" in text.lower()
    value = positive(text)
    assert value is None or 0 < value < math.inf
    assert (value is None) == (shifted(text, -3) is None)


@given(st.floats(1e-3, 1e9), st.integers(0, 6))
def test_a_printed_number_comes_back_to_the_digit(value: float, digits: int) -> None:
    text = f"{value:.{digits}f}"
    assert number(text) == number(f"{value:,.{digits}f}") == float(text)
    milli = shifted(text, -3)
    assert milli is None if float(text) == 0 else milli == float(f"{text}e-3")
