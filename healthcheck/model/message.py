"""A text as a code and its arguments, so that a stored run can be rendered in any language."""

from __future__ import annotations

from msgspec import Struct

Arg = str | int | float


class Message(Struct, frozen=True):
    """`code` names a template of the catalogue (`model/texts.py`); `args` fill its named placeholders.

    Build one with `say`; `str()` gives the English text.
    """

    code: str
    args: dict[str, Arg] = {}

    def __str__(self) -> str:
        from healthcheck.model.texts import render_en

        return render_en(self.code, self.args)


def say(code: str, /, **args: Arg) -> Message:
    """A message by its catalogue code; a missing template or placeholder is caught by tests/unit/model."""
    return Message(code, args)
