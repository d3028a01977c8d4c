"""Amounts as people write them on a command line: `13B` parameters, `2.4s`, `22%`, `26GB`.

ValueError says what is wrong and what would be right.
Suffixes of counts are decimal (4M is 4,000,000), with an i binary (4Mi is 4,194,304).
"""

from __future__ import annotations

import math
import re

from healthcheck.model.units import Seconds
from healthcheck.parsing.strict_yaml import shown

_FLAGS = re.IGNORECASE | re.ASCII
_NUMBER = r"(?P<number>(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d*)?(?:e[-+]?\d+)?|\.\d+(?:e[-+]?\d+)?)"
_COUNT = re.compile(rf"{_NUMBER}\s*(?P<suffix>[kmbgt]i?)?", _FLAGS)
_BYTES = re.compile(rf"{_NUMBER}\s*(?P<suffix>[kmgt]?i?b)", _FLAGS)
_PLAIN = re.compile(_NUMBER, _FLAGS)
_PERCENT = re.compile(rf"{_NUMBER}\s*%", _FLAGS)
_TENS = {"": 0, "k": 3, "m": 6, "b": 9, "g": 9, "t": 12}
_TWOS = {"k": 10, "m": 20, "b": 30, "g": 30, "t": 40}
_LONGEST = 60
MOST = 1e21
"""FLOPs of a whole training aside, nothing that is counted here is as large."""
LEAST = 1e-6
"""Of a rate or a share; what is smaller was meant in another unit."""
SHORTEST_S, LONGEST_S = 1e-9, 1e10


def count_of(text: str, most: float = MOST, least: float = 1.0) -> float:
    """`13B`, `300b`, `4Mi`, `64,862,437,376`, `1.2e9`."""
    found = _matched(_COUNT, text, "a number such as 13B, 4M or 4000000")
    suffix = (found["suffix"] or "").lower()
    scale = 2.0 ** _TWOS[suffix[0]] if suffix.endswith("i") else 10.0 ** _TENS[suffix]
    return _within(_value(found) * scale, text, least, most)


def number_of(text: str, most: float = MOST, least: float = LEAST) -> float:
    """A number above 0 without a suffix, for what has its unit in the name of the option."""
    return _within(_value(_matched(_PLAIN, text, "a number without a unit")), text, least, most)


def seconds_of(text: str) -> float:
    """`2.4s`, `2400ms`, `1m12s`; a bare number is in seconds."""
    stripped = text.strip()
    if len(stripped) <= _LONGEST and not _PLAIN.fullmatch(stripped):
        try:
            return _within(float(Seconds.parse(stripped)), text, SHORTEST_S, LONGEST_S)
        except (ValueError, OverflowError):
            raise ValueError(f"{shown(text)} is not a time above 0; write for example 2.4s, 2400ms or 1m12s") from None
    found = _matched(_PLAIN, text, "a time such as 2.4s, 2400ms or 1m12s")
    return _within(_value(found), text, SHORTEST_S, LONGEST_S)


def fraction_of(text: str) -> float:
    """`22%` or `0.22`; at most 1."""
    stripped = text.strip()
    per_cent = len(stripped) <= _LONGEST and _PERCENT.fullmatch(stripped)
    if per_cent:
        return _within(_value(per_cent) / 100, text, LEAST, 1.0)
    value = _value(_matched(_PLAIN, text, "a share such as 22% or 0.22"))
    if value > 1:
        raise ValueError(f"{shown(text)} is above 1; write for example 22% or 0.22")
    return _within(value, text, LEAST, 1.0)


def bytes_of(text: str) -> float:
    """`26GB` (10^9), `26GiB` (2^30), `26000000000B`; the unit is written, because 26G means both."""
    found = _matched(_BYTES, text, "a size with its unit, such as 26GB (10^9) or 26GiB")
    unit = found["suffix"].lower()[:-1]
    scale = 2.0 ** _TWOS[unit[0]] if unit.endswith("i") and unit != "i" else 10.0 ** _TENS.get(unit, 0)
    return _within(_value(found) * scale, text, 1.0, MOST)


def bandwidth_of(text: str) -> float:
    """GB/s: `200` or `200GB/s`; Gb/s are refused, because a link speed is not what a collective reaches."""
    stripped = text.strip()
    if stripped.endswith(("Gb/s", "Gbps", "Gbit/s")):
        raise ValueError(f"{shown(text)} is in bits, as links are sold; write the busbw of nccl-tests in GB/s: 200")
    return number_of(stripped.removesuffix("GB/s"), 1e6)


def _matched(pattern: re.Pattern[str], text: str, wanted: str) -> re.Match[str]:
    stripped = text.strip()
    found = pattern.fullmatch(stripped) if len(stripped) <= _LONGEST else None
    if found is None:
        raise ValueError(f"{shown(text)} is not {wanted}")
    return found


def _value(found: re.Match[str]) -> float:
    return float(found["number"].replace(",", ""))


def _within(value: float, text: str, least: float, most: float) -> float:
    """From `least` to `most`, so that nothing that follows from it is infinite."""
    if not math.isfinite(value) or value > most:
        raise ValueError(f"{shown(text)} is too large; at most {most:g} makes sense here")
    if value <= 0:
        raise ValueError(f"{shown(text)} must be above 0")
    if value < least:
        raise ValueError(f"{shown(text)} is too small; at least {least:g} makes sense here")
    return value
