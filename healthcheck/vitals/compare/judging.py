"""From two numbers to a metric, from two facts to what differs, and from all metrics to the answer."""

from __future__ import annotations

import math
from collections.abc import Sequence

from healthcheck.model.comparison import EXIT_NOT_COMPARABLE, EXIT_SAME, EXIT_WORSE, Answer, Direction
from healthcheck.model.message import Message, say
from healthcheck.model.vitals_compare import Metric, Noise, Unit

_EXITS = {Answer.WORSE: EXIT_WORSE, Answer.INCOMPARABLE: EXIT_NOT_COMPARABLE, Answer.INCOMPLETE: EXIT_NOT_COMPARABLE}


def metric(
    name: str,
    unit: Unit,
    values: tuple[float | None, float | None],
    noise: Noise,
    *,
    better: str = "lower",
    judged: bool = True,
    speed: bool = False,
    of: Message | None = None,
    whole: float | None = None,
) -> Metric | None:
    """One number of both; None where one of them is missing, not finite, or nothing to divide by.

    `whole`: what a change is told beside, where that is not BEFORE itself: the step that a part is of.
    """
    before, after = values
    if before is None or after is None or not all(map(math.isfinite, (before, after, noise.bar))):
        return None
    if unit is Unit.SHARE:
        change = after - before
    elif (whole or before) > 0:
        change = (after - before) / (whole or before)
    else:
        return None
    if not math.isfinite(change):
        return None
    direction = _direction(change, noise.bar, better) if judged else None
    return Metric(name, unit, before, after, change, noise, direction, speed, of, whole is not None)


def told(name: str, found: Metric | None) -> Metric | Message:
    """The metric, or in words that one of the two lacks its number."""
    return found if found is not None else say("vcompare.not.one_side", what=say(f"vcompare.metric.{name}"))


def difference(fact: str, before: str | Message, after: str | Message) -> Message:
    """A fact that is not the same in both, in words."""
    return say("vcompare.other", fact=say(f"vcompare.fact.{fact}"), before=before, after=after)


def said_by_one(fact: str) -> Message:
    """A fact that one of them does not say: nobody knows whether it is another one now."""
    return say("vcompare.unsaid_unknown", fact=say(f"vcompare.fact.{fact}"))


def shown(value: float | str) -> str:
    """A fact as text: a number with as many digits as a person compares."""
    return value if isinstance(value, str) else f"{value:g}" if value < 1e6 else f"{value:.4g}"


def _direction(change: float, bar: float, better: str) -> Direction:
    if abs(change) < bar:
        return Direction.SAME
    return Direction.BETTER if (change > 0) is (better == "higher") else Direction.WORSE


def answer(metrics: Sequence[Metric]) -> Answer:
    """Worse wins; without a number of how fast both are nothing is the same, whatever else is."""
    ways = {one.direction for one in metrics if one.direction is not None}
    if Direction.WORSE in ways:
        return Answer.WORSE
    if not ways:
        return Answer.INCOMPARABLE
    if not any(one.speed and one.direction is not None for one in metrics):
        return Answer.INCOMPLETE
    return Answer.BETTER if Direction.BETTER in ways else Answer.SAME


def exit_code(found: Answer) -> int:
    """4 for worse, 3 for what could not be compared, else 0."""
    return _EXITS.get(found, EXIT_SAME)
