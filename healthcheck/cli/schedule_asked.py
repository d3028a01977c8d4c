"""What is asked of `healthcheck schedule` on the command line, read and checked as for the run it will start."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from msgspec import Struct

from healthcheck.cli.asked import Asked, new_request, read_inputs
from healthcheck.cli.durations import duration_or_zero_s
from healthcheck.edge.owner import account
from healthcheck.edge.places import at_home, exists, is_file
from healthcheck.edge.shipped import shipped_platform_names, shipped_playbooks
from healthcheck.errors import InputError
from healthcheck.model.alert import NotifyOn
from healthcheck.model.schedule import Every, Schedule

MOST_DELAY_S = 7 * 86400
_NOT_STARTED = frozenset("$'\"\\")
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,59}")
_ADDRESS = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*(?:@[A-Za-z0-9][A-Za-z0-9.-]*)?")


class Wishes(Struct, frozen=True):
    """What is asked beside the run itself, as it was typed."""

    every: Every
    random_delay: str
    keep: int
    name: str | None = None
    user: str | None = None
    mail_to: str | None = None
    notify: tuple[str, ...] = ()
    notify_on: str = NotifyOn.NOT_PASS.value


def schedule_of(run: Asked, wishes: Wishes) -> Schedule:
    """The schedule with every path absolute; InputError for the first thing that is wrong, of the run or of it."""
    inputs, outside = read_inputs(run)
    outside.close()
    new_request(run, inputs, run_id="")
    account_of = account(wishes.user or "")
    if account_of is None:
        raise InputError("--user", f"there is no user {wishes.user!a} on this machine; name one that is there")
    name = f"healthcheck-{inputs.playbook.name}".lower() if wishes.name is None else wishes.name
    if _NAME.fullmatch(name) is None:
        raise InputError("--name", f"{name!a} cannot name a unit; use small letters, digits, - and _, 60 at most")
    if wishes.mail_to is not None and _ADDRESS.fullmatch(wishes.mail_to) is None:
        raise InputError("--mail-to", f"{wishes.mail_to!a} is no address; write one such as ops@example.org")
    made = Schedule(
        name=name,
        command=this_program(),
        playbook=playbook_word(run.playbook),
        hosts=_hosts(run.hosts or ""),
        results=absolute(run.results),
        every=wishes.every,
        delay_s=_delay(wishes.random_delay),
        keep=wishes.keep,
        user=account_of[0],
        home=account_of[1],
        mail_to=wishes.mail_to or "",
        options=_options(run),
        notify=notify_words(notify_files(wishes.notify), wishes.notify_on),
    )
    for word in (*made.run(), made.home):
        if not word.isprintable():
            raise InputError("schedule", f"{word!a} is not one line of text; no unit and no crontab can hold it")
    if not _NOT_STARTED.isdisjoint(made.command[0]):
        raise InputError(
            "schedule", f"systemd starts no program of such a name: {made.command[0]}; install it elsewhere"
        )
    return made


def absolute(path: Path) -> str:
    """From wherever it is started, the same place; links stay as they are."""
    return os.path.normpath(at_home(path).absolute())


def this_program() -> tuple[str, ...]:
    """The same healthcheck that runs now: its script beside this Python, else the module."""
    script = Path(sys.executable).with_name("healthcheck")
    return (str(script),) if is_file(script) else (sys.executable, "-m", "healthcheck")


def playbook_word(given: str) -> str:
    """A playbook that could be read, as it is named from anywhere: one of ours by its name, a file by its path."""
    return given if given in shipped_playbooks() else absolute(Path(given))


def platform_word(given: str) -> str:
    """A platform, likewise."""
    return given if given in shipped_platform_names() else absolute(Path(given))


def _hosts(given: str) -> str:
    path = Path(given)
    if not exists(path):
        return given
    if not is_file(path):
        raise InputError("-H", f"{given} is no file that will still be there; give a hostfile or a node set")
    return absolute(path)


def _delay(text: str) -> int:
    found = duration_or_zero_s("--random-delay", text)
    if found and not 1 <= found <= MOST_DELAY_S:
        raise InputError("--random-delay", f"must lie between 1s and 7 days (168h), or be 0, got {text}")
    return round(found)


def _options(run: Asked) -> tuple[str, ...]:
    paths = {"--push": run.push, "--ssh-config": run.ssh_config, "--baseline": run.baseline}
    words: list[str] = []
    if run.platform != "auto":
        words += ["--platform", platform_word(run.platform)]
    for option, given in (("--launcher", run.launcher), ("--nccl-tests", run.nccl_tests)):
        words += [] if given is None else [option, given]
    if run.launch_from != "first":
        words += ["--launch-from", run.launch_from]
    for option, path in paths.items():
        words += [] if path is None else [option, absolute(path)]
    return (*words, *(["--allow-degraded"] if run.allow_degraded else []))


def notify_words(files: tuple[str, ...], notify_on: str) -> tuple[str, ...]:
    """The words of the alert options, none where nobody is told. `files` are absolute, as they read where it runs."""
    if notify_on not in list(NotifyOn):
        raise InputError("--notify-on", f"must be one of {', '.join(NotifyOn)}")
    words = [word for file in files for word in ("--notify", f"@{file}")]
    return (*words, "--notify-on", notify_on) if words else ()


def notify_files(notify: tuple[str, ...]) -> tuple[str, ...]:
    """The files with the addresses. Files only: an address is a secret, and everybody may read a unit in /etc."""
    files: list[str] = []
    for given in notify:
        path = Path(given.removeprefix("@"))
        if not given.startswith("@"):
            why = "others may read what is written here, and addresses are secrets"
            raise InputError("--notify", f"takes @FILE here, with one address a line and mode 600: {why}")
        if not is_file(at_home(path)):
            raise InputError("--notify", f"there is no file {path}")
        files.append(absolute(path))
    return tuple(files)
