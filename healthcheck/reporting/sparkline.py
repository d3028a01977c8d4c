"""A row of numbers as one line of characters."""

from __future__ import annotations

from collections.abc import Sequence

BLOCKS = "▁▂▃▄▅▆▇█"
ASCII = "_.-=+*#@"
# Noise must not look like a mountain range: the full height is at least this part of the largest value.
LEAST_RANGE = 0.05


def sparkline(values: Sequence[float | None], levels: str = BLOCKS) -> str:
    """One character a value, the lowest of `levels` for the smallest; a space where nothing was measured."""
    known = [value for value in values if value is not None]
    if not known:
        return " " * len(values)
    high = max(known)
    low = min(min(known), high - LEAST_RANGE * abs(high))
    return "".join(" " if value is None else _level(value, low, high, levels) for value in values)


def levels_for(encoding: str | None) -> str:
    """Blocks where the terminal can write them, else ASCII."""
    try:
        BLOCKS.encode(encoding or "ascii")
    except (LookupError, UnicodeEncodeError):
        return ASCII
    return BLOCKS


def _level(value: float, low: float, high: float, levels: str) -> str:
    if high <= low:
        return levels[-1]
    return levels[min(len(levels) - 1, int((value - low) / (high - low) * len(levels)))]
