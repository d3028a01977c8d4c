"""An alert: what is told of a run to people who do not watch it, and what became of it."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from healthcheck.model.message import Message
from healthcheck.model.verdict import Verdict

NOTIFY = "notify"
"""The option, without its dashes, whose value is an address: in most services whoever knows it may post."""
MASKED = "***"
"""What a record has in place of an address."""


class NotifyOn(StrEnum):
    """When an alert goes out: another verdict than last time, after every run, or after each that is not PASS."""

    CHANGE = "change"
    ALWAYS = "always"
    NOT_PASS = "not-pass"  # noqa: S105 - a word of the command line


class Alert(Struct, frozen=True):
    """One text in two spellings, for services that show it as it is and for those that read Markdown.

    `title` is `healthcheck: ` and the line of the run on stdout, English; the texts are in the language spoken.
    """

    title: str
    plain: str
    markdown: str
    verdict: Verdict


class Delivery(Struct, frozen=True):
    """What became of an alert at one address, named by its place (from 1) and its service, never by itself.

    `problem` is None where the service took it.
    """

    place: int
    service: str
    problem: Message | None = None


def masked(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words of a command line without addresses; `@FILE` names a file, and stays."""
    kept: list[str] = []
    option, taken = f"--{NOTIFY}", False
    for word in words:
        if taken:
            kept.append(_masked(word))
            taken = False
        elif word.startswith(f"{option}="):
            kept.append(f"{option}={_masked(word.partition('=')[2])}")
        else:
            kept.append(word)
            taken = word == option
    return tuple(kept)


def _masked(value: str) -> str:
    return value if value.startswith("@") else MASKED
