"""`--every`: when a check-up comes back, as a word, as a calendar of systemd or as the five fields of cron.

What systemd and cron say of a mistake is no sentence for an operator, and comes when the file is installed; so the text
is read here, by the grammar of systemd.time(7) as far as days, hours and minutes go, and of crontab(5).
"""

from __future__ import annotations

import re

from msgspec import Struct

from healthcheck.errors import InputError
from healthcheck.model.schedule import Every

WHERE = "--every"
# Four in the morning: no clock is set forward or back across it, and nobody sits at the cluster yet.
NAMED = {
    "monthly": Every("monthly", "*-*-01 04:00:00", "0 4 1 * *", named=True),
    "weekly": Every("weekly", "Sun *-*-* 04:00:00", "0 4 * * 0", named=True),
    "daily": Every("daily", "*-*-* 04:00:00", "0 4 * * *", named=True),
}
_HINT = "write monthly, weekly, daily, a calendar of systemd such as 'Sun *-*-01..07 04:00', or five fields of cron"
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_DAY_NAMES = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MOST_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_DATE = re.compile(r"(?:([^-~\s:]+)-)?([^-~\s:]+)([-~])([^-~\s:]+)")
_ITEM = re.compile(r"(\d{1,4})(?:\.\.(\d{1,4}))?(?:/(\d{1,4}))?")
_CRON_ITEM = re.compile(r"(?:\*|(\w{1,3})(?:-(\w{1,3}))?)(?:/(\d{1,2}))?")
_CRON = (("minute", 0, 59), ("hour", 0, 23), ("day of the month", 1, 31), ("month", 1, 12), ("day of the week", 0, 7))


class _Calendar(Struct, frozen=True):
    """The values of each part; None for any. `plain`: cron has words for the rest of it, too."""

    weekdays: frozenset[int] | None = None
    months: frozenset[int] | None = None
    days: frozenset[int] | None = None
    hours: frozenset[int] | None = frozenset({0})
    minutes: frozenset[int] | None = frozenset({0})
    plain: bool = True


def parse_every(text: str) -> Every:
    """The wish as both time keepers say it; InputError naming `--every` for what neither understands."""
    words = text.split()
    if not words:
        raise InputError(WHERE, f"is empty; {_HINT}")
    if len(text) > 200 or not text.isprintable():
        raise InputError(WHERE, f"is no line of text that a calendar can be; {_HINT}")
    if len(words) == 1 and words[0].lower() in NAMED:
        return NAMED[words[0].lower()]
    # A time of systemd holds a colon, and a field of cron never does.
    if len(words) == 5 and ":" not in text:
        return Every(text, None, _cron(words))
    return _calendar(words, " ".join(words))


def _calendar(words: list[str], text: str) -> Every:
    left = list(words)
    utc = left[-1].upper() == "UTC"
    if utc:
        left.pop()
    weekdays = date = time = None
    if left and _is_weekdays(left[0]):
        weekdays = left.pop(0)
    if left and ":" not in left[0] and _DATE.fullmatch(left[0]):
        date = left.pop(0)
    if left and ":" in left[0]:
        time = left.pop(0)
    if left or (weekdays, date, time) == (None, None, None):
        raise InputError(WHERE, f"{text!r} is no calendar: {(left or words)[0]!r} is not understood; {_HINT}")
    found = _read(text, weekdays, date, time)
    cron = None
    # Cron takes either day where both are named, systemd only one that is both.
    if found.plain and not utc and (found.weekdays is None or found.days is None):
        cron = " ".join(map(_field, (found.minutes, found.hours, found.days, found.months, _cron_days(found.weekdays))))
    return Every(text, text, cron)


def _read(text: str, weekdays: str | None, date: str | None, time: str | None) -> _Calendar:
    year = month = day = "*"
    from_the_end = False
    if date is not None and (match := _DATE.fullmatch(date)):
        year, month, from_the_end, day = match[1] or "*", match[2], match[3] == "~", match[4]
    _values(text, "year", year, 1970, 2199)
    months, days = _values(text, "month", month, 1, 12), _values(text, "day", day, 1, 31)
    most = max(_MOST_DAYS[number - 1] for number in months or range(1, 13))
    if days is not None and min(days) > most:
        raise InputError(WHERE, f"{text!r} never comes: no such month has {min(days)} days")
    hours: frozenset[int] | None = frozenset({0})
    minutes, seconds = hours, hours
    if time is not None:
        parts = time.split(":")
        if len(parts) not in (2, 3):
            raise InputError(WHERE, f"{text!r}: {time!r} is no time; write 04:00 or 04:00:00")
        hours, minutes = _values(text, "hour", parts[0], 0, 23), _values(text, "minute", parts[1], 0, 59)
        seconds = _values(text, "second", parts[2], 0, 59) if len(parts) == 3 else seconds
    plain = year == "*" and not from_the_end and seconds == frozenset({0})
    return _Calendar(None if weekdays is None else _weekdays(text, weekdays), months, days, hours, minutes, plain)


def _values(text: str, part: str, given: str, low: int, high: int) -> frozenset[int] | None:
    """The values that `1,4..6,10/2` names; None for `*`."""
    if given == "*":
        return None
    found: set[int] = set()
    for item in given.split(","):
        match = _ITEM.fullmatch(item)
        if match is None:
            raise InputError(
                WHERE, f"{text!r}: {item!r} is no {part}; write a number, 1..5, 1/2, several with commas, or *"
            )
        first = int(match[1])
        last = int(match[2]) if match[2] else high if match[3] else first
        step = int(match[3] or 1)
        if not (low <= first <= last <= high and 1 <= step <= high):
            raise InputError(WHERE, f"{text!r}: {item!r} is no {part}; it lies between {low} and {high}, lowest first")
        found.update(range(first, last + 1, step))
    return frozenset(found)


def _is_weekdays(text: str) -> bool:
    return all(_day(name) is not None for item in text.rstrip(",").split(",") for name in item.split(".."))


def _day(name: str) -> int | None:
    """0 for Monday."""
    for names in (_DAYS, _DAY_NAMES):
        if name.lower() in names:
            return names.index(name.lower())
    return None


def _weekdays(text: str, given: str) -> frozenset[int]:
    found: set[int] = set()
    for item in given.split(","):
        first, dots, last = item.partition("..")
        begin, end = _day(first), _day(last if dots else first)
        if begin is None or end is None or begin > end:
            raise InputError(WHERE, f"{text!r}: {item!r} is no row of days; write Mon..Fri, Monday first, or Sat,Sun")
        found.update(range(begin, end + 1))
    return frozenset(found)


def _cron_days(days: frozenset[int] | None) -> frozenset[int] | None:
    """0 for Sunday, as everyone who reads five fields knows it; 7 is known to few."""
    return None if days is None else frozenset((day + 1) % 7 for day in days)


def _field(values: frozenset[int] | None) -> str:
    if values is None:
        return "*"
    ordered = sorted(values)
    if len(ordered) > 2 and ordered[-1] - ordered[0] == len(ordered) - 1:
        return f"{ordered[0]}-{ordered[-1]}"
    return ",".join(map(str, ordered))


def _cron(fields: list[str]) -> str:
    """Five fields, checked; as they were given, in lower case."""
    for field, (part, low, high) in zip(fields, _CRON, strict=True):
        for item in field.lower().split(","):
            match = _CRON_ITEM.fullmatch(item)
            ends = [] if match is None else [_cron_value(word, part) for word in match.groups()[:2] if word]
            step = 1 if match is None or match[3] is None else int(match[3])
            is_range = match is not None and (match[1] is None or match[2] is not None)
            # A step behind a single number means one thing to one cron and another to the next.
            fits = all(end is not None and low <= end <= high for end in ends) and 1 <= step <= high
            lone = match is not None and match[3] is not None and not is_range
            if match is None or lone or not fits or ends != sorted(ends, key=lambda end: end or 0):
                told = f"{_a(part)} lies between {low} and {high}; write *, 4, 1-5, */2 or several with commas"
                raise InputError(WHERE, f"{' '.join(fields)!r}: {item!r} is no {part} of cron: {told}")
    days, months = (_cron_values(fields[place].lower(), *_CRON[place]) for place in (2, 3))
    # A day of the week that is named counts by itself.
    if fields[4].startswith("*") and min(days) > max(_MOST_DAYS[month - 1] for month in months):
        raise InputError(WHERE, f"{' '.join(fields)!r} never comes: no such month has {min(days)} days")
    return " ".join(fields).lower()


def _cron_values(field: str, part: str, low: int, high: int) -> frozenset[int]:
    """The values of a field that was checked."""
    found: set[int] = set()
    for item in field.split(","):
        match = _CRON_ITEM.fullmatch(item)
        ends = [] if match is None else [_cron_value(word, part) or low for word in match.groups()[:2] if word]
        step = int(match[3]) if match is not None and match[3] else 1
        found.update(range(ends[0] if ends else low, (ends[-1] if ends else high) + 1, step))
    return frozenset(found)


def _a(part: str) -> str:
    return f"an {part}" if part == "hour" else f"a {part}"


def _cron_value(word: str, part: str) -> int | None:
    if word.isdecimal():
        return int(word)
    if part == "month" and word in _MONTHS:
        return _MONTHS.index(word) + 1
    if part == "day of the week" and word in _DAYS:
        return (_DAYS.index(word) + 1) % 7
    return None
