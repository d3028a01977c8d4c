"""One Jinja environment for each format: strict about names, with the words of the catalogue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from healthcheck.model.language import spoken
from healthcheck.model.message import Arg, Message
from healthcheck.reporting.joining import bracket, in_a_row, pair, sentence, verdict_word

if TYPE_CHECKING:
    from jinja2 import Environment


def words(code: str, **args: Arg) -> str:
    """A fixed text of a template, by its catalogue code."""
    return str(Message(code, args))


def environment(*, autoescape: bool) -> Environment:
    """Jinja is imported here, not above: `--help` and `parse` must not pay for it."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("healthcheck.reporting"),
        autoescape=autoescape,  # noqa: S701 (off for Markdown only, which has its own escaping)
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.globals |= {"t": words, "pair": pair, "sentence": sentence, "bracket": bracket, "language": spoken().code}
    made.filters |= {"row": in_a_row, "word": verdict_word}
    return made
