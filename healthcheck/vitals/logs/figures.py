"""Numbers as logs print them -> floats. Anything that is not wholly a number is None, never a part of one."""

from __future__ import annotations

import math
import re

_MOST_CHARS = 32
_GROUPED = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?", re.ASCII)
_SUFFIXES = {"K": 1e3, "k": 1e3, "M": 1e6, "B": 1e9, "G": 1e9, "T": 1e12, "P": 1e15}
_MOST_DIGITS = 15


def number(text: str) -> float | None:
    """A decimal number, `1.2E+01`, `5,858`, `nan` or `inf`; None for anything else, `5,85` and `1_0` too."""
    text = text.strip()
    if len(text) > _MOST_CHARS or "_" in text or not text.isascii():
        return None
    try:
        return float(text)
    except ValueError:
        return float(text.replace(",", "")) if _GROUPED.fullmatch(text) else None


def positive(text: str) -> float | None:
    """A number that can be a time, a rate or a count: finite and above 0. None for a sentinel such as -100 or 0."""
    value = number(text)
    return value if value is not None and 0 < value < math.inf else None


def count(text: str) -> int | None:
    """A whole number of at most 15 digits, with or without commas between thousands."""
    text = text.strip()
    if "," in text and _GROUPED.fullmatch(text):
        text = text.replace(",", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS else None


def scaled(text: str) -> float | None:
    """A positive number that may end in K, M, B (or G), T, P for thousands: `85.8G` is 8.58e10."""
    text = text.strip()
    factor = _SUFFIXES.get(text[-1:])
    value = positive(text if factor is None else text[:-1])
    return value if value is None or factor is None else value * factor


def percent(text: str) -> float | None:
    """`34.30%` -> 0.343. None without the sign (the number may have been cut), for `N/A` and for a sentinel."""
    text = text.strip()
    value = positive(text[:-1]) if text.endswith("%") else None
    return None if value is None else value / 100


def bounded(low: float, value: float | None, high: float) -> float | None:
    """The value where it lies within what is possible at all, else None."""
    return value if value is not None and low <= value <= high else None
