"""Goodput: tokens that survive over the wall time of a window, and every second of it that made none, by its name.

A walk over the rows counts the steady time of the steps that survive, what the steps took above it, and what lies
between steps (`log_walk`). Here its books are closed: what is left has no name and is told as unknown; so useful time
and losses are the window, always.
"""

from __future__ import annotations

from itertools import pairwise
from statistics import median

from msgspec import Struct

from healthcheck.model.message import say
from healthcheck.model.training import LogRemark
from healthcheck.model.vitals_log import Checkpoints, Goodput, LossKind
from healthcheck.vitals.log_counted import Counted
from healthcheck.vitals.log_seen import Seen
from healthcheck.vitals.log_spent import NOTHING
from healthcheck.vitals.log_survival import saves_of
from healthcheck.vitals.log_walk import walk

_STRETCHED = 0.98


class Measured(Struct, frozen=True):
    """Goodput of a window, and what was seen on the way. `hidden`: steps that survive and that no line shows."""

    goodput: Goodput
    checkpoints: Checkpoints
    hidden: int
    unkept: int
    """Steps after the last checkpoint, which nothing shows to be kept yet; they count as surviving."""
    remarks: tuple[LogRemark, ...]


def measured_of(seen: Seen) -> Measured:
    """The goodput of the window of a training."""
    counted = walk(seen)
    window, remarks = _close(seen, counted)
    return Measured(
        goodput=_goodput(seen, counted, window),
        checkpoints=_checkpoints(seen, counted),
        hidden=counted.hidden,
        unkept=_unkept(seen),
        remarks=remarks,
    )


def _close(seen: Seen, counted: Counted) -> tuple[float, tuple[LogRemark, ...]]:
    """What has no name yet gets one, so that useful time and losses are the window; its seconds, and what was mended.

    Pauses that nothing explains were noted for their places only: how long they were in all is what the rest leaves.
    """
    window, book = counted.now - counted.began, counted.book
    if counted.drift > NOTHING * window:
        book.spread(LossKind.SLOW_STEPS, counted.drift)
    places = book.entries.pop(LossKind.UNKNOWN, None)
    rest = window - counted.useful - book.in_steps() - book.between()
    if -seen.clock.grain <= rest < 0:
        # Not more than stamps of whole seconds hide: of a few short steps, they show no time at all.
        window, counted.now, rest = window - rest, counted.now - rest, 0.0
    if rest < 0:
        return window, _brought_to_the_clock(seen, counted, window)
    if rest < NOTHING * window:
        counted.useful += rest  # what sums of many numbers are off by
        return window, ()
    if places is not None:
        book.entries[LossKind.UNKNOWN] = places
        places.between = 0.0
    book.spread(LossKind.UNKNOWN, rest)
    return window, ()


def _brought_to_the_clock(seen: Seen, counted: Counted, window: float) -> tuple[LogRemark, ...]:
    """The steps claim more time than the clock shows; or those that survive were faster than the steady ones.

    All step times are shortened alike, so that they fit between the pauses; told where they claim more than there is.
    """
    book = counted.book
    of_steps, there = counted.useful + book.in_steps(), window - book.between()
    if there < 0:  # the pauses alone are longer, too: times without stamps were put together wrongly
        factor = window / (of_steps + book.between())
    else:
        factor = there / of_steps if of_steps else 1.0
    book.stretch(factor, pauses=there < 0)
    counted.useful *= factor
    if there >= _STRETCHED * counted.claimed:
        return ()
    told = say("log.time_clash", steps=counted.claimed, clock=there)
    return (LogRemark(told, seen.training.rows.line[seen.low]),)


def _goodput(seen: Seen, counted: Counted, window: float) -> Goodput:
    """Closed books as they are told."""
    tokens = counted.units if seen.work.has_tokens else None
    lasted = window > 0
    return Goodput(
        window_s=window,
        begins_s=counted.began if counted.timed and lasted else None,
        ends_s=counted.now if counted.timed and lasted else None,
        window=say("log.window.clock") if counted.timed else say("log.window.steps"),
        steps=counted.steps,
        tokens=tokens,
        tokens_per_s=tokens / window if tokens is not None and lasted else None,
        share=counted.useful / window if lasted else None,
        useful_s=counted.useful,
        losses=counted.book.losses(seen.training, seen.clock.at),
        wall_clock=counted.timed,
    )


def _checkpoints(seen: Seen, counted: Counted) -> Checkpoints:
    """How often the training saved, what a failure would cost between two, and how long one held it up."""
    saves = [step for before, step in saves_of(seen.training) if seen.low < before <= seen.high]
    between = [other - one for one, other in pairwise(saves) if other > one]
    interval = round(median(between)) if between else None
    risk = None if interval is None else seen.steady(seen.high - 1, interval)
    stall = median(counted.stalls) if counted.stalls else None
    return Checkpoints(len(saves), interval, risk, stall)


def _unkept(seen: Seen) -> int:
    """Steps below the last checkpoint; none where the window ends before the log, or a failure took them away."""
    if seen.high < len(seen.training.rows) or seen.survival.cut_at is not None:
        return 0
    saves = saves_of(seen.training)
    return max(0, seen.training.rows.step[seen.high - 1] - saves[-1][1]) if saves else 0
