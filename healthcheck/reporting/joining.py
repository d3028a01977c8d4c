"""How texts are put side by side: the marks between them are those of the language that is spoken."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from healthcheck.model.message import Arg, say
from healthcheck.model.verdict import Verdict


def in_a_row(texts: Iterable[Arg | None], code: str = "text.semicolon") -> str:
    """Several texts in one, joined by the text `code` of a `first` and an `other`; None and empty ones are left out."""
    found = [str(text) for text in texts if text is not None and text != ""]
    return reduce(lambda first, other: str(say(code, first=first, other=other)), found) if found else ""


def pair(name: Arg, what: Arg) -> str:
    """`name: what`."""
    return str(say("text.pair", name=name, what=what))


def bracket(what: Arg, more: Arg | None) -> str:
    """`what (more)`; what alone where there is no more to say of it."""
    return str(what if more is None else say("text.bracket", what=what, more=more))


def sentence(text: Arg) -> str:
    """The text with a full stop behind it."""
    return str(say("text.sentence", text=text))


def verdict_word(verdict: Verdict) -> str:
    """A verdict where a page names it first: the word itself, which no language translates, with its gloss."""
    return str(say(f"report.verdict.{verdict.name.lower()}", verdict=verdict.name))
