"""Unit and timer of systemd for a check-up that comes back, and the unit that tells of all but a PASS. Pure.

A path or a host name is data: `word` quotes it for a command line of a unit, where %, $, quotes and backslashes mean
something, and `path` for a setting that takes paths, where $ does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from healthcheck.model.schedule import Schedule
from healthcheck.reporting.templating import environment

_PLAIN = re.compile(r"[A-Za-z0-9_@:.,/=+-]+")


# One line each: a unit has no other. The unit is $1, the address $2; the status is known from systemd 251 on.
_SAID = (
    "case ${MONITOR_EXIT_STATUS:-} in 1) said=FAIL;; 3) said=INCONCLUSIVE;; 4) said=DEGRADED;; "
    "*) said='not PASS';; esac"
)
_MAIL = (
    f'{_SAID}; {{ printf \'To: %s\\nSubject: healthcheck on %s: %s (%s)\\n\\n\' "$2" "$(uname -n)" "$said" "$1"; '
    'systemctl status --no-pager --full --lines=200 "$1"; } | sendmail -t'
)
_LOG = f'{_SAID}; echo "<3>$1: $said. Read it with: systemctl status $1"'


def unit_files(schedule: Schedule) -> Mapping[str, str]:
    """File name -> text. The calendar of the schedule must be one that systemd can say."""
    service, timer, alert = f"{schedule.name}.service", f"{schedule.name}.timer", f"{schedule.name}-alert.service"
    script = (_MAIL, "sh", service, schedule.mail_to) if schedule.mail_to else (_LOG, "sh", service)
    told = {
        "schedule": schedule,
        "service": service,
        "timer": timer,
        "alert": alert,
        "run": command_line(schedule.run()),
        "prune": command_line(schedule.prune()),
        "tell": command_line(("/bin/sh", "-c", *script)),
        "writable": path(f"-{schedule.results}"),
        "places": " ".join(map(path, _places(schedule))),
    }
    made = environment(autoescape=False)
    return {
        name: made.get_template(f"systemd_{part}.j2").render(told)
        for name, part in ((service, "service"), (timer, "timer"), (alert, "alert"))
    }


def command_line(words: Iterable[str]) -> str:
    """Words for ExecStart= and its kin."""
    return " ".join(map(word, words))


def word(text: str) -> str:
    """One word: no specifier, no variable, no escape of it means anything."""
    return path(text).replace("$", "$$")


def path(text: str) -> str:
    """One path in a setting that takes several."""
    if _PLAIN.fullmatch(text):
        return text
    return '"' + text.replace("%", "%%").replace("\\", "\\\\").replace('"', '\\"') + '"'


def _places(schedule: Schedule) -> tuple[str, ...]:
    """What has to be mounted: the results, and every file that is named."""
    named = (schedule.results, schedule.hosts, schedule.playbook, *schedule.options, *schedule.notify)
    places = (text.removeprefix("@") for text in named)
    return tuple(dict.fromkeys(place for place in places if place.startswith("/")))
