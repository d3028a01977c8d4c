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
from healthcheck.errors import InputError
from healthcheck.model.alert import NotifyOn
from healthcheck.model.schedule import Every, Schedule
from healthcheck.workflows.files_only import files_only

MARK = "# Written by `healthcheck schedule"
# Before it stand at most the first line of a script and what it asks of Slurm.
_HEAD_BYTES = 4096
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
        playbook=_playbook(run.playbook),
        hosts=_hosts(run.hosts or ""),
        results=absolute(run.results),
        every=wishes.every,
        delay_s=_delay(wishes.random_delay),
        keep=wishes.keep,
        user=account_of[0],
        home=account_of[1],
        mail_to=wishes.mail_to or "",
        options=_options(run),
        notify=notify_words(wishes.notify, wishes.notify_on),
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


def write_files(folder: Path, files: dict[str, str]) -> tuple[Path, ...]:
    """The files in `folder`; InputError before anything is written where one would go that is not ours."""
    for name in files:
        path = folder / name
        if exists(path) and not _is_ours(path):
            raise InputError("--to", f"{path} is there and was not written by healthcheck schedule; move it, or --name")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError("--to", f"cannot write to {folder}: {error.strerror}") from None
    return tuple(folder / name for name in files)


def _is_ours(path: Path) -> bool:
    try:
        with open(path, "rb", opener=files_only) as file:
            return MARK.encode() in file.read(_HEAD_BYTES)
    except OSError:
        return False


def this_program() -> tuple[str, ...]:
    """The same healthcheck that runs now: its script beside this Python, else the module."""
    script = Path(sys.executable).with_name("healthcheck")
    return (str(script),) if is_file(script) else (sys.executable, "-m", "healthcheck")


def _playbook(given: str) -> str:
    return absolute(Path(given)) if is_file(at_home(Path(given))) else given


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
        words += ["--platform", absolute(Path(run.platform)) if is_file(Path(run.platform)) else run.platform]
    for option, given in (("--launcher", run.launcher), ("--nccl-tests", run.nccl_tests)):
        words += [] if given is None else [option, given]
    if run.launch_from != "first":
        words += ["--launch-from", run.launch_from]
    for option, path in paths.items():
        words += [] if path is None else [option, absolute(path)]
    return (*words, *(["--allow-degraded"] if run.allow_degraded else []))


def notify_words(notify: tuple[str, ...], notify_on: str) -> tuple[str, ...]:
    """The words of the alert options. Files only: an address is a secret, and everybody may read a unit in /etc."""
    words: list[str] = []
    for given in notify:
        path = Path(given.removeprefix("@"))
        if not given.startswith("@"):
            why = "others may read what is written here, and addresses are secrets"
            raise InputError("--notify", f"takes @FILE here, with one address a line and mode 600: {why}")
        if not is_file(at_home(path)):
            raise InputError("--notify", f"there is no file {path}")
        words += ["--notify", f"@{absolute(path)}"]
    if notify_on not in list(NotifyOn):
        raise InputError("--notify-on", f"must be one of {', '.join(NotifyOn)}")
    return (*words, "--notify-on", notify_on) if words else ()
