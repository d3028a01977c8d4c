"""Lines of fields that bars separate (`a: 1 | b: 2`), as NeMo and nanotron print them, and progress bars."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from healthcheck.vitals.logs.figures import positive

_DIGITS = re.compile(r"-?(\d*)\.?(\d*)", re.ASCII)
_LONGEST_COUNT = 40
_BAR = re.compile(
    r"(?P<n>\d{1,12})/(?P<of>\d{1,12}) \[(?P<spent>(?:\d{1,4}:)?\d{1,2}:\d\d)<(?:(?:\d{1,4}:)?\d{1,2}:\d\d|\?),\s{1,3}"
    r"(?:(?P<rate>\d{1,9}(?:\.\d{1,9})?)(?P<unit>s/it|it/s)|\?it/s)(?P<after>, |\])",
    re.ASCII,
)


def fields_of(text: str) -> tuple[dict[str, str], str | None]:
    """Name -> value, and the name of the last one, which nothing ends: it may have been cut."""
    fields: dict[str, str] = {}
    last = None
    for part in text.split(" | "):
        name, colon, value = part.partition(": ")
        last = name if colon else None
        if last:
            fields[last] = value
    if last:
        fields[last] = fields[last].rstrip()
    return fields, last


def whole(value: str, digits: int = 4) -> bool:
    """Can a number that ends a line be trusted? With all its digits, or a decimal point and at least three of them."""
    match = _DIGITS.fullmatch(value)
    if match is None:
        return False
    shown = len((match[1] + match[2]).lstrip("0"))
    return shown == digits or ("." in value and shown >= 3)


class Bar(NamedTuple):
    """One drawing of a progress bar; `rest` is what stands after it, inside its brackets and beyond."""

    n: int
    of: int
    spent_s: float
    step_s: float | None
    rest: str
    end: int
    """Where it ends in its line."""


@lru_cache(maxsize=4)  # a bar is drawn again, the same, below what was printed meanwhile
def bar_of(line: str) -> Bar | None:
    """The last progress bar (of tqdm) that is drawn on a line."""
    middle = line.rfind("<")
    found = _BAR.search(line, max(0, middle - _LONGEST_COUNT)) if middle >= 0 else None
    if found is None:
        return None
    n, of, spent, printed, unit, after = found.groups()
    rate = positive(printed)
    step_s = rate if rate is None or unit == "s/it" else 1 / rate
    rest = line[found.end() :] if after == ", " else ""
    return Bar(int(n), int(of), _seconds(spent), step_s, rest, found.end())


def _seconds(clock: str) -> float:
    total = 0
    for part in clock.split(":"):
        total = total * 60 + int(part)
    return float(total)
