"""`--window`: a part of the log, by steps or by the clock of its lines."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime
from typing import Final

from msgspec import Struct

from healthcheck.errors import InputError
from healthcheck.vitals.log_clock import Clock
from healthcheck.vitals.log_rows import Training

WHERE: Final = "--window"
_HINT = "write FROM..TO in steps (1000..2000, 1000..) or in the time of the log's lines (2026-03-01T08:00..2026-03-02)"
_STEP = re.compile(r"\d{1,15}", re.ASCII)


class Window(Struct, frozen=True):
    """Both ends are inside; None leaves an end open. Steps as printed, times as the lines show them."""

    text: str
    from_step: int | None = None
    to_step: int | None = None
    from_s: float | None = None
    to_s: float | None = None


def parse_window(text: str) -> Window:
    """The window in words; InputError naming `--window` for anything else."""
    begin, dots, end = (part.strip() for part in text.partition(".."))
    if not dots or not (begin or end):
        raise InputError(WHERE, f"is {text!r}; {_HINT}")
    if all(not part or _STEP.fullmatch(part) for part in (begin, end)):
        low, high = (int(part) if part else None for part in (begin, end))
        _check(low, high, text)
        return Window(text, from_step=low, to_step=high)
    since, until = (_moment(part, text) if part else None for part in (begin, end))
    _check(since, until, text)
    return Window(text, from_s=since, to_s=until)


def _check(low: float | None, high: float | None, text: str) -> None:
    if low is not None and high is not None and high < low:
        raise InputError(WHERE, f"{text!r} ends before it begins; {_HINT}")


def _moment(part: str, text: str) -> float:
    try:
        at = datetime.fromisoformat(part)
        return (at.replace(tzinfo=UTC) if at.tzinfo is None else at).timestamp()
    except (ValueError, OverflowError):
        raise InputError(WHERE, f"{part!r} in {text!r} is neither a step nor a time; {_HINT}") from None


def rows_in(window: Window | None, training: Training, clock: Clock) -> tuple[int, int]:
    """The rows from the first to before the last one that lie in the window; InputError where none does."""
    rows = training.rows
    if window is None:
        return 0, len(rows)
    if window.from_s is not None or window.to_s is not None:
        if not clock.told:
            raise InputError(WHERE, "asks for a time, but the lines of this log have none; give steps (1000..2000)")
        low, high = window.from_s or -math.inf, window.to_s if window.to_s is not None else math.inf
        inside = [row for row, at in enumerate(rows.at) if low <= at <= high]
        there = f"its lines are from {_iso(min(rows.at, key=_last))} to {_iso(max(rows.at, key=_first))}"
    else:
        first, last = window.from_step or 0, window.to_step if window.to_step is not None else math.inf
        inside = [row for row, step in enumerate(rows.step) if first <= step <= last]
        there = f"its steps are {min(rows.step)} to {max(rows.step)}"
    if not inside:
        raise InputError(WHERE, f"{window.text} has no step of this log: {there}")
    return inside[0], inside[-1] + 1


def _first(value: float) -> float:
    return -math.inf if math.isnan(value) else value


def _last(value: float) -> float:
    return math.inf if math.isnan(value) else value


def _iso(at: float) -> str:
    try:
        return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    except (ValueError, OverflowError, OSError):
        return f"{at:.0f}"
