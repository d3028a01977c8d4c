"""Words that a line must have to be worth a closer look: what makes reading gigabytes of other text cheap.

Looked up in whole blocks of text first; only words that occur in a block are looked up in its lines. Every pattern of
`heads`, `failures` and `naming` must have one of these words in whatever it matches.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from healthcheck.model.datatypes import NAMES_PATTERN


class Sign(NamedTuple):
    """A word, and where the word alone is too common, what the line must look like as well."""

    word: str
    pattern: re.Pattern[str] | None = None

    def in_line(self, text: str) -> bool:
        """Does the line deserve a look because of this sign?"""
        return self.word in text and (self.pattern is None or self.pattern.search(text) is not None)


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
# Somebody else's text may be glued to the type of a torn row.
ROW = re.compile(rf"\d\s+\d+\s+(?:[a-z]\w*\s|{NAMES_PATTERN})", re.ASCII)
# What may stand between the config line of a table and its footer, and means nothing elsewhere.
IN_TABLE = re.compile(r"[#…]|\bn?Rank|\.\.\.|" + ROW.pattern, re.ASCII)


def signs_in(block: str) -> list[Sign]:
    """The signs whose word occurs anywhere in a block of text."""
    return [sign for sign in SIGNS if sign.word in block]


def may_have_rows(block: str) -> bool:
    """True where a data type is named, which every row does."""
    return any(word in block for word in _TYPES)
