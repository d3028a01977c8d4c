"""One look at something, and whether it could be seen at all."""

from __future__ import annotations

from enum import StrEnum
from typing import Generic, TypeVar

from msgspec import Struct

from healthcheck.model.message import Arg, Message, english_of, say

# Covariant: a Reading without a value is one of anything (`Reading[Never]`).
T_co = TypeVar("T_co", covariant=True)


class ReadingState(StrEnum):
    """Only OBSERVED carries a value. None of the others may ever be read as health."""

    OBSERVED = "observed"
    TOOL_MISSING = "tool_missing"
    DENIED = "denied"
    UNREACHABLE = "unreachable"
    UNPARSABLE = "unparsable"


class Evidence(Struct, frozen=True, omit_defaults=True, gc=False):
    """A quoted line: `source` says where it was read (command, file, `node05: /sys/...`), `text` is verbatim.

    Where one of them is in words of ours it is kept as English, with its message beside it (`place`, `told`): see
    `noted`.
    """

    source: str
    text: str
    place: Message | None = None
    told: Message | None = None

    def __hash__(self) -> int:
        # The English says all there is, and the arguments of a message cannot be hashed.
        return hash((self.source, self.text))

    @property
    def where(self) -> str:
        """`source` in the language that is spoken."""
        return self.source if self.place is None else str(self.place)

    @property
    def shown(self) -> str:
        """`text` in the language that is spoken; what a machine printed as it is."""
        return self.text if self.told is None else str(self.told)


def noted(source: Arg, text: Arg) -> Evidence:
    """Evidence of which the place, the text or both are in words of ours: messages; a plain text is verbatim."""
    place = source if isinstance(source, Message) else None
    told = text if isinstance(text, Message) else None
    return Evidence(english_of(source), english_of(text), place, told)


class Reading(Struct, Generic[T_co], frozen=True, gc=False):
    """A value as read on a node, or the reason why there is none."""

    state: ReadingState
    value: T_co | None = None
    evidence: tuple[Evidence, ...] = ()

    @property
    def observed(self) -> bool:
        """True when `value` may be used."""
        return self.state is ReadingState.OBSERVED

    @property
    def detail(self) -> Arg:
        """What to say of it in a sentence: its first quoted line, else its state."""
        if not self.evidence:
            return say(f"reading.{self.state.value}")
        return self.evidence[0].told or self.evidence[0].text
