"""What a row of runs says about a node: does it flap, since when is it bad, does it slowly lose bandwidth?

A loss is told only beyond noise. The order of the values has to fall (Mann-Kendall), by at least 2 %, and by at least
three times what is left when the loss is taken out. The line is that of Theil and Sen: the median of the slopes of all
pairs, which one run out of line does not move. Where one step describes the values better than a line, it is a step.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median

from msgspec import Struct

FLAPS_ALLOWED = 1
LEAST_RUNS = 8
NEWEST_RUNS = 36
LEAST_FALL = 0.02
NOISE_TIMES = 3.0
# One in 2,000 rows of pure noise falls so clearly by chance; what it has to fall by comes on top.
FALLS_CLEARLY = 3.3
# A line has one number less to fit with than a step.
STEP_IS_BETTER = 0.8
# What is printed has two decimals: no row of values is quieter than this part of its median.
QUIETEST = 0.001
MAD_TO_SIGMA = 1.4826
_PASS = "PASS"  # noqa: S105 (a verdict)


class Fall(Struct, frozen=True):
    """A loss beyond noise: by how much (fraction of the value at the start), and the noise as such a fraction.

    `step_at` is the place of the first low value where the loss came at once, None where it came slowly.
    """

    loss: float
    noise: float
    step_at: int | None = None


def flaps(verdicts: Sequence[str]) -> int:
    """How often PASS was lost and came back, in the order of runs."""
    count, lost = 0, None
    for verdict in verdicts:
        if verdict == _PASS:
            count += lost is True
            lost = False
        elif lost is not None:
            lost = True
    return count


def is_flapping(verdicts: Sequence[str]) -> bool:
    """More than once: one bad run that was repaired is no flapping."""
    return flaps(verdicts) > FLAPS_ALLOWED


def first_bad(verdicts: Sequence[str]) -> int | None:
    """The place of the run since which a node has not been PASS again; None where its last run was PASS."""
    bad = None
    for place in reversed(range(len(verdicts))):
        if verdicts[place] == _PASS:
            break
        bad = place
    return bad


def fall(days: Sequence[float], values: Sequence[float]) -> Fall | None:
    """The loss in `values` (any unit, all above 0) over `days`, both in the order of runs; None within noise.

    Needs 8 values; of more than 36 the newest count. `step_at` counts in what was given.
    """
    skipped = max(0, len(values) - NEWEST_RUNS)
    days, values = days[skipped:], values[skipped:]
    if len(values) < LEAST_RUNS or not _falls_clearly(values):
        return None
    slope, start = _line(days, values)
    around_line = [value - start - slope * day for day, value in zip(days, values, strict=True)]
    place, before, after = _step(values)
    around_step = [value - (before if at < place else after) for at, value in enumerate(values)]
    is_step = _sum(around_step) < STEP_IS_BETTER * _sum(around_line)
    top = before if is_step else start + slope * days[0]
    lost = before - after if is_step else slope * (days[0] - days[-1])
    rest = around_step if is_step else around_line
    noise = max(MAD_TO_SIGMA * median(map(abs, rest)), QUIETEST * median(values))
    if top <= 0 or lost < max(LEAST_FALL * top, NOISE_TIMES * noise):
        return None
    return Fall(lost / top, noise / top, place + skipped if is_step else None)


def _falls_clearly(values: Sequence[float]) -> bool:
    """Mann and Kendall: are later values smaller than earlier ones far more often than the other way round?"""
    n = len(values)
    score = sum((later > value) - (later < value) for at, value in enumerate(values) for later in values[at + 1 :])
    spread = math.sqrt(n * (n - 1) * (2 * n + 5) / 18)
    return score + 1 <= -FALLS_CLEARLY * spread


def _line(days: Sequence[float], values: Sequence[float]) -> tuple[float, float]:
    """(slope a day, value at day 0) of Theil and Sen; runs of one instant have no slope."""
    slopes = [
        (values[later] - values[at]) / (days[later] - days[at])
        for at in range(len(values))
        for later in range(at + 1, len(values))
        if days[later] > days[at]
    ]
    slope = median(slopes) if slopes else 0.0
    return slope, median(value - slope * day for day, value in zip(days, values, strict=True))


def _step(values: Sequence[float]) -> tuple[int, float, float]:
    """(place, median before, median from there on) of the one step that leaves the least; two values on each side."""
    found = []
    for place in range(2, len(values) - 1):
        before, after = median(values[:place]), median(values[place:])
        left = _sum([value - before for value in values[:place]]) + _sum([value - after for value in values[place:]])
        found.append((left, place, before, after))
    _, place, before, after = min(found)
    return place, before, after


def _sum(rest: Sequence[float]) -> float:
    return sum(map(abs, rest))
