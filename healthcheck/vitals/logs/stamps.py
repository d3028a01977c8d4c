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
    r"(?<![\d.-])(20\d\d[-/]\d\d[-/]\d\d)[T _](\d\d):(\d\d):(\d\d(?:[.,]\d{1,9})?)(Z|[+-]\d\d:?\d\d)?(?!\d)", re.ASCII
)
_COMPACT = re.compile(r"\[(20\d\d\d\d\d\d) (\d\d):(\d\d):(\d\d)()\]", re.ASCII)
_AMERICAN = re.compile(r"(?<![\d/])(\d\d/\d\d/20\d\d) (\d\d):(\d\d):(\d\d)(?: ([AP]M)|(?!\d))", re.ASCII)
_HALVES = {"AM": 0, "PM": 12}
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
        r"^[\w.-]{1,120}/(?P<n>\d{1,7}) ",  # torchx and nemo-run
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


class Stamps:
    """Reads the times of a log; each day once, since most lines of a log share one with many."""

    _MOST = 4096

    def __init__(self) -> None:
        self._days: dict[tuple[str, str | None], float | None] = {}

    def find(self, text: str) -> re.Match[str] | None:
        """The last stamp of a text."""
        found = _STAMP.search(text)
        if found is None:
            return _COMPACT.search(text) or _AMERICAN.search(text)
        while (later := _STAMP.search(text, found.end())) is not None:
            found = later
        return found

    def seconds(self, found: re.Match[str]) -> float | None:
        """A stamp in seconds since 1970 (as if UTC where it names no zone); None where there is no such time."""
        day, hour, minute, second, zone = found.groups()
        key = day, zone
        if key in self._days:
            midnight = self._days[key]
        else:
            if len(self._days) >= self._MOST:
                self._days.clear()
            midnight = self._days[key] = _midnight(day, zone)
        hours = int(hour) if zone not in _HALVES else int(hour) % 12 + _HALVES[zone]
        if midnight is None or hours > 23 or minute > "59" or second >= "61":
            return None
        return midnight + 3600 * hours + 60 * int(minute) + float(second.replace(",", "."))


def _midnight(text: str, zone: str | None) -> float | None:
    """`zone`: as it is printed, or AM and PM of an American stamp."""
    digits = [int(part) for part in re.findall(r"\d+", text)]
    if len(digits) == 1:
        year, month, day = digits[0] // 10000, digits[0] // 100 % 100, digits[0] % 100
    elif "/" in text[:3]:
        month, day, year = digits
    else:
        year, month, day = digits
    try:
        return datetime(year, month, day, tzinfo=_zone(zone)).timestamp()
    except (ValueError, OverflowError):
        return None


def _zone(text: str | None) -> timezone:
    if not text or text == "Z" or text in _HALVES:
        return UTC
    minutes = int(text[1:3]) * 60 + int(text[-2:])
    return timezone(timedelta(minutes=-minutes if text[0] == "-" else minutes))


def stamp_of(text: str) -> float | None:
    """The last date and time in a text, in seconds since 1970."""
    stamps = Stamps()
    found = stamps.find(text)
    return None if found is None else stamps.seconds(found)


def rank_of(text: str) -> str | None:
    """Who printed the line, as its prefix says; None where no prefix says it."""
    for shape in _RANKS:
        if (found := shape.search(text)) is not None:
            names = found.groupdict()
            who = names.get("n") or names.get("word") or ""
            return None if who.upper() in _LEVELS else who[:_MOST_RANK_CHARS]
    return None


class _Form(NamedTuple):
    """What a head was like: what stood before and after its stamp, how that was written, and whose it was."""

    before: str
    after: str
    stamp: re.Pattern[str]
    rank: str | None


class Heads:
    """Reads heads, each distinct rank prefix once: most lines of a log have one of a few.

    A head that is like the last one but for its stamp, as most are, is not searched for where its stamp stands.
    """

    _MOST = 4096

    def __init__(self) -> None:
        self._ranks: dict[str, str | None] = {}
        self._stamps = Stamps()
        self._last: _Form | None = None

    def read(self, text: str) -> Head:
        """The head of a line: everything that stands before the words a framework wrote."""
        if not text or text.isspace():
            return NO_HEAD
        text = text[-_LONGEST_HEAD:]
        last = self._last
        if last is not None and text.startswith(last.before) and text.endswith(last.after):
            found = last.stamp.fullmatch(text, len(last.before), len(text) - len(last.after))
            if found is not None:
                return Head(last.rank, self._stamps.seconds(found))
        found = self._stamps.find(text)
        if found is None:
            return Head(self._rank(text), None)
        before, after = text[: found.start()], text[found.end() :]
        self._last = _Form(before, after, found.re, self._rank(before + after))
        return Head(self._last.rank, self._stamps.seconds(found))

    def _rank(self, text: str) -> str | None:
        if text in self._ranks:
            return self._ranks[text]
        if len(self._ranks) >= self._MOST:
            self._ranks.clear()
        rank = self._ranks[text] = rank_of(text)
        return rank
