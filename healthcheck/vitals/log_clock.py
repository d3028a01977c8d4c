"""The stamps of the lines as one clock that only goes forward: what it cannot have shown is taken out, and told."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_right
from collections.abc import Sequence
from datetime import UTC, datetime

from msgspec import Struct

from healthcheck.model.message import Message, say
from healthcheck.model.training import EventKind, LogRemark
from healthcheck.vitals.log_checks import folded
from healthcheck.vitals.log_rows import NAN, Training

JITTER_S = 2.0
"""Lines of one moment may stand the wrong way round, and stamps are cut to the second."""
_GRAIN_S = 0.05
HOUR_S = 3600.0
_SUNDAY = 6
_SPRING = (3, 4, 9, 10)
"""Months in which clocks are set forward, north and south of the equator."""
_LATEST_HOUR = 5
_RIGHT_BELOW = frozenset((EventKind.CHECKPOINT_BEGUN, EventKind.EXIT))


class Clock(Struct, frozen=True):
    """`at` of each row without jumps, NaN where its line has no stamp; `shifts`: (row, what is taken off from it on).

    `told`: does the log have a clock, in front of most lines or at both ends of most of its steps?
    `grain`: a pause up to so many seconds may be nothing but how stamps are cut.
    `unknown_restarts`: rows before which the clock went back while the training was down: nobody knows how long.
    """

    at: array[float]
    shifts: tuple[tuple[int, float], ...]
    unknown_restarts: frozenset[int]
    remarks: tuple[LogRemark, ...]
    grain: float
    told: bool

    def off(self, row: int) -> float:
        """What was taken off the stamp of a row."""
        before = bisect_right(self.shifts, row, key=lambda shift: shift[0])
        return self.shifts[before - 1][1] if before else 0.0


def clock_of(training: Training, busy: Sequence[float]) -> Clock:
    """The clock of a training; `busy`: seconds that the rows say their steps took, NaN where unknown."""
    rows = training.rows
    firsts = {segment.first for segment in training.segments}
    at, shifts = array("d", rows.at), []
    before, off, took = NAN, 0.0, 0.0
    unknown: set[int] = set()
    jumps: list[tuple[Message, int]] = []
    for row in range(len(at)):
        took += busy[row] if busy[row] > 0 else 0.0
        if not math.isnan(at[row]):
            now = at[row] - off
            if now < before - JITTER_S:
                off += now - (before + took)
                unknown.update({row} if row in firsts else ())
                shifts.append((row, off))
                code = "log.clock_back_down" if row in firsts else "log.clock_back"
                jumps.append((say(code, seconds=round(before + took - now)), row))
            elif row not in firsts and _is_summer_time(before + off, at[row], now - before - took):
                off += HOUR_S
                shifts.append((row, off))
                jumps.append((say("log.clock_forward"), row))
            at[row] -= off
            before, took = at[row] if math.isnan(before) else max(before, at[row]), 0.0
    remarks = [LogRemark(message, rows.line[row]) for message, row in jumps]
    whole_seconds = not any(value % 1 for value in rows.at if value == value)
    grain = 1.0 if whole_seconds else _GRAIN_S
    told = folded((remark, remark.what.code) for remark in remarks)
    return Clock(at, tuple(shifts), frozenset(unknown), tuple(told), grain, _is_told(training, at, busy))


def lend_stamps(training: Training) -> None:
    """A step without a time ended when the line below it was written, where that is a save that begins, or the end."""
    at = training.rows.at
    for before, event in training.events:
        if before and event.at_s is not None and event.kind in _RIGHT_BELOW and math.isnan(at[before - 1]):
            at[before - 1] = event.at_s


def _is_told(training: Training, at: array[float], busy: Sequence[float]) -> bool:
    """Most lines have a stamp, or the first and the last one enclose most of the steps."""
    stamps = [value for value in at if value == value]
    if len(stamps) * 2 >= len(at) or not stamps:
        return bool(stamps)
    begins = [value for value in (training.segments[0].opened_at_s, min(stamps)) if value is not None]
    whole = math.fsum(value for value in busy if value > 0)
    return max(stamps) - min(begins) >= whole / 2 > 0


def _is_summer_time(before: float, now: float, gap: float) -> bool:
    """An hour that never was: stamps without a zone, in the night in which clocks are set forward."""
    if not abs(gap - HOUR_S) <= JITTER_S:
        return False
    one, other = datetime.fromtimestamp(before, UTC), datetime.fromtimestamp(now, UTC)
    night = other.weekday() == _SUNDAY and other.month in _SPRING and other.hour < _LATEST_HOUR
    return night and one.hour != other.hour
