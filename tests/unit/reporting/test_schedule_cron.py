"""The line of cron: one line, every % with its backslash, nothing printed where all is well."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from healthcheck.parsing.calendar import parse_every
from healthcheck.reporting.schedule.cron import command, cron_file, escaped, times
from tests.unit.reporting.test_schedule_systemd import PLAIN


def test_the_file_is_one_line_behind_comments_and_the_address() -> None:
    *head, line = cron_file(replace(PLAIN, mail_to="ops@example.org")).splitlines()
    assert head[-1] == "MAILTO=ops@example.org" and all(text.startswith("#") for text in head[:-1])
    assert line.split(None, 6)[5] == "ops"
    assert "MAILTO" not in cron_file(PLAIN)


def test_no_percent_is_left_to_become_a_line_end() -> None:
    odd = replace(PLAIN, results="/srv/100% full", hosts="/a%b")
    line = cron_file(odd).splitlines()[-1]
    assert line.count("%") == line.count("\\%") > 2
    assert line.endswith(escaped(command(odd)))


def test_it_sets_what_cron_does_not() -> None:
    told = command(PLAIN)
    assert "export HOME=/home/ops PATH=/usr/local/sbin:/usr/local/bin:" in told
    assert told.endswith("prune --keep 24 -o /var/lib/healthcheck --quiet >/dev/null")
    assert "prune" not in command(replace(PLAIN, keep=0))


def test_a_word_has_its_minute_within_the_delay_and_keeps_it() -> None:
    chosen = {times(replace(PLAIN, results=f"/r/{number}")) for number in range(50)}
    minutes = {int(text.split()[1]) * 60 + int(text.split()[0]) for text in chosen}
    assert len(chosen) > 20 and min(minutes) >= 240 and max(minutes) <= 300
    assert {text.split(None, 2)[2] for text in chosen} == {"1 * *"}
    assert times(PLAIN) == times(PLAIN)
    assert times(replace(PLAIN, delay_s=0)) == "0 4 1 * *"


@pytest.mark.parametrize("delay_s", [24 * 3600, 7 * 86400])
def test_a_long_delay_stays_within_the_day(delay_s: int) -> None:
    for number in range(50):
        minute, hour, *rest = times(replace(PLAIN, name=f"n{number}", delay_s=delay_s)).split()
        assert 4 <= int(hour) <= 23 and 0 <= int(minute) <= 59 and rest == ["1", "*", "*"]


def test_what_was_given_as_a_time_is_that_time() -> None:
    assert times(replace(PLAIN, every=parse_every("30 4 1 * *"))) == "30 4 1 * *"
    assert times(replace(PLAIN, every=parse_every("Sat 22:00"))) == "0 22 * * 6"
