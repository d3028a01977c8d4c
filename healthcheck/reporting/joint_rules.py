"""A rule of the joint diagnosis by itself: when it holds, in words, for `healthcheck explain` and its document."""

from __future__ import annotations

from healthcheck.diagnosis.joint.rule import Cell, Rule
from healthcheck.diagnosis.joint.table import RULES
from healthcheck.model.joint import Level, Sign
from healthcheck.model.message import Message, say
from healthcheck.reporting.joining import in_a_row, pair

_WORDS = {
    (Sign.LINK_VERDICT, Level.LOW): "FAIL",
    (Sign.LINK_VERDICT, Level.MIDDLE): "DEGRADED",
    (Sign.LINK_VERDICT, Level.HIGH): "PASS",
}
_SHOWN = {
    (Sign.DOCUMENTS, Level.LOW): "joint.word.contradict",
    (Sign.DOCUMENTS, Level.HIGH): "joint.word.agree",
    (Sign.RECORD_KIND, Level.LOW): "joint.word.simulated",
    (Sign.RECORD_KIND, Level.MIDDLE): "joint.word.incomplete",
    (Sign.RECORD_KIND, Level.HIGH): "joint.word.complete",
    (Sign.RECORD_GPU, Level.LOW): "joint.word.another",
    (Sign.RECORD_GPU, Level.HIGH): "joint.word.same",
}


def word_of(sign: Sign, level: Level) -> str | None:
    """The word that stands for a number where a sign has none; None where it has one."""
    shown = _SHOWN.get((sign, level))
    return _WORDS.get((sign, level)) if shown is None else str(Message(shown))


def rule_named(code: str) -> Rule | None:
    """The rule of that name."""
    return next((rule for rule in RULES if rule.code == code), None)


def conditions(rule: Rule) -> tuple[str, ...]:
    """Each case in which it holds, on a line of its own."""
    return tuple(map(_condition, rule.when))


def _condition(cell: Cell) -> str:
    told = []
    for sign, levels in cell:
        words = [word_of(sign, level) or say(f"training.level.{level.value}") for level in levels]
        told.append(pair(say(f"training.sign.{sign.value}"), in_a_row(words, "joint.or")))
    return in_a_row(told)
