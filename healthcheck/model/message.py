"""A text as a code and its arguments, so that a stored run can be rendered in any language."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Union

from msgspec import Struct

Arg = Union[str, int, float, "Message"]
PHRASE = "phrase"
"""The code of a text that stands in a data file; its entries in a catalogue are `phrase.` and a digest each."""


class Message(Struct, frozen=True, gc=False):
    """`code` names a template of the catalogue (`model/texts.py`); `args` fill its named placeholders.

    An argument may be a message itself, so that a sentence within a sentence is in its language, too. Build one with
    `say`; `str()` gives the text in the language that is spoken (`model/language.py`), `english` what records keep.
    """

    code: str
    args: dict[str, Arg] = {}

    def __str__(self) -> str:
        from healthcheck.model.language import spoken
        from healthcheck.model.texts import render

        return render(self.code, self.args, spoken())

    @property
    def english(self) -> str:
        """The text as it stands in records and JSON documents, whatever language is spoken."""
        from healthcheck.model.language import ENGLISH
        from healthcheck.model.texts import render

        return render(self.code, self.args, ENGLISH)


def english_of(arg: Arg) -> str:
    """An argument as it reads in English; records of earlier versions hold the text of a message itself."""
    return arg.english if isinstance(arg, Message) else str(arg)


def listed(texts: Iterable[Arg], code: str = "text.comma") -> Arg:
    """Several texts as one argument, joined by the text `code` of a `first` and an `other`; empty where none are."""
    found = list(texts)
    return reduce(lambda first, other: say(code, first=first, other=other), found) if found else ""


def few(texts: Sequence[Arg], most: int) -> Arg:
    """The first `most` texts as one argument, and how many more there are."""
    shown = listed(texts[:most])
    return say("text.and_more", first=shown, more=len(texts) - most) if len(texts) > most else shown


def distinct(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Each text once, in the order in which they come first."""
    return tuple({message.english: message for message in messages}.values())


def phrase(text: str) -> Message:
    """What our data files say in words (the title of a machine type, the source of a number), as a message.

    Its English is the text itself; a language has translations of those in the files that are shipped, and a text of
    any other file is shown as it is.
    """
    return Message(PHRASE, {"text": text})


def say(code: str, /, **args: Arg) -> Message:
    """A message by its catalogue code; a missing template or placeholder is caught by tests/unit/model."""
    return Message(code, args)
