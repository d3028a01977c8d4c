"""How numbers and foreign text are written: one place, so that every view writes them the same way."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from healthcheck.evaluation.reading import percent as shown_percent
from healthcheck.model.language import ENGLISH, spoken
from healthcheck.model.message import say
from healthcheck.model.platform import Limit
from healthcheck.model.record import RunRecord
from healthcheck.model.units import Bytes
from healthcheck.model.verdict import Verdict

_BEFORE_UNIT = re.compile(r"(?<=\d) (?=(?:%|°C|G[Bb]/s|[KMGT]iB|min|ms|s)(?!\w))")
_CUT = 0.001
"""Of a size that is a power of two: what is cut from it is less."""
_LETTERS = {
    Verdict.PASS: ".",
    Verdict.DEGRADED: "D",
    Verdict.INCONCLUSIVE: "?",
    Verdict.FAIL: "F",
    Verdict.SKIPPED: "-",
}


def not_measured() -> str:
    """What stands where there is no number: words, never a blank, a dash or a zero."""
    return str(say("report.not_measured"))


def gbyte_s(value: float | None) -> str:
    """A bandwidth in GB/s with one decimal, without its unit (the column says it)."""
    return not_measured() if value is None else f"{value:.1f}"


def number(value: float) -> str:
    """A limit as people write it: `200`, `12.5`."""
    return f"{value:g}" if value < 1e6 else f"{value:.0f}"


def percent(part: float, limit: Limit) -> int:
    """Whole percent of a peak, as the verdict saw it."""
    return shown_percent(part / limit.peak if limit.peak > 0 else 0.0, limit.healthy, limit.broken)


def size(size_bytes: int) -> str:
    """`8 GiB`, `512 MiB`; bytes where it is no whole binary unit.

    nccl-tests cuts a size so that it divides by the ranks: 8589934080 bytes were asked for as 8 GiB, and are told so.
    """
    text = short_size(size_bytes)
    return f"{text[:-1]} {text[-1]}iB" if text[-1].isalpha() else f"{text} B"


def short_size(size_bytes: int) -> str:
    """`8G`, `512M`: as `size`, for where there is little room."""
    asked = 1 << max(0, size_bytes - 1).bit_length()
    return str(Bytes(asked if asked - size_bytes < _CUT * asked else size_bytes))


def held(text: str) -> str:
    """The text with each number and its unit on one line: the blank between them breaks none."""
    return _BEFORE_UNIT.sub("\u00a0", text)


def moment(iso: str) -> str:
    """`14 Mar 2026 02:15 UTC` of an ISO time, in other languages `2026-03-14 02:15 UTC`; the text when it is none."""
    try:
        at = datetime.fromisoformat(iso)
    except ValueError:
        return one_line(iso)
    return f"{at.day} {at:%b %Y %H:%M} UTC" if spoken() is ENGLISH else f"{at:%Y-%m-%d %H:%M} UTC"


def elapsed(started: str, finished: str | None) -> str:
    """`13 min 28 s` between two ISO times; "not finished" without an end."""
    try:
        seconds = round((datetime.fromisoformat(finished or "") - datetime.fromisoformat(started)).total_seconds())
    except (ValueError, TypeError):
        return str(say("report.not_finished"))
    hours, rest = divmod(max(0, seconds), 3600)
    minutes, seconds = divmod(rest, 60)
    if hours:
        return f"{hours} h {minutes:02d} min"
    return f"{minutes} min {seconds:02d} s" if minutes else f"{seconds} s"


def instant(iso: str) -> datetime | None:
    """An ISO time in UTC; None when it is none."""
    try:
        at = datetime.fromisoformat(iso)
    except ValueError:
        return None
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)


def duration_s(record: RunRecord) -> float | None:
    """How long a run took, in seconds; None while it has not ended."""
    began, ended = instant(record.started_at), instant(record.finished_at or "")
    return None if began is None or ended is None else max(0.0, (ended - began).total_seconds())


def letter(verdict: Verdict) -> str:
    """One character of the map for a verdict."""
    return _LETTERS[verdict]


def one_line(text: str) -> str:
    """Foreign text on one line: line breaks become spaces; control, direction and invisible marks become escapes.

    Evidence is quoted from machines we do not control; an escape sequence in it must not reach a terminal, nor a mark
    that turns the text around it reach a page. What XML 1.0 forbids is among what is escaped.
    """
    spaced = " ".join(text.split())
    return spaced if spaced.isprintable() else "".join(map(_visible, spaced))


def columns_line(text: str) -> str:
    """`one_line` that leaves the blanks between columns as they are."""
    return " ".join(map(one_line, text.split(" ")))


def _visible(char: str) -> str:
    if char.isprintable():
        return char
    code = ord(char)
    return f"\\x{code:02x}" if code <= 0xFF else f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
