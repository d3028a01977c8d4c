"""Two saved documents of a training side by side: what got worse beyond noise, and what cannot be held together.

Document `healthcheck.vitals.compare/1`. Seconds, tokens/s, GB/s (10^9 bytes), TFLOP/s per GPU, fractions from 0 to 1.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from healthcheck.model.comparison import Answer, Direction
from healthcheck.model.message import Message
from healthcheck.model.vitals_document import DocumentKind

SCHEMA = "healthcheck.vitals.compare/1"


class Unit(StrEnum):
    """What a number is of, and so how it is written."""

    SECONDS = "seconds"
    TOKENS_PER_S = "tokens_per_s"
    SHARE = "share"
    GBYTE_S = "gbyte_s"
    TFLOPS = "tflops"


class Noise(Struct, frozen=True):
    """From where on a change counts, as a fraction (of a share: in the share itself), and by which rule."""

    bar: float
    rule: Message


class Metric(Struct, frozen=True):
    """One number of both. `change` is relative, (after - before) / before; of a share the difference; of a part of a
    step (`of_step`) the difference beside the whole step of BEFORE.

    `direction` None: told, not judged. `speed`: it says how fast the training is. `of` names what there are several of:
    a collective, a loss.
    """

    name: str
    unit: Unit
    before: float
    after: float
    change: float
    noise: Noise
    direction: Direction | None
    speed: bool = False
    of: Message | None = None
    of_step: bool = False


class Side(Struct, frozen=True):
    """One of the two documents: its file, and what it says it is of."""

    file: str
    what: Message


class VitalsComparison(Struct, frozen=True):
    """Both side by side. `differs` says what was not the same (GPUs, batch, version ...), `not_compared` what follows.

    `exit_code` 4 where something got worse; else 3 where nothing says how fast both are, or nothing could be compared.
    """

    line: str
    answer: Answer
    exit_code: int
    kind: DocumentKind
    before: Side
    after: Side
    metrics: tuple[Metric, ...]
    differs: tuple[Message, ...]
    not_compared: tuple[Message, ...]
    notes: tuple[Message, ...]
    floor: float
    """What counts at the least, as a fraction: a rule of thumb that can be set."""
