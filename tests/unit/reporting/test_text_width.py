"""Padding, cutting and wrapping by what a text takes on a terminal."""

from __future__ import annotations

import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from healthcheck.reporting.text_table import table
from healthcheck.reporting.text_width import cut, left, right, width_of, wrapped

CHINESE = "不要在全部 32 个节点上启动作业。28 个节点已验证，请从这些节点启动。"
WORDS = st.lists(st.text("ab节点，。（）é", min_size=1, max_size=12), min_size=1, max_size=20)


def test_a_chinese_character_takes_two_columns() -> None:
    assert (width_of("节点"), width_of("gpu013"), width_of("89 °C")) == (4, 6, 5)
    assert left("节点", 6) == "节点  " and right("节点", 6) == "  节点"


def test_what_is_cut_says_so_and_fits() -> None:
    assert cut("gpu013 no answer", 10) == "gpu013..."
    assert cut("节点节点节点", 8) == "节点..." and width_of(cut("节点节点节点", 8)) == 7
    assert cut("short", 5) == "short"
    assert cut("much too long", 3) == ""


@pytest.mark.parametrize("width", [20, 31, 60])
def test_chinese_is_wrapped_between_any_two_characters_but_no_line_begins_with_a_full_stop(width: int) -> None:
    lines = wrapped(CHINESE, width, "  ", "    ")
    assert max(map(width_of, lines)) <= width
    assert not any(line.strip()[0] in "，。" for line in lines)
    assert "".join(line.strip() for line in lines).replace(" ", "") == CHINESE.replace(" ", "")


@given(WORDS, st.integers(14, 60))
def test_nothing_is_lost_and_nothing_is_wider_than_asked(words: list[str], width: int) -> None:
    text = " ".join(words)
    lines = wrapped(text, width, "  ", "    ")
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert max(map(width_of, lines)) <= width or any(len(word) > 4 for word in words)


@given(st.text("ab -/.", max_size=200), st.integers(10, 60))
def test_english_is_wrapped_as_it_always_was(text: str, width: int) -> None:
    plain = textwrap.wrap(text, width, initial_indent="- ", subsequent_indent="  ", break_on_hyphens=False)
    assert wrapped(text, width, "- ", "  ") == plain


def test_a_path_is_never_broken_where_that_is_asked_for() -> None:
    path = "/srv/" + "deep/" * 20 + "é"
    assert path in [line.strip() for line in wrapped(f"see {path} now", 30, "  ", break_long=False)]


def test_columns_of_chinese_stand_below_each_other() -> None:
    lines = table(("节点", "GB/s", "why"), (("gpu001", "1.0", "x"), ("集群", "12.5", "y")), {1}, 60)
    assert {width_of(line[: line.index(word)]) for line, word in zip(lines, ("why", "x", "y"), strict=True)} == {14}
