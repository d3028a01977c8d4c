"""Words that a line must have to be worth a closer look: what makes reading gigabytes of other text cheap.

Looked up in whole blocks of text first; only words that occur in a block are looked up in its lines. Every pattern of
`heads`, `failures` and `naming` must have one of these words in whatever it matches.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from healthcheck.model.datatypes import NAMES_PATTERN


class Sign(NamedTuple):
    """A word, and where the word alone is too common, what the line must look like as well."""

    word: str
    pattern: re.Pattern[str] | None = None


_TABLE = (
    *("-tests", "Collective test ", "nThread", "Using devices", " device ", "-place", "algbw", "Avg bus"),
    *("simulated by", "_perf", "busBw"),
)
_FAILURES = (
    "NCCL",
    "failure",
    "Test timeout",
    "USAGE: ",
    "ized option",
    "requested GPUs",
    "by this test",
    "noticed that",
)
SIGNS = (
    *(Sign(word) for word in _TABLE + _FAILURES),
    Sign("Out of ", re.compile("Out of (?:bounds|memory)")),
    Sign("nvalid ", re.compile("nvalid (?:number|sizes?|option|type|op) ")),
    Sign(
        " error", re.compile("CuRAND error|(?:srun|slurmstepd): error|lookup error: |: error while loading|# error: ")
    ),
    Sign("Option -"),
    Sign("Signal: "),
    Sign(": line "),
    Sign("oom", re.compile("oom[-_]kill")),
)
_TYPES = ("float", "half", "double", "nt8", "nt32", "nt64", " int ", "f8e", "8_e", " char ")
# What may stand between the config line of a table and its footer, and means nothing elsewhere.
_IN_TABLE = (Sign("#"), Sign("Rank"), Sign("nRanks"), Sign("…"), Sign("..."))
_BEGINNINGS = ("nThread", "algbw")
# Somebody else's text may be glued to the type of a torn row.
ROW = re.compile(rf"\d\s+\d+\s+(?:[a-z]\w*\s|{NAMES_PATTERN})", re.ASCII)


def signs_in(block: str) -> list[Sign]:
    """The signs whose word occurs anywhere in a block of text."""
    return [sign for sign in SIGNS if sign.word in block]


def may_have_rows(block: str) -> bool:
    """True where a data type is named, which every row does."""
    return any(word in block for word in _TYPES)


class Block:
    """Some lines of a log, in order; `text` is all of them, joined by line ends."""

    def __init__(self, text: str, texts: list[str], numbers: Sequence[int]) -> None:
        self.text = text
        self.texts = texts
        self.numbers = numbers

    def telling_lines(self, in_table: bool) -> list[int]:
        """Indices of the lines that deserve a look; `in_table`: a table has begun before this block."""
        text = self.text
        in_table = in_table or any(word in text for word in _BEGINNINGS)
        signs = [*signs_in(text), *(sign for sign in _IN_TABLE if in_table and sign.word in text)]
        # A type that nobody knows yet is looked for in a table only, among columns.
        rows = (may_have_rows(text) or (in_table and "   " in text)) and ROW.search(text) is not None
        if not signs and not rows:
            return []
        starts = [0, *accumulate(len(line) + 1 for line in self.texts)]
        found: set[int] = set()
        for sign in signs:
            found.update(self._with(sign, starts))
        if rows:
            found.update(bisect_right(starts, match.start()) - 1 for match in ROW.finditer(text))
        return sorted(found)

    def _with(self, sign: Sign, starts: list[int]) -> Iterator[int]:
        at = self.text.find(sign.word)
        while at >= 0:
            index = bisect_right(starts, at) - 1
            if sign.pattern is None or sign.pattern.search(self.texts[index]):
                yield index
            at = self.text.find(sign.word, starts[index + 1])  # once a line
