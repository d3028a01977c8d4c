"""How far two healthy runs of one training lie apart. Each rule has its name, and a floor that can be set."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import stdev

from healthcheck.model.message import say
from healthcheck.model.vitals_compare import Noise
from healthcheck.model.vitals_log import Loss, StepTime

FLOOR = 0.02
"""What two runs of one training may differ by whatever their own scatter says: other nodes, other neighbours. A rule of
thumb."""
_ERRORS = 3.0
"""A change counts from so many standard errors on."""
_P95_SIGMAS = 1.645
_P10_SIGMAS = 1.2816
_HANDFUL = 10
_MEDIAN_FACTOR = 1.2533
"""Standard error of a median beside that of a mean, for a normal scatter."""
_SPREAD_FACTOR = 1.335
"""Standard error of (p95 - median) / median beside itself over the root of the reports, for a normal scatter."""
_EVENTS = 2.0
"""Losses that come in few places count from so many times their own scatter on."""
_FEW_CALLS = 5
_CALLS_FLOOR, _FEW_CALLS_FLOOR = 0.05, 0.10
_ONE_STEP = 0.05


def of_steps(before: StepTime, after: StepTime, floor: float) -> Noise:
    """Of the median of step times: three standard errors of both medians, and at least the floor."""
    errors = [_MEDIAN_FACTOR * _sigma(one) / math.sqrt(max(1, one.reports)) for one in (before, after)]
    bar = max(floor, _ERRORS * math.hypot(*errors))
    return Noise(bar, say("vcompare.noise.steps", before=before.reports, after=after.reports, floor=_percent(floor)))


def _sigma(steps: StepTime) -> float:
    """How far usual steps scatter, as a part of the median: on the side of the fast ones, where that is less.

    A few slow steps (an evaluation in one of ten) make a p95 of many times the median and do not move the median. Of a
    handful of reports neither side says much, and the wider one is taken.
    """
    above = steps.spread / _P95_SIGMAS
    if steps.p10_s is None or not steps.median_s > 0:
        return above
    below = max(0.0, 1 - steps.p10_s / steps.median_s) / _P10_SIGMAS
    return min(above, below) if steps.reports >= _HANDFUL else max(above, below)


def of_spread(before: StepTime, after: StepTime, floor: float) -> Noise:
    """Of the spread of step times."""
    errors = [_SPREAD_FACTOR * one.spread / math.sqrt(max(1, one.reports)) for one in (before, after)]
    bar = max(floor, _ERRORS * math.hypot(*errors))
    return Noise(bar, say("vcompare.noise.spread", before=before.reports, after=after.reports, floor=_percent(floor)))


def of_losses(before: Sequence[Loss], after: Sequence[Loss], windows: tuple[float, float], floor: float) -> Noise:
    """Of what was lost: each loss varies by its share over the root of how often it came."""
    scatter = [
        math.hypot(*(loss.seconds / window / math.sqrt(max(1, loss.count)) for loss in losses))
        for losses, window in zip((before, after), windows, strict=True)
    ]
    bar = max(floor, _EVENTS * math.hypot(*scatter))
    return Noise(bar, say("vcompare.noise.losses", floor=_percent(floor)))


def of_profile(before: Sequence[float], after: Sequence[float], floor: float, scale: float = 1.0) -> Noise:
    """Of the mean over the steps of a profile, divided by `scale`: three standard errors, and at least the floor.

    A single step shows no scatter.
    """
    if min(len(before), len(after)) < 2:
        return Noise(max(floor, _ONE_STEP), say("vcompare.noise.one_step", floor=_percent(max(floor, _ONE_STEP))))
    errors = [_scatter(values) / scale / math.sqrt(len(values)) for values in (before, after)]
    bar = max(floor, _ERRORS * math.hypot(*errors))
    return Noise(bar, say("vcompare.noise.profile", before=len(before), after=len(after), floor=_percent(floor)))


def _scatter(values: Sequence[float]) -> float:
    """Standard deviation; infinite where a value is, so that nothing is held against it."""
    return stdev(values) if all(map(math.isfinite, values)) else math.inf


def of_calls(before: int, after: int, floor: float) -> Noise:
    """Of the median over the calls of a collective, whose scatter the document does not hold: assumed."""
    few = min(before, after) < _FEW_CALLS
    bar = max(floor, _FEW_CALLS_FLOOR if few else _CALLS_FLOOR)
    return Noise(bar, say("vcompare.noise.calls", before=before, after=after, floor=_percent(bar)))


def of_inputs(floor: float, of: float = 1.0) -> Noise:
    """Of a calculated number: its inputs show no scatter. `of`: the number itself, where that is a share."""
    return Noise(floor * of, say("vcompare.noise.inputs", floor=_percent(floor)))


def _percent(fraction: float) -> float:
    return round(100 * fraction, 1)
