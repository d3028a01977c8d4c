"""A rule of the joint diagnosis: conditions over signs and levels, what it means, what to do. Data, no code."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product

from msgspec import Struct

from healthcheck.model.joint import Kind, Level, Question, Sign

Cell = tuple[tuple[Sign, tuple[Level, ...]], ...]
"""All of these signs have one of their levels; what is not named may be anything."""

_SHORT: Mapping[str, Sign] = {
    "mfu": Sign.MFU,
    "exposed": Sign.EXPOSED,
    "idle": Sign.IDLE,
    "data": Sign.DATA_LOADING,
    "goodput": Sign.GOODPUT,
    "steps": Sign.STEP_SPREAD,
    "ranks": Sign.RANK_SPREAD,
    "documents": Sign.DOCUMENTS,
    "busbw": Sign.BUSBW,
    "effective": Sign.EFFECTIVE,
    "link": Sign.LINK_VERDICT,
    "kind": Sign.RECORD_KIND,
    "gpu": Sign.RECORD_GPU,
    "age": Sign.RECORD_AGE,
    "cover": Sign.RECORD_COVER,
}
_LETTER: Mapping[str, Level] = {"L": Level.LOW, "M": Level.MIDDLE, "H": Level.HIGH, "U": Level.UNKNOWN}


def at(**levels: str) -> Cell:
    """`at(mfu="LM", exposed="H")`: MFU is low or in the middle, and the exposed share is high."""
    return tuple((_SHORT[name], tuple(_LETTER[letter] for letter in letters)) for name, letters in levels.items())


def each(links: Iterable[Cell], training: Iterable[Cell]) -> tuple[Cell, ...]:
    """Every cell of the one together with every cell of the other."""
    return tuple((*one, *other) for one, other in product(training, links))


FAILED = (at(link="L", busbw="L"),)
"""The check-up measured it: FAIL, and the bandwidth is what failed."""
BROKEN_PART = (at(link="L", busbw="MHU"),)
"""FAIL for a part (a card, a node), while the bandwidth that was measured without it is not broken."""
SLOW = (at(link="M"), at(link="HU", busbw="LM"))
"""Slower than healthy, not broken."""
HEALTHY = (at(link="HU", busbw="H"),)
UNMEASURED = (at(link="HU", busbw="U"),)
BAD = (*FAILED, *BROKEN_PART, *SLOW)
NOT_BAD = (*HEALTHY, *UNMEASURED)
ANY = (at(),)

Argv = tuple[str, ...]
"""A command line of ours; words in braces stand for what was given, or its name in capitals where it was not. REPAIRS
stands for the lines of the record's worst finding. Behind `>` stands the file that keeps what is printed."""
REPAIRS: Argv = ("{repairs}",)
CHECK_UP: Argv = ("healthcheck", "run", "full", "-H", "{hosts}")
LOOK: Argv = ("healthcheck", "probe", "-H", "{hosts}")
SEARCH: Argv = ("healthcheck", "localise", "-H", "{hosts}")
GATE: Argv = ("healthcheck", "gate", "-H", "{hosts}", "--budget", "5m", "--healthy-hosts", "healthy.hosts")
REPORT: Argv = ("healthcheck", "report", "{record}")
ALONE: Argv = ("healthcheck", "run", "quick", "-H", "{node}", "--only", "single_node")
PAST: Argv = ("healthcheck", "history", "--host", "{node}")
LOG: Argv = ("healthcheck", "vitals", "log", "{log}")
SAVE_LOG: Argv = ("healthcheck", "vitals", "log", "{log}", "--json", ">", "vitals-log.json")
CAPTURE: Argv = ("healthcheck", "vitals", "capture", "-H", "{hosts}", "--", "{command}")
SAVE_TRACE: Argv = ("healthcheck", "vitals", "trace", "{trace}", "--json", ">", "vitals-trace.json")
SAVE_MFU: Argv = (
    *("healthcheck", "vitals", "mfu", "--params", "{params}", "--seq-len", "{seq_len}", "--gpu", "{gpu}"),
    *("--gpus", "{gpus}", "--tokens-per-s", "{tokens_per_s}", "--json", ">", "vitals-mfu.json"),
)
BUDGET: Argv = (
    *("healthcheck", "vitals", "budget", "--params", "{params}", "--gpus", "{gpus}"),
    *("--step-time", "{step_time}", "--record", "{record}"),
)

ARTICLE, THUMB, CHECK = "article", "thumb", "check"
"""Whose rule it is, a text `joint.source.<source>` each."""


class Rule(Struct, frozen=True):
    """One row. `code` names the texts `joint.title.<code>` and, but for what is fine, `joint.meaning.<code>`.

    It matches where one of `when` does and no rule of the same question before it. `steps` name the texts
    `joint.next.<step>`, `wants` the signs that would make it surer where they are unknown (`joint.missing.<sign>`).
    `source` says whose rule it is; `shows` which signs are its numbers beside those of its conditions.
    """

    code: str
    question: Question
    kind: Kind
    when: tuple[Cell, ...]
    steps: tuple[str, ...] = ()
    commands: tuple[Argv, ...] = ()
    wants: tuple[Sign, ...] = ()
    source: str = THUMB
    shows: tuple[Sign, ...] = ()

    def matches(self, levels: Mapping[Sign, Level]) -> bool:
        """Whether the conditions hold; a sign that is not in `levels` is unknown."""
        return any(all(levels.get(sign, Level.UNKNOWN) in allowed for sign, allowed in cell) for cell in self.when)

    @property
    def signs(self) -> tuple[Sign, ...]:
        """The signs its conditions look at, each once, in their order."""
        return tuple(dict.fromkeys(sign for cell in self.when for sign, _ in cell))
