"""What stands in front of the words of a line: who printed it and when.

Launchers, loggers and log collectors each add a piece, in any order and number, so each piece is looked for by its
own shape and nothing else of the head is understood.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import NamedTuple

_LONGEST_HEAD = 400
_MOST_RANK_CHARS = 64

_STAMP = re.compile(
    r"(?<![\d.-])(20\d\d)[-/](\d\d)[-/](\d\d)[T _](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?(Z|[+-]\d\d:?\d\d)?(?!\d)",
    re.ASCII,
)
_COMPACT = re.compile(r"\[(20\d\d)(\d\d)(\d\d) (\d\d):(\d\d):(\d\d)\]", re.ASCII)
_RANKS = tuple(
    re.compile(shape, re.ASCII)
    for shape in (
        r"\[rank[-:= ]?(?P<n>\d{1,7})(?:/\d{1,7})?\]",  # torchrun with a role called rank; Primus
        r"\[(?P<word>default\d{1,5})\]:",  # torchrun --tee without a role
        r"\[\d{1,9},(?P<n>\d{1,7})\](?:<std(?:out|err)>)?:",  # mpirun --tag-output
        r"\[Rank (?P<n>\d{1,7})\b",  # DeepSpeed, MSMM
        r"\[(?P<word>[A-Za-z_]\w{0,40}?\d{1,5})\]:",  # torchrun --role NAME
        r"\brank:(?P<n>\d{1,7})\]",  # NeMo
        r"^\s{0,6}(?P<n>\d{1,6}): ",  # srun -l
        r"\((?P<word>\w{1,40} pid=\d{1,9}(?:, ip=[\w.:]{1,45})?)\)",  # Ray
        r"^\[pod/(?P<word>[\w./-]{1,200})\] ",  # kubectl logs --prefix
        r"^(?P<word>[A-Za-z][\w.-]{0,62}): ",  # pdsh, the DeepSpeed launcher
        r"^(?P<word>[A-Za-z][\w.-]{0,62}?)\s{1,20}\| ",  # docker compose
    )
)
_LEVELS = frozenset(("INFO", "WARNING", "DEBUG", "ERROR", "CRITICAL", "NOTE", "WARN"))


class Head(NamedTuple):
    """`at_s`: seconds since 1970, without a zone as if it were UTC. None for what the head does not say."""

    rank: str | None = None
    at_s: float | None = None


NO_HEAD = Head()


def stamp_of(text: str) -> float | None:
    """The last date and time in a text, in seconds since 1970 (as if UTC where it names no zone)."""
    stamps = list(_STAMP.finditer(text))
    found = stamps[-1] if stamps else _COMPACT.search(text)
    if found is None:
        return None
    year, month, day, hour, minute, second, *rest = found.groups()
    fraction, zone = rest if rest else (None, None)
    try:
        at = datetime(int(year), int(month), int(day), int(hour), int(minute), int(second), tzinfo=_zone(zone))
    except (ValueError, OverflowError):
        return None
    return at.timestamp() + (float(f"0.{fraction}") if fraction else 0.0)


def _zone(text: str | None) -> timezone:
    if text is None or text == "Z":
        return UTC
    minutes = int(text[1:3]) * 60 + int(text[-2:])
    return timezone(timedelta(minutes=-minutes if text[0] == "-" else minutes))


def rank_of(text: str) -> str | None:
    """Who printed the line, as its prefix says; None where no prefix says it."""
    for shape in _RANKS:
        if (found := shape.search(text)) is not None:
            names = found.groupdict()
            who = names.get("n") or names.get("word") or ""
            return None if who.upper() in _LEVELS else who[:_MOST_RANK_CHARS]
    return None


class Heads:
    """Reads heads, each distinct rank prefix once: most lines of a log have one of a few."""

    _MOST = 4096

    def __init__(self) -> None:
        self._ranks: dict[str, str | None] = {}

    def read(self, text: str) -> Head:
        """The head of a line: everything that stands before the words a framework wrote."""
        text = text[-_LONGEST_HEAD:]
        if not text or text.isspace():
            return NO_HEAD
        at = stamp_of(text) if ":" in text else None
        key = text if at is None else _STAMP.sub("", text)
        if key in self._ranks:
            rank = self._ranks[key]
        else:
            if len(self._ranks) >= self._MOST:
                self._ranks.clear()
            rank = self._ranks[key] = rank_of(key)
        return Head(rank, at)
