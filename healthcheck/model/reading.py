"""One look at something, and whether it could be seen at all."""

from __future__ import annotations

from enum import StrEnum
from typing import Generic, TypeVar

from msgspec import Struct

# Covariant: a Reading without a value is one of anything (`Reading[Never]`).
T_co = TypeVar("T_co", covariant=True)


class ReadingState(StrEnum):
    """Only OBSERVED carries a value. None of the others may ever be read as health."""

    OBSERVED = "observed"
    TOOL_MISSING = "tool_missing"
    DENIED = "denied"
    UNREACHABLE = "unreachable"
    UNPARSABLE = "unparsable"


class Evidence(Struct, frozen=True):
    """A quoted line: `source` says where it was read (command, file, `node05: /sys/...`), `text` is verbatim."""

    source: str
    text: str


class Reading(Struct, Generic[T_co], frozen=True):
    """A value as read on a node, or the reason why there is none."""

    state: ReadingState
    value: T_co | None = None
    evidence: tuple[Evidence, ...] = ()

    @property
    def observed(self) -> bool:
        """True when `value` may be used."""
        return self.state is ReadingState.OBSERVED

    @property
    def detail(self) -> str:
        """What to say of it in a sentence: its first quoted line, else its state."""
        return self.evidence[0].text if self.evidence else self.state.value
