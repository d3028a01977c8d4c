"""Texts that differ in nothing but the node they name: told once, with the names of all of them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from healthcheck.model.finding import Finding
from healthcheck.reporting.figures import one_line

MOST_QUOTES = 40
"""Raw lines of one entry; how many more there are is said."""
_ANYBODY = "\0"


def without(host: str, text: str) -> str:
    """The text with a mark where it names the host; a longer name that only holds it is another one."""
    return of_all(host, text, _ANYBODY)


def of_all(host: str, text: str, names: str) -> str:
    """The text of one host, told of all `names`."""
    if not host or host not in text:
        return text
    return re.sub(rf"(?<![\w.-]){re.escape(host)}(?![\w-])", lambda _: names, text)


def quotes(found: Sequence[Finding]) -> tuple[tuple[tuple[str, str], ...], int]:
    """((source, raw line), how many are left out): lines that differ in nothing but the node are quoted once."""
    lines: dict[tuple[str, str], tuple[str, str]] = {}
    for one in found:
        host = one.component.host or ""
        for quote in one.evidence:
            key = (without(host, quote.source), without(host, quote.text))
            lines.setdefault(key, (one_line(quote.where), one_line(quote.shown)))
    kept = tuple(dict.fromkeys(lines.values()))
    return kept[:MOST_QUOTES], len(kept[MOST_QUOTES:])
