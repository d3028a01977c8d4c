"""What systemd itself says of the units and of the calendars that are accepted."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from healthcheck.model.schedule import Schedule
from healthcheck.parsing.calendar import parse_every
from healthcheck.reporting.schedule.systemd import unit_files
from tests.unit.reporting.test_schedule_systemd import PLAIN

pytestmark = [pytest.mark.testbed, pytest.mark.both_mpis]

CALENDARS = (
    *("monthly", "weekly", "daily", "Mon..Fri 03:30", "sat,Sunday 4:05:00", "*-01,07-15 22:00", "01..03-01", "*:0/15"),
    *(
        "*-*-1/10 04:00",
        "Tue",
        "Sun *-*-01..07 04:00",
        "2099-*-01 04:00",
        "*-*~1 04:00",
        "*-*-01 04:00 UTC",
        "Mon 4:00",
    ),
)


def analyze(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["systemd-analyze", *words], capture_output=True, text=True, check=False, timeout=60)


def written(folder: Path, schedule: Schedule) -> list[str]:
    """The unit files on disk; the program they start is there."""
    program = Path(schedule.command[0])
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    paths = []
    for name, text in unit_files(schedule).items():
        (folder / name).write_text(text)
        paths.append(str(folder / name))
    return paths


@pytest.mark.parametrize("odd", ["plain", 'a "b" \\ 100% it\'s $x;y'])
@pytest.mark.parametrize("mail_to", ["", "ops+gpu@example.org"])
def test_systemd_finds_nothing_wrong_with_the_units(tmp_path: Path, odd: str, mail_to: str) -> None:
    # Of a program systemd takes any name but one with these.
    bin_folder = tmp_path / "".join(letter for letter in odd if letter not in "\"'$\\")
    schedule = replace(
        PLAIN,
        command=(str(bin_folder / "healthcheck"),),
        hosts=str(tmp_path / odd / "hosts"),
        results=str(tmp_path / odd / "reports"),
        user="root",
        mail_to=mail_to,
        options=("--baseline", str(tmp_path / odd / "baseline.json")),
    )
    found = analyze("verify", "--recursive-errors=no", "--man=no", *written(tmp_path, schedule))
    # A key that is misspelled is only a warning, with exit code 0.
    assert (found.returncode, found.stdout, found.stderr) == (0, "", "")


def test_systemd_would_have_found_what_is_wrong(tmp_path: Path) -> None:
    schedule = replace(PLAIN, command=(str(tmp_path / "healthcheck"),), user="root")
    service, *_ = written(tmp_path, schedule)
    text = Path(service).read_text()
    Path(service).write_text(text.replace("KillMode=", "KilMode="))
    assert "KilMode" in analyze("verify", "--recursive-errors=no", "--man=no", service).stderr
    Path(service).write_text(text.replace(schedule.command[0], "/nowhere/healthcheck"))
    assert "/nowhere/healthcheck" in analyze("verify", "--recursive-errors=no", "--man=no", service).stderr


@pytest.mark.parametrize("text", CALENDARS)
def test_systemd_understands_every_calendar_that_is_accepted(text: str) -> None:
    calendar = parse_every(text).calendar
    assert calendar is not None
    assert analyze("calendar", calendar).returncode == 0


@pytest.mark.parametrize(
    ("words", "fires"),
    [
        ("monthly", ["2026-04-01 04:00", "2026-05-01 04:00", "2026-06-01 04:00"]),
        ("weekly", ["2026-03-15 04:00", "2026-03-22 04:00", "2026-03-29 04:00"]),
        ("daily", ["2026-03-15 04:00", "2026-03-16 04:00", "2026-03-17 04:00"]),
        ("Sun *-*-01..07 04:00", ["2026-04-05 04:00", "2026-05-03 04:00", "2026-06-07 04:00"]),
    ],
)
def test_the_timer_fires_what_it_says(tmp_path: Path, words: str, fires: list[str]) -> None:
    schedule = replace(PLAIN, every=parse_every(words))
    timer = unit_files(schedule)["healthcheck-monthly.timer"]
    (calendar,) = re.findall(r"^OnCalendar=(.+)$", timer, re.MULTILINE)
    told = analyze("calendar", "--iterations=3", "--base-time=2026-03-14 12:00:00", calendar)
    assert told.returncode == 0, told.stderr
    elapses = re.findall(r"(?:Next elapse|Iter\w*\.? #\d): \w{3} (\d{4}-\d\d-\d\d \d\d:\d\d)", told.stdout)
    assert elapses == fires


def test_what_the_command_writes_is_what_was_verified(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "healthcheck", "schedule", "systemd", "-H", "gpu[01-04]", "--to", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    found = analyze("verify", "--recursive-errors=no", "--man=no", *done.stdout.splitlines())
    assert (found.returncode, found.stderr) == (0, "")
