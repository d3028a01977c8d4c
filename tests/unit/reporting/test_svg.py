"""What comes out of a drawing: text that stays text, colours of the page, ids of its own, the same bytes each time."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import pytest

from healthcheck.reporting.svg import COLOURS, Sheet, drawn

HOSTILE = '<script>alert(1)</script> & "quoted" $x^2$ {{7*7}} #010101 style="fill: #010104" 中文 \u202edlrow'


def _draw(sheet: Sheet) -> None:
    sheet.area(10, 10, 90, 90, "pass", 0.2)
    sheet.line([(10, 10), (50.123456, 20), (90, 15)], "ink", dash="--")
    sheet.marks([(20, 20), (30, 30)], "o", "degr")
    sheet.marks([(40, 40)], "X", "fail")
    sheet.text(10, 50, HOSTILE, "ink2")


def _made(key: str = "a") -> str:
    return drawn(key, 100, 100, HOSTILE, HOSTILE, _draw)


def test_a_text_is_drawn_letter_for_letter() -> None:
    tree = ElementTree.fromstring(_made())
    texts = [
        "".join(node.itertext()) for node in tree.iter() if node.tag.rpartition("}")[2] in ("text", "title", "desc")
    ]
    assert texts == [HOSTILE] * 3
    assert not [node for node in tree.iter() if node.tag.rpartition("}")[2] in ("script", "style", "image", "a")]


def test_a_screen_reader_hears_title_and_finding() -> None:
    tree = ElementTree.fromstring(_made("plot3"))
    assert tree.get("role") == "img"
    named = {node.get("id"): "".join(node.itertext()) for node in tree.iter() if node.get("id")}
    assert named[tree.get("aria-labelledby")] == HOSTILE
    assert named[tree.get("aria-describedby")] == HOSTILE


def test_colours_are_those_of_the_page() -> None:
    tags = "".join(re.findall(r"<[^>]+>", _made()))
    assert not re.findall(r"(?<!href=\")#[0-9a-f]{6}", tags.replace(HOSTILE, ""))
    assert set(re.findall(r"var\(--([a-z0-9]+)\)", tags)) == {"pass", "ink", "degr", "fail", "ink2", "bg"}
    assert "font" not in tags


def test_two_charts_of_a_page_share_no_id() -> None:
    def ids(svg: str) -> set[str]:
        return set(re.findall(r' id="([^"]+)"', svg))

    first, second = _made("a"), _made("b")
    assert not ids(first) & ids(second)
    for svg in (first, second):
        assert set(re.findall(r'href="#([^"]+)"', svg)) <= ids(svg)


def test_the_same_drawing_is_the_same_bytes() -> None:
    assert _made() == _made()
    assert not re.search(r"20\d\d-\d\d-\d\d|matplotlib|url\(", _made())


@pytest.mark.parametrize("name", sorted(COLOURS))
def test_every_colour_has_a_variable_in_light_dark_and_print(name: str) -> None:
    from importlib.resources import files

    css = (files("healthcheck.reporting") / "templates" / "report.css").read_text(encoding="utf-8")
    assert len(re.findall(rf"--{name}:", css)) == 3
