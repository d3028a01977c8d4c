"""The colours of the stylesheet against WCAG: text at least 4.6 to 1, marks 3.7 to 1; light, dark, paper."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

CSS = (files("healthcheck.reporting") / "templates" / "report.css").read_text(encoding="utf-8")
SCHEMES = ("light", "dark", "print")

TEXT = [
    *((ink, ground) for ink in ("ink", "ink2", "link") for ground in ("bg", "soft")),
    *((f"{name}-fg", f"{name}-bg") for name in ("pass", "degr", "inc", "fail", "skip", "sim")),
]
MARKS = [
    *((mark, "bg") for mark in ("pass", "degr", "inc", "fail", "skip")),
    *((mark, shade) for mark in ("pass", "degr", "fail", "mark") for shade in ("b-pass", "b-degr", "b-fail")),
]


def _palette(scheme: str) -> dict[str, str]:
    blocks = re.findall(r":root\{(.*?)\}", CSS, flags=re.S)
    return dict(re.findall(r"--([\w-]+):(#[0-9a-f]{3,6})", blocks[SCHEMES.index(scheme)]))


def _luminance(colour: str) -> float:
    digits = colour[1:] if len(colour) == 7 else "".join(digit * 2 for digit in colour[1:])
    channels = (int(digits[place : place + 2], 16) / 255 for place in (0, 2, 4))
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(colour: str, other: str) -> float:
    """The contrast ratio of two colours as WCAG 2 defines it."""
    lighter, darker = sorted((_luminance(colour), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def test_the_ruler_itself() -> None:
    assert contrast("#fff", "#000000") == pytest.approx(21)
    assert contrast("#777777", "#fff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(("ink", "ground"), TEXT)
def test_text_can_be_read(scheme: str, ink: str, ground: str) -> None:
    palette = _palette(scheme)
    assert contrast(palette[ink], palette[ground]) >= 4.6


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(("mark", "ground"), MARKS)
def test_marks_can_be_seen(scheme: str, mark: str, ground: str) -> None:
    palette = _palette(scheme)
    assert contrast(palette[mark], palette[ground]) >= 3.7


def test_every_colour_comes_from_the_palette() -> None:
    rules = re.sub(r":root\{.*?\}", "", CSS, flags=re.S)
    assert re.findall(r"#[0-9a-f]{3,6}\b", rules) == ["#000"]  # the frame of SIMULATED on paper
