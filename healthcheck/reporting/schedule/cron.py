"""A line of cron for a check-up that comes back. Pure.

Cron hands a line to /bin/sh, but first makes a line end of every % that has no backslash before it, and sets next to
nothing: no PATH but /usr/bin:/bin, and whatever HOME it has. So the line sets both itself, and is quoted twice.
"""

from __future__ import annotations

import hashlib
import shlex

from healthcheck.model.schedule import Schedule

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_LAST_MINUTE = 24 * 60 - 1
LONGEST = 990
"""Debian's cron reads 999 characters of a command and cuts the rest without a word."""


def cron_file(schedule: Schedule) -> str:
    """A file for /etc/cron.d. The schedule must be one that cron can say."""
    mail = f"MAILTO={schedule.mail_to}\n" if schedule.mail_to else ""
    whom = f"it goes to {schedule.mail_to}" if schedule.mail_to else "without --mail-to it goes to the user below"
    return (
        "# Written by `healthcheck schedule cron`.\n"
        f"# A check-up, {schedule.every.words}. Cron mails what is printed, and only what is not PASS prints:\n"
        f"# {whom}.\n"
        "# Without root: crontab -e, with the same lines but without the name of the user.\n"
        f"{mail}"
        f"{times(schedule)} {schedule.user} {escaped(command(schedule))}\n"
    )


def command(schedule: Schedule) -> str:
    """What the shell is given: the check-up, whose story is printed only where it was not PASS; then old runs away."""
    run = f"said=$({shlex.join(schedule.run())} 2>&1)"
    tell = 'code=$?; printf "%s\\n" "$said" "healthcheck ended with exit code $code"'
    prune = f"; {shlex.join(schedule.prune())} >/dev/null" if schedule.prune() else ""
    return f"umask 077; export HOME={shlex.quote(schedule.home)} PATH={PATH}; {run} || {{ {tell}; }}{prune}"


def escaped(text: str) -> str:
    """The command as it stands in the file: cron takes the backslash away again."""
    return text.replace("%", "\\%")


def times(schedule: Schedule) -> str:
    """The five fields. Cron knows no random delay: of a word such as `monthly` the minute is chosen within it.

    By whom and what is checked, so that it stays the same each time the file is written, and two clusters differ.
    """
    every = schedule.every
    fields = (every.cron or "").split()
    most = schedule.delay_s // 60
    if every.named and most:
        about = "\0".join((schedule.name, schedule.hosts, schedule.results))
        begin = int(fields[1]) * 60 + int(fields[0])
        chosen = int(hashlib.sha256(about.encode()).hexdigest()[:8], 16) % (min(most, _LAST_MINUTE - begin) + 1)
        hour, minute = divmod(begin + chosen, 60)
        fields[:2] = [str(minute), str(hour)]
    return " ".join(fields)
