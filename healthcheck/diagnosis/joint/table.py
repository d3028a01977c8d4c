"""The whole table of rules. Of each question the first rule that matches answers, and one always does (its test)."""

from __future__ import annotations

from collections.abc import Mapping

from healthcheck.diagnosis.joint.link_rules import LINK_RULES, RECORD_RULES
from healthcheck.diagnosis.joint.rule import Rule
from healthcheck.diagnosis.joint.step_rules import STEP_RULES
from healthcheck.diagnosis.joint.training_rules import (
    DOCUMENT_RULES,
    EFFECTIVE_RULES,
    EVENNESS_RULES,
    WAITING_RULES,
    WALL_RULES,
)
from healthcheck.model.joint import Level, Question, Sign

RULES: tuple[Rule, ...] = (
    *STEP_RULES,
    *WALL_RULES,
    *LINK_RULES,
    *EVENNESS_RULES,
    *WAITING_RULES,
    *EFFECTIVE_RULES,
    *DOCUMENT_RULES,
    *RECORD_RULES,
)
QUESTIONS: tuple[Question, ...] = tuple(dict.fromkeys(rule.question for rule in RULES))
"""In the order in which their answers are told."""


def answers(levels: Mapping[Sign, Level]) -> tuple[Rule, ...]:
    """One rule a question. ValueError where none matches: the table has a hole."""
    found = []
    for question in QUESTIONS:
        rule = next((rule for rule in RULES if rule.question is question and rule.matches(levels)), None)
        if rule is None:
            raise ValueError(f"no rule answers {question.value}")
        found.append(rule)
    return tuple(found)
