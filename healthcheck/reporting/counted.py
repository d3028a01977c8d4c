"""How many of how many, in words: `the node`, `both nodes`, `all 32 nodes`, `3 of 32 nodes`."""

from __future__ import annotations

from healthcheck.model.message import Message, say


def any_of(total: int) -> Message:
    """Behind a negation: nothing was found against `any of 32 nodes`."""
    return say("report.counted.one") if total == 1 else say("report.looks.any", n=total)


def counted(n: int, total: int) -> Message:
    """`n` of `total` nodes as the subject or object of a sentence; nowhere its first word."""
    if n != total:
        return say("report.counted.some", n=n, total=total)
    if total == 1:
        return say("report.counted.one")
    return say("report.counted.both") if total == 2 else say("report.counted.all", n=n)
