"""The training in the report of a check-up: a sentence a document, what was found, and where it stands."""

from __future__ import annotations

from msgspec import Struct

from healthcheck.reporting.figures import one_line
from healthcheck.reporting.training_page import TrainingShown, found, log_answer, trace_answer

VITALS_PAGE = "vitals.html"


class TrainingTold(Struct, frozen=True):
    """`found` are the titles of the rules that matched; `answers` what each document says."""

    found: tuple[str, ...]
    answers: tuple[str, ...]


def training_told(training: TrainingShown | None) -> TrainingTold | None:
    """What a report says of it; None where no training was given."""
    if training is None:
        return None
    answers = (*map(log_answer, training.logs), *map(trace_answer, training.traces))
    return TrainingTold(found(training.joint), tuple(one_line(str(answer)) for answer in answers))
