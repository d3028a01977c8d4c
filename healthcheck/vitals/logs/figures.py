"""Numbers as logs print them -> floats. Anything that is not wholly a number is None, never a part of one.

A field that a line does not have (None) is no number either, so that readers need not ask for it first.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache

_MOST_CHARS = 32
_GROUPED = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?", re.ASCII)
_SUFFIXES = {"K": 3, "k": 3, "M": 6, "B": 9, "G": 9, "T": 12, "P": 15}
_MOST_DIGITS = 15
once = lru_cache(maxsize=1024)
"""A log prints the same few rates and times over and over, with three or four digits."""


def number(text: str | None) -> float | None:
    """A decimal number, `1.2E+01`, `5,858`, `nan` or `inf`; None for anything else, `5,85` and `1_0` too."""
    if text is None or len(text) > _MOST_CHARS or "_" in text or not text.isascii():
        return None
    if "," in text:
        if _GROUPED.fullmatch(text.strip()) is None:
            return None
        text = text.replace(",", "")
    try:
        return float(text)
    except ValueError:
        return None


@once
def positive(text: str | None) -> float | None:
    """A number that can be a time, a rate or a count: finite and above 0. None for a sentinel such as -100 or 0."""
    value = number(text)
    return value if value is not None and 0 < value < math.inf else None


@once
def shifted(text: str, power: int) -> float | None:
    """A positive number times a power of ten, with no more digits than are printed: 528.9 ms is 0.5289 s."""
    value = positive(text)
    if value is None:
        return None
    plain = text.strip().replace(",", "")
    return value * 10**power if "e" in plain or "E" in plain else float(f"{plain}e{power}")


def count(text: str | None) -> int | None:
    """A whole number of at most 15 digits, with or without commas between thousands."""
    if text is None:
        return None
    text = text.strip()
    if "," in text and _GROUPED.fullmatch(text):
        text = text.replace(",", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS else None


@once
def scaled(text: str | None) -> float | None:
    """A positive number that may end in K, M, B (or G), T, P for thousands: `85.8G` is 8.58e10."""
    if text is None:
        return None
    text = text.strip()
    power = _SUFFIXES.get(text[-1:])
    return positive(text) if power is None else shifted(text[:-1], power)


@once
def percent(text: str | None) -> float | None:
    """`34.30%` -> 0.343. None without the sign (the number may have been cut), for `N/A` and for a sentinel."""
    if text is None:
        return None
    text = text.strip()
    return shifted(text[:-1], -2) if text.endswith("%") else None


def bounded(low: float, value: float | None, high: float) -> float | None:
    """The value where it lies within what is possible at all, else None."""
    return value if value is not None and low <= value <= high else None
