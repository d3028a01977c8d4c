"""A capture on the terminal: the commands it takes, or what became of it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from healthcheck.launchers.nsys import EXPORT, PLACE, REPORT, export_argv
from healthcheck.model.message import Message, say
from healthcheck.model.vitals_capture import CaptureAsked, CaptureVitals, HostCommand
from healthcheck.reporting.trace_text import trace_lines

PRINTED_FOLDER = "healthcheck-capture"
"""Where the reports of a printed command go, below the folder it is started in."""


def printed_lines(asked: CaptureAsked, commands: tuple[HostCommand, ...]) -> Iterator[str]:
    """The commands, ready to be copied; nothing was run."""
    host = asked.profiled
    yield str(
        say("capture.printed", n=asked.steps, host=host) if asked.megatron else say("capture.printed_range", host=host)
    )
    start = [f"cd {shlex.quote(asked.cwd)}"] if asked.cwd and asked.hosts else []
    for command in sorted(commands, key=lambda command: not command.profiled):
        yield ""
        at = command.host or host
        yield str(say("capture.on", host=at) if command.profiled else say("capture.beside", host=at))
        folder = [f"mkdir -p {PRINTED_FOLDER}"] if command.profiled else []
        yield "  " + " && ".join([*start, *folder, shlex.join(command.argv)])
    names = [f"rank{rank}" for rank in asked.ranks] if PLACE in asked.words else [f"node{_number(asked)}"]
    yield ""
    yield str(say("capture.then", host=host))
    for name in names:
        export = shlex.join(export_argv(asked.nsys, f"{PRINTED_FOLDER}/{name}{REPORT}"))
        yield "  " + " && ".join([*start, export])
    yield str(say("capture.and_copied") if asked.hosts else say("capture.and_here"))
    yield "  healthcheck vitals trace " + " ".join(f"{PRINTED_FOLDER}/{name}{EXPORT}" for name in names)
    yield ""
    for message in needs(asked):
        yield f"- {message}"


def needs(asked: CaptureAsked) -> tuple[Message, ...]:
    """What has to be true of the training, and what the recording costs."""
    if asked.megatron:
        who = say("capture.who.megatron", first=asked.first, end=asked.first + asked.steps)
    else:
        who = say("capture.who.script")
    return who, say("capture.ends"), say("capture.cost")


def captured_lines(vitals: CaptureVitals, host: str, width: int) -> Iterator[str]:
    """What became of a capture, the answer first: then what `vitals trace` says of it, in lines of `width`."""
    why = list(vitals.why)
    told = vitals.trace is not None and bool(vitals.trace.ranks)
    if told:
        yield str(say("capture.recorded", host=host, n=len(vitals.files), folder=vitals.folder or ""))
    elif why:
        yield str(say("capture.nothing", why=why.pop(0)))
    for message in (*why, *vitals.notes):
        yield f"- {message}"
    if told and vitals.trace is not None:
        yield ""
        yield from trace_lines(vitals.trace, width)
    elif not vitals.started:
        yield str(say("capture.unstarted"))
    elif vitals.folder is not None:
        yield str(say("capture.output", folder=f"{vitals.folder}/raw"))


def _number(asked: CaptureAsked) -> int:
    names = [host.name for host in asked.hosts]
    return names.index(asked.profiled) if asked.profiled in names else 0
