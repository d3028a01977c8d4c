"""Links and training together: rules of thumb as data, and which of them match.

Document `healthcheck.diagnose/1`.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from healthcheck.model.message import Message

SCHEMA = "healthcheck.diagnose/1"


class Sign(StrEnum):
    """What a rule looks at. Fractions from 0 to 1, except RECORD_AGE, which is in days, and those without a number."""

    MFU = "mfu"
    EXPOSED = "exposed_share"
    COLLECTIVE = "collective_share"
    IDLE = "idle_share"
    DATA_LOADING = "data_loading_share"
    GOODPUT = "goodput"
    STEP_SPREAD = "step_spread"
    RANK_SPREAD = "rank_spread"
    """How much longer the busiest rank computes than the median one."""
    DOCUMENTS = "documents"
    """No number: low where the documents of the training contradict each other, high where they agree."""
    BUSBW = "busbw_share"
    """Measured bus bandwidth as a share of the healthy limit's peak; its thresholds are those of the record."""
    EFFECTIVE = "effective_busbw"
    """Bus bandwidth of a collective inside the training as a share of what the check-up measured for the same one."""
    LINK_VERDICT = "link_verdict"
    """No number: FAIL is low, DEGRADED middle, PASS high; INCONCLUSIVE, or none at all, unknown."""
    RECORD_KIND = "record_kind"
    """No number: simulated is low, incomplete middle, complete high; no record at all unknown."""
    RECORD_GPU = "record_gpu"
    """No number: another GPU than the training's is low, the same high."""
    RECORD_AGE = "record_age"
    RECORD_COVER = "record_cover"
    """How much of the training the record measured: of its nodes where they are named, else of its number of GPUs."""


class Level(StrEnum):
    """Where a number lies between its two thresholds. `unknown`: it was not measured."""

    LOW = "low"
    MIDDLE = "middle"
    HIGH = "high"
    UNKNOWN = "unknown"


class Question(StrEnum):
    """What a rule answers. Each question has exactly one answer to whatever the signs are (`diagnosis/joint`)."""

    LINKS = "links"
    STEP = "step"
    EFFECTIVE = "effective"
    WAITING = "waiting"
    EVENNESS = "evenness"
    WALL = "wall"
    DOCUMENTS = "documents"
    RECORD_KIND = "record_kind"
    RECORD_GPU = "record_gpu"
    RECORD_AGE = "record_age"
    RECORD_COVER = "record_cover"


class Kind(StrEnum):
    """What an answer is worth. `finding`: something to act on; `gap`: too little is known to call it well."""

    FINDING = "finding"
    GAP = "gap"
    NOTE = "note"
    FINE = "fine"


class Seen(Struct, frozen=True):
    """One sign: its number, where it lies, the thresholds (low below, high from), and whose number it is.

    `shown` is what stands there instead of a number: a verdict, the name of a GPU; empty where there is one.
    """

    sign: Sign
    value: float | None
    level: Level
    low: float | None
    high: float | None
    basis: Message
    shown: str = ""


class Match(Struct, frozen=True):
    """A rule that matched: why (its signs), what it means, what to do next, and what is missing to be surer."""

    rule: str
    title: Message
    because: tuple[Seen, ...]
    meaning: Message | None
    next_steps: tuple[Message, ...]
    commands: tuple[str, ...]
    missing: tuple[Message, ...]
    rule_of_thumb: bool
    source: Message
    question: Question = Question.STEP
    kind: Kind = Kind.FINDING


class Joint(Struct, frozen=True):
    """The answer: every sign, the rule that answers each question, strongest first, and what was not known.

    `line` is the one of stdout. `link_verdict` is what the record says, by its name, of the nodes of the training
    where they were named, else of all. `simulated`: the links are. `thresholds` are those that were used, `changed`
    the names of those that were asked for.
    """

    seen: tuple[Seen, ...]
    matches: tuple[Match, ...]
    missing: tuple[Message, ...]
    link_verdict: str | None
    run_id: str | None
    simulated: bool
    vitals: tuple[str, ...]
    notes: tuple[Message, ...]
    exit_code: int
    thresholds: dict[str, float] = {}
    changed: tuple[str, ...] = ()
    line: str = ""
