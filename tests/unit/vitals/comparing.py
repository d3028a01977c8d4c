"""Two documents of a training held side by side, and what was told of it."""

from __future__ import annotations

from healthcheck.model.comparison import Direction
from healthcheck.model.vitals_compare import Metric, VitalsComparison
from healthcheck.model.vitals_document import VitalsDocument
from healthcheck.vitals.compare.pairs import compare

WORSE, BETTER, SAME = Direction.WORSE, Direction.BETTER, Direction.SAME


def held(before: VitalsDocument, after: VitalsDocument, floor: float = 0.02) -> VitalsComparison:
    return compare(before, after, ("a.json", "b.json"), floor)


def by_name(found: VitalsComparison) -> dict[str, Metric]:
    return {one.name: one for one in found.metrics}


def ways(found: VitalsComparison) -> dict[str, Direction | None]:
    return {name: one.direction for name, one in by_name(found).items()}


def told(found: VitalsComparison) -> str:
    return " | ".join(str(text) for text in (*found.differs, *found.not_compared, *found.notes))
