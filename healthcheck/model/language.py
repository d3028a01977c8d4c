"""Which language is spoken: that of pages and of stderr, never that of records, the stdout line or `--json`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from msgspec import Struct


class Language(Struct, frozen=True):
    """`code` as in `<html lang>`; `templates` by message code, none for English, whose texts are the code's own.

    `phrases` are the texts of our data files, by their English.
    """

    code: str
    templates: Mapping[str, str] = {}
    phrases: Mapping[str, str] = {}


ENGLISH = Language("en")

_SPOKEN: ContextVar[Language] = ContextVar("language", default=ENGLISH)


def spoken() -> Language:
    """The language of whoever reads what is told now."""
    return _SPOKEN.get()


@contextmanager
def speaking(language: Language) -> Iterator[None]:
    """Everything that is told inside is told in `language`."""
    before = _SPOKEN.set(language)
    try:
        yield
    finally:
        _SPOKEN.reset(before)
