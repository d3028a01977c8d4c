"""The labels of the lines of a strip: readable, each beside its own line, and no line through another one's."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from healthcheck.reporting.line_labels import Label, labels

SHEET = 520.0
LIMITS = {
    "three limits and known-good, as a rail at half leaves them": [(108, 122), (253, 122), (375, 173), (452, 101)],
    "two limits nearly at one place": [(180, 122), (388, 173), (395, 122), (449, 101), (471, 101)],
    "one limit at each edge": [(60, 122), (510, 101)],
}


def _spans(lines: list[tuple[float, float]], found: tuple[Label, ...]) -> list[tuple[float, float]]:
    return [
        (x - 4 - width, x - 4) if label.to_left else (x + 4, x + 4 + width)
        for (x, width), label in zip(lines, found, strict=True)
    ]


@pytest.mark.parametrize("name", LIMITS)
def test_no_label_covers_another_or_is_crossed_by_a_line_of_another(name: str) -> None:
    lines: list[tuple[float, float]] = [(float(x), float(width)) for x, width in LIMITS[name]]
    found = labels(tuple(lines), SHEET)
    spans = _spans(lines, found)
    assert all(start >= 0 and end <= SHEET for start, end in spans)
    for one, other in combinations(range(len(lines)), 2):
        if found[one].row == found[other].row:
            assert spans[one][1] <= spans[other][0] or spans[other][1] <= spans[one][0]
    for one, (start, end) in enumerate(spans):
        # A line begins in the row of its label and goes down from there.
        above = [x for other, (x, _) in enumerate(lines) if found[other].row <= found[one].row]
        assert not [x for x in above if start < x < end]


def test_labels_that_have_room_beside_each_other_share_a_row() -> None:
    assert labels(((60.0, 122.0), (510.0, 101.0)), SHEET) == (Label(0, False), Label(0, True))


def test_no_line_has_no_label() -> None:
    assert labels((), SHEET) == ()


@settings(deadline=None)
@given(st.lists(st.tuples(st.floats(20, 510), st.floats(30, 180)), max_size=6))
def test_every_line_has_a_label_whatever_they_are(lines: list[tuple[float, float]]) -> None:
    found = labels(tuple(lines), SHEET)
    assert len(found) == len(lines)
    assert all(0 <= label.row < len(lines) for label in found)
