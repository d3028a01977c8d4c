"""`healthcheck schedule`: the files that have a check-up come back by itself. It writes them and installs nothing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from healthcheck.cli import options, schedule_cluster
from healthcheck.cli.schedule_files import Keep, NotifyFile, NotifyOn, Playbook, Stdout, To, hand_over
from healthcheck.cli.usage import OneSentence

if TYPE_CHECKING:
    from healthcheck.model.schedule import Schedule

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


@app.callback()
def main() -> None:
    """Files that have a check-up come back by itself. They are written, and never installed."""


@app.command(
    short_help="Unit and timer of systemd.",
    epilog="Example: healthcheck schedule systemd -H /etc/healthcheck/gpu.hosts",
)
def systemd(
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
    """Write the service, the timer and the alert of a check-up that comes back, and say how to install them.

    What is not PASS is a failure of the unit, which is mailed (--mail-to) or said in the journal.
    """
    from healthcheck.cli.asked import Asked
    from healthcheck.cli.schedule_asked import Wishes, schedule_of
    from healthcheck.errors import InputError
    from healthcheck.parsing.calendar import parse_every
    from healthcheck.reporting.schedule.systemd import unit_files

    when = parse_every(every)
    if when.calendar is None:
        raise InputError(
            "--every", f"{every!r} is five fields of cron; write it for systemd: monthly, or '*-*-01 04:00'"
        )
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
    files = dict(unit_files(made))
    put = " ".join(_place(to, file) for file in files)
    install = (
        f"sudo install -m 644 {put} /etc/systemd/system/",
        "sudo systemctl daemon-reload",
        f"sudo systemctl enable --now {made.name}.timer",
    )
    _tell(made, files, install, f"sudo systemctl start {made.name}.service", to, stdout, json, by_cron=False)


@app.command(short_help="A line of cron.", epilog="Example: healthcheck schedule cron -H /etc/healthcheck/gpu.hosts")
def cron(
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
    """Write the line of cron of a check-up that comes back, as a file for /etc/cron.d, and say how to install it.

    It prints nothing where the verdict is PASS; all else is what cron mails.
    """
    from healthcheck.cli.asked import Asked
    from healthcheck.cli.schedule_asked import Wishes, schedule_of
    from healthcheck.errors import InputError
    from healthcheck.parsing.calendar import parse_every
    from healthcheck.reporting.schedule.cron import LONGEST, command, cron_file, escaped

    when = parse_every(every)
    if when.cron is None:
        raise InputError(
            "--every", f"{every!r} cannot be said in the five fields of cron; write these, or use schedule systemd"
        )
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
    line = escaped(command(made))
    if len(line.encode()) > LONGEST:
        told = f"the line has {len(line.encode())} bytes and cron reads {LONGEST}"
        raise InputError("schedule cron", f"{told}; use a hostfile, shorter paths, or schedule systemd")
    files = {made.name: cron_file(made)}
    install = (f"sudo install -m 644 {_place(to, made.name)} /etc/cron.d/{made.name}",)
    _tell(made, files, install, "", to, stdout, json, by_cron=True)


app.command("slurm", short_help="Scripts of jobs of Slurm.", epilog=schedule_cluster.SLURM_EXAMPLE)(
    schedule_cluster.slurm
)
app.command("k8s", short_help="Manifests of Kubernetes.", epilog=schedule_cluster.K8S_EXAMPLE)(schedule_cluster.k8s)


def _place(folder: Path, file: str) -> str:
    import shlex

    return shlex.quote(str(folder / file))


def _tell(
    made: Schedule,
    files: dict[str, str],
    install: tuple[str, ...],
    try_first: str,
    to: Path,
    stdout: bool,
    json: bool,
    *,
    by_cron: bool,
) -> None:
    """The files, printed or written; on stderr when it comes, and what installs it."""
    from healthcheck.cli.exits import say
    from healthcheck.model.message import say as message
    from healthcheck.model.units import Seconds
    from healthcheck.reporting.schedule.cron import times

    hand_over(files, to, install, stdout=stdout, json=json)
    words, delay = made.every.words, str(Seconds(made.delay_s))
    later = not by_cron and made.delay_s > 0
    when = times(made) if by_cron else made.every.calendar or ""
    told = [message("schedule.comes_later" if later else "schedule.comes", words=words, when=when, delay=delay)]
    if by_cron and made.every.named and made.delay_s >= 60:
        told.append(message("schedule.cluster_minute", delay=delay))
    for one in told:
        say(str(one))
    if stdout:
        return
    say(str(message("schedule.not_installed")))
    for line in install:
        say(f"  {line}")
    if try_first:
        say(str(message("schedule.try_first", command=try_first)))
