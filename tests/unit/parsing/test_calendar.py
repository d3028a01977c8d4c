"""`--every` as systemd and cron say it; what neither says is one sentence."""

from __future__ import annotations

import pytest

from healthcheck.errors import InputError
from healthcheck.parsing.calendar import parse_every


@pytest.mark.parametrize(
    ("text", "calendar", "cron"),
    [
        ("monthly", "*-*-01 04:00:00", "0 4 1 * *"),
        ("Weekly", "Sun *-*-* 04:00:00", "0 4 * * 0"),
        ("daily", "*-*-* 04:00:00", "0 4 * * *"),
        ("Mon..Fri 03:30", "Mon..Fri 03:30", "30 3 * * 1-5"),
        ("sat,Sunday 4:05:00", "sat,Sunday 4:05:00", "5 4 * * 0,6"),
        ("*-01,07-15 22:00", "*-01,07-15 22:00", "0 22 15 1,7 *"),
        ("01..03-01", "01..03-01", "0 0 1 1-3 *"),
        ("*:0/15", "*:0/15", "0,15,30,45 * * * *"),
        ("*-*-1/10 04:00", "*-*-1/10 04:00", "0 4 1,11,21,31 * *"),
        ("Tue", "Tue", "0 0 * * 2"),
        # What cron has no words for: both days at once, a year, the last of the month, seconds, another zone.
        ("Sun *-*-01..07 04:00", "Sun *-*-01..07 04:00", None),
        ("2027-*-01 04:00", "2027-*-01 04:00", None),
        ("*-*~1 04:00", "*-*~1 04:00", None),
        ("*-*-01 04:00:30", "*-*-01 04:00:30", None),
        ("*-*-01  04:00 UTC", "*-*-01 04:00 UTC", None),
        ("30 4 1 * *", None, "30 4 1 * *"),
        # A day that no such month has, and a day of the week: cron takes either.
        ("0 4 31 2 0", None, "0 4 31 2 0"),
        ("0 4 31 2,4-8/2 *", None, "0 4 31 2,4-8/2 *"),
        ("0 4 */31 2 *", None, "0 4 */31 2 *"),
        ("*/20 1-5 * JAN,jul Mon-Fri", None, "*/20 1-5 * jan,jul mon-fri"),
    ],
)
def test_both_say_the_same(text: str, calendar: str | None, cron: str | None) -> None:
    every = parse_every(text)
    assert (every.calendar, every.cron) == (calendar, cron)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "is empty"),
        ("every day", "'every' is not understood"),
        ("hourly-ish", "'hourly-ish'"),
        ("*-*-01 25:00", "'25' is no hour; it lies between 0 and 23"),
        ("*-*-32", "'32' is no day; it lies between 1 and 31"),
        ("*-13-01", "'13' is no month"),
        ("*-02-30 04:00", "never comes: no such month has 30 days"),
        ("*-02,04-31", "never comes"),
        ("*-*-5..2", "'5..2' is no day"),
        ("*-*-*/2 04:00", "'*/2' is no day"),
        ("Fri..Mon 04:00", "'Fri..Mon' is no row of days"),
        ("04:00 Europe/Berlin", "'Europe/Berlin' is not understood"),
        ("4", "'4' is not understood"),
        ("04:00:00:00", "is no time"),
        ("60 4 1 * *", "'60' is no minute of cron: a minute lies"),
        ("0 4 0 * *", "'0' is no day of the month of cron"),
        ("0 4 1 foo *", "'foo' is no month of cron"),
        ("0 4 1 * 5-1", "'5-1' is no day of the week of cron"),
        ("0 4/2 1 * *", "'4/2' is no hour of cron: an hour lies between 0 and 23"),
        ("0 */0 1 * *", "'*/0' is no hour of cron"),
        ("0 4 31 2 *", "never comes: no such month has 31 days"),
        ("0 4 30-31 feb *", "never comes: no such month has 30 days"),
        ("0 4 31 4,6,9-11/2 *", "never comes"),
        ("*-*-01 04:00\nOnCalendar=*:*", "is no line of text"),
        ("x" * 300, "is no line of text"),
        ("monthly weekly", "'monthly' is not understood"),
    ],
)
def test_what_neither_understands_is_one_sentence(text: str, told: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_every(text)
    assert caught.value.where == "--every" and told in str(caught.value) and "\n" not in str(caught.value)
