"""How the numbers of a training are written: one place, so that the page, the terminal and the charts agree."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from healthcheck.model.durations import span
from healthcheck.model.message import Arg, say
from healthcheck.model.vitals_trace import RankTrace
from healthcheck.reporting.figures import not_measured, one_line

_PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def share_text(value: float | None) -> str:
    """A share of 1 in per cent: `42 %`, `4.2 %` below ten, `< 0.1 %` where it is not nothing."""
    if value is None:
        return not_measured()
    percent = 100 * value
    if 0 < percent < 0.05:
        return "< 0.1 %"
    return f"{percent:.0f} %" if abs(percent) >= 9.95 or percent == 0 else f"{percent:.1f} %"


def step_text(seconds: float | None) -> str:
    """The time of a step: `2.41 s`, `842 ms`, `0.31 ms`: three digits."""
    if seconds is None:
        return not_measured()
    if seconds >= 0.9995:
        return f"{seconds:.2f} s" if seconds < 100 else f"{seconds:.0f} s"
    milli = seconds * 1000
    return f"{milli:.0f} ms" if milli >= 99.5 else f"{milli:.1f} ms" if milli >= 10 else f"{milli:.2f} ms"


def rate_text(per_s: float | None) -> str:
    """Tokens per second: `1.11 M`, `5868`."""
    if per_s is None:
        return not_measured()
    for size, prefix in _PREFIXES:
        if per_s >= size * (10 if prefix == "k" else 1):
            return f"{per_s / size:.2f} {prefix}"
    return f"{per_s:.0f}" if per_s >= 100 else f"{per_s:.3g}"


def stamp_text(at_s: float, decimals: bool = False) -> str:
    """A moment as the lines of a log show it: `2026-01-14 02:00:00`; seconds since 1970 where no calendar has it."""
    try:
        at = datetime.fromtimestamp(at_s, UTC)
    except (ValueError, OverflowError, OSError):
        return f"{at_s:.0f}"
    return f"{at:%Y-%m-%dT%H:%M:%S.%f}"[:-3] if decimals else f"{at:%Y-%m-%d %H:%M:%S}"


def long_text(seconds: float) -> str:
    """A part of a wall time: `1 h 05 min`, and `0.4 s` where it is short."""
    return f"{seconds:.1f} s" if seconds < 10 else str(span(seconds))


def rank_text(rank: RankTrace, ranks: Sequence[RankTrace]) -> Arg:
    """`rank 3`, `rank 3, GPU 1` where a rank of these has several, the GPU or the file where no rank is known."""
    several = len([other for other in ranks if other.file == rank.file]) > 1
    if rank.rank is None:
        return say("trace.gpu", device=rank.device) if several and rank.device is not None else one_line(rank.file)
    if several and rank.device is not None:
        return say("trace.rank_device", rank=rank.rank, device=rank.device)
    return say("trace.rank", rank=rank.rank)
