"""`healthcheck schedule`: the files that have a check-up come back by itself. It writes them and installs nothing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec import Struct

from healthcheck.cli import options, schedule_cluster
from healthcheck.cli.schedule_files import Keep, NotifyFile, NotifyOn, Playbook, Stdout, To, hand_over
from healthcheck.cli.usage import OneSentence

if TYPE_CHECKING:
    from healthcheck.model.schedule import Every, Schedule

app = typer.Typer(
    cls=OneSentence,
    name="schedule",
    help="Files that have a check-up come back.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

EveryText = Annotated[
    str, typer.Option("--every", help="monthly, weekly, daily, a calendar of systemd, or five fields of cron.")
]
RandomDelay = Annotated[str, typer.Option("--random-delay", help="Begin up to this much later: 1h, 90m; 0 for never.")]
Name = Annotated[str | None, typer.Option("--name", help="Name of the files. Default: healthcheck-PLAYBOOK.")]
User = Annotated[str | None, typer.Option("--user", help="Whom it runs as. Default: you.")]
MailTo = Annotated[str | None, typer.Option("--mail-to", help="Address that hears of everything but a PASS.")]
Launcher = Annotated[str | None, typer.Option(help="mpirun or hydra, as for run.")]
LaunchFrom = Annotated[str, typer.Option(help="As for run: first, local, or a host.")]

CRON = "cron"
SYSTEMD_HELP = """\
Write the service, the timer and the alert of a check-up that comes back, and say how to install them.

What is not PASS is a failure of the unit, which is mailed (--mail-to) or said in the journal.
"""
CRON_HELP = """\
Write the line of cron of a check-up that comes back, as a file for /etc/cron.d, and say how to install it.

It prints nothing where the verdict is PASS; all else is what cron mails.
"""
SYSTEMD_EXAMPLE = "Example: healthcheck schedule systemd -H /etc/healthcheck/gpu.hosts"
CRON_EXAMPLE = "Example: healthcheck schedule cron -H /etc/healthcheck/gpu.hosts"


class _Written(Struct, frozen=True):
    """Name and text of each file, the lines that install them, and the one that tries them, where there is one."""

    files: dict[str, str]
    install: tuple[str, ...]
    try_first: str = ""


@app.callback()
def main() -> None:
    """Files that have a check-up come back by itself. They are written, and never installed."""


@app.command(CRON, short_help="A line of cron.", help=CRON_HELP, epilog=CRON_EXAMPLE)
@app.command("systemd", short_help="Unit and timer of systemd.", help=SYSTEMD_HELP, epilog=SYSTEMD_EXAMPLE)
def comes_back(
    context: typer.Context,
    playbook: Playbook = "monthly",
    hosts: options.Hosts = None,
    every: EveryText = "monthly",
    random_delay: RandomDelay = "1h",
    keep: Keep = 24,
    name: Name = None,
    user: User = None,
    mail_to: MailTo = None,
    notify: NotifyFile = None,
    notify_on: NotifyOn = "not-pass",
    platform: options.PlatformName = "auto",
    launcher: Launcher = None,
    launch_from: LaunchFrom = "first",
    baseline: options.BaselineFile = None,
    nccl_tests: options.NcclTestsFolder = None,
    push: options.PushFolder = None,
    allow_degraded: options.AllowDegraded = False,
    ssh_config: options.SshConfig = None,
    results: options.Results = options.DEFAULT_RESULTS,
    to: To = Path(),
    stdout: Stdout = False,
    json: options.Json = False,
    lang: options.Lang = None,
) -> None:
    """The files of a check-up that comes back: systemd and cron are asked the same, and differ in what is written."""
    from healthcheck.cli.asked import Asked
    from healthcheck.cli.schedule_asked import Wishes, schedule_of

    by_cron = context.info_name == CRON
    when = _when(every, by_cron=by_cron)
    run = Asked(
        hosts=hosts,
        playbook=playbook,
        platform=platform,
        results=results,
        ssh_config=ssh_config,
        allow_degraded=allow_degraded,
        nccl_tests=nccl_tests,
        push=push,
        launch_from=launch_from,
        launcher=launcher,
        baseline=baseline,
    )
    made = schedule_of(run, Wishes(when, random_delay, keep, name, user, mail_to, tuple(notify or ()), notify_on))
    written = _line_of_cron(made, to) if by_cron else _units(made, to)
    hand_over(written.files, to, written.install, stdout=stdout, json=json)
    _tell_when(made, by_cron=by_cron)
    if not stdout:
        _tell_how(written)


app.command("slurm", short_help="Scripts of jobs of Slurm.", epilog=schedule_cluster.SLURM_EXAMPLE)(
    schedule_cluster.slurm
)
app.command("k8s", short_help="Manifests of Kubernetes.", epilog=schedule_cluster.K8S_EXAMPLE)(schedule_cluster.k8s)


def _when(every: str, *, by_cron: bool) -> Every:
    """When it comes back; InputError where that cannot be said to the one who is to start it."""
    from healthcheck.errors import InputError
    from healthcheck.parsing.calendar import parse_every

    when = parse_every(every)
    if by_cron and when.cron is None:
        raise InputError(
            "--every", f"{every!r} cannot be said in the five fields of cron; write these, or use schedule systemd"
        )
    if not by_cron and when.calendar is None:
        raise InputError(
            "--every", f"{every!r} is five fields of cron; write it for systemd: monthly, or '*-*-01 04:00'"
        )
    return when


def _units(made: Schedule, to: Path) -> _Written:
    from healthcheck.reporting.schedule.systemd import unit_files

    files = dict(unit_files(made))
    put = " ".join(_place(to, file) for file in files)
    install = (
        f"sudo install -m 644 {put} /etc/systemd/system/",
        "sudo systemctl daemon-reload",
        f"sudo systemctl enable --now {made.name}.timer",
    )
    return _Written(files, install, f"sudo systemctl start {made.name}.service")


def _line_of_cron(made: Schedule, to: Path) -> _Written:
    from healthcheck.errors import InputError
    from healthcheck.reporting.schedule.cron import LONGEST, command, cron_file, escaped

    line = escaped(command(made))
    if len(line.encode()) > LONGEST:
        told = f"the line has {len(line.encode())} bytes and cron reads {LONGEST}"
        raise InputError("schedule cron", f"{told}; use a hostfile, shorter paths, or schedule systemd")
    install = f"sudo install -m 644 {_place(to, made.name)} /etc/cron.d/{made.name}"
    return _Written({made.name: cron_file(made)}, (install,))


def _place(folder: Path, file: str) -> str:
    import shlex

    return shlex.quote(str(folder / file))


def _tell_when(made: Schedule, *, by_cron: bool) -> None:
    """On stderr when it comes."""
    from healthcheck.cli.exits import say
    from healthcheck.model.message import say as message
    from healthcheck.model.units import Seconds
    from healthcheck.reporting.schedule.cron import times

    words, delay = made.every.words, str(Seconds(made.delay_s))
    later = not by_cron and made.delay_s > 0
    when = times(made) if by_cron else made.every.calendar or ""
    say(str(message("schedule.comes_later" if later else "schedule.comes", words=words, when=when, delay=delay)))
    if by_cron and made.every.named and made.delay_s >= 60:
        say(str(message("schedule.cluster_minute", delay=delay)))


def _tell_how(written: _Written) -> None:
    """On stderr that nothing was installed, what does it, and what tries it first."""
    from healthcheck.cli.exits import say
    from healthcheck.model.message import say as message

    say(str(message("schedule.not_installed")))
    for line in written.install:
        say(f"  {line}")
    if written.try_first:
        say(str(message("schedule.try_first", command=written.try_first)))
