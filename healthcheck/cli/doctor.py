"""`healthcheck doctor`: can this machine run a check-up? One line a question, with what to do about it."""

from __future__ import annotations

from typing import Annotated

import typer

from healthcheck.cli import options
from healthcheck.cli.language import on_stdout


def command(
    playbook: Annotated[str, typer.Argument(help="The playbook you mean to run, by name or file.")] = "quick",
    hosts: options.Hosts = None,
    platform: options.PlatformName = "auto",
    baseline: options.BaselineFile = None,
    push: options.PushFolder = None,
    launch_from: Annotated[str, typer.Option(help="As for run: first, local, or a host.")] = "first",
    ssh_config: options.SshConfig = None,
    notify: options.Notify = None,
    send: Annotated[bool, typer.Option("--send", help="Send a test message to every address of --notify.")] = False,
    results: options.Results = options.DEFAULT_RESULTS,
    json: options.Json = False,
    lang: options.Lang = None,
) -> None:
    """Look whether this machine can run a check-up; no job is started, no host touched. Exit: 0 or 3.

    Example: healthcheck doctor full -H cluster.hosts --push ~/nccl-tests/build
    """
    from healthcheck.cli.alert_looks import alert_looks
    from healthcheck.cli.examine import Asked, examine
    from healthcheck.cli.exits import out
    from healthcheck.model.message import say
    from healthcheck.parsing.record_codec import message_document
    from healthcheck.reporting.text_width import left, width_of

    asked = Asked(playbook, hosts, platform, push, launch_from, ssh_config, results, baseline)
    looks = (*examine(asked), *alert_looks(notify, send))
    exit_code = 3 if any(look.ok is False for look in looks) else 0
    if json:
        import msgspec

        checks = [
            {
                "check": look.check,
                "ok": look.ok,
                **message_document(look.message),
            }
            for look in looks
        ]
        out(msgspec.json.encode({"schema": "healthcheck.doctor/1", "exit_code": exit_code, "checks": checks}).decode())
    else:
        with on_stdout(lang):
            words = {True: say("doctor.word.ok"), None: say("doctor.word.note"), False: say("doctor.word.fix")}
            width = 1 + max(width_of(str(word)) for word in words.values())
            for look in looks:
                out(f"{left(str(words[look.ok]), width)}{look.check:<12} {look.message}")
    raise typer.Exit(exit_code)
