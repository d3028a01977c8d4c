"""Links and training together: rules of thumb as data, and which of them match.

Document `healthcheck.diagnose/1`.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from healthcheck.model.message import Message

SCHEMA = "healthcheck.diagnose/1"


class Sign(StrEnum):
    """What a rule looks at. Fractions from 0 to 1, except BUSBW: share of the healthy limit's peak."""

    MFU = "mfu"
    EXPOSED = "exposed_share"
    COLLECTIVE = "collective_share"
    IDLE = "idle_share"
    DATA_LOADING = "data_loading_share"
    GOODPUT = "goodput"
    STEP_SPREAD = "step_spread"
    BUSBW = "busbw_share"
    LINK_VERDICT = "link_verdict"


class Level(StrEnum):
    """Where a number lies between its two thresholds. `unknown`: it was not measured."""

    LOW = "low"
    MIDDLE = "middle"
    HIGH = "high"
    UNKNOWN = "unknown"


class Seen(Struct, frozen=True):
    """One sign: its number, where it lies, the thresholds (low below, high from), and whose number it is."""

    sign: Sign
    value: float | None
    level: Level
    low: float | None
    high: float | None
    basis: Message


class Match(Struct, frozen=True):
    """A rule that matched: why (its signs), what it means, what to do next, and what is missing to be surer."""

    rule: str
    title: Message
    because: tuple[Seen, ...]
    meaning: Message
    next_steps: tuple[Message, ...]
    commands: tuple[str, ...]
    missing: tuple[Message, ...]
    rule_of_thumb: bool
    source: str


class Joint(Struct, frozen=True):
    """The answer: every sign, the rules that matched, strongest first, and what was not known. `line` is stdout's."""

    seen: tuple[Seen, ...]
    matches: tuple[Match, ...]
    missing: tuple[Message, ...]
    link_verdict: str | None
    run_id: str | None
    simulated: bool
    vitals: tuple[str, ...]
    notes: tuple[Message, ...]
    exit_code: int
