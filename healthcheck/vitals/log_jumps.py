"""Steps that jump ahead within a start: lines were lost, or the number is wrong. The clock decides which."""

from __future__ import annotations

import math
from collections.abc import Iterable

from healthcheck.model.message import say
from healthcheck.model.training import LogRemark
from healthcheck.vitals.log_clock import JITTER_S
from healthcheck.vitals.log_rows import Training

JUMP = 10
"""Rule of thumb: more than so many times the usual distance of two reports is a jump."""
_WITHIN = 1.05


def settle_jumps(training: Training) -> list[LogRemark]:
    """A row stands for the steps since the one before, if the time for them is there; else for its report alone."""
    rows, steps = training.rows, training.rows.steps
    firsts = {segment.first for segment in training.segments}
    usual = _usual(steps[row] for row in range(len(rows)) if row not in firsts)
    told = []
    for row, n in enumerate(steps):
        if n <= JUMP * usual:
            continue
        opens = row in firsts
        there = math.nan if opens else rows.at[row] - rows.at[row - 1]
        if not math.isnan(there) and not rows.time[row] * n > there * _WITHIN + JITTER_S:
            continue
        alone = min(rows.covers[row], usual)
        steps[row], rows.lost[row], rows.nan[row] = alone, min(rows.lost[row], alone), min(rows.nan[row], alone)
        if not opens:
            told.append(LogRemark(say("log.jumped", n=n - alone), rows.line[row]))
    return told


def _usual(distances: Iterable[int]) -> int:
    """The distance that most reports have, by the median."""
    ordered = sorted(distances)
    return ordered[len(ordered) // 2] if ordered else 1
