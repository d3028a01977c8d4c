"""Some steps of a training, recorded by Nsight Systems on one of its hosts, and the recording brought here.

The training runs as its user would start it, one command a host, and ends with the range: whatever of it is left then,
on any host, is ended by its token. Nothing here judges; what went wrong is said with what to do.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence

from msgspec import Struct

from healthcheck.launchers.nsys import Range, profiled, unprofiled, with_megatron_range
from healthcheck.launchers.nsys_node import Ready, look_argv, read_look, remove_argv, start_argv
from healthcheck.model.command import Command
from healthcheck.model.host import Host
from healthcheck.model.message import Message, say
from healthcheck.model.verdict import Verdict
from healthcheck.model.vitals_capture import CaptureAsked, CaptureFile, HostCommand
from healthcheck.ports import Event, Inbox, Transport
from healthcheck.probes.batch import batch_argv, deadline_s, split
from healthcheck.probes.busy import busy_parts, judge_busy
from healthcheck.workflows.capture_ending import Watch
from healthcheck.workflows.capture_files import ProfiledHost, bring
from healthcheck.workflows.capture_told import heard, reasons
from healthcheck.workflows.capture_watch import Listening, StartedTraining
from healthcheck.workflows.cleanup import sweep_all, tidy_command
from healthcheck.workflows.engine import Engine
from healthcheck.workflows.fanout import run_short, visit
from healthcheck.workflows.look import why_silent
from healthcheck.workflows.request import LOCALHOST

STAGE = "capture"
_NAP_S = 0.2
_LOOK_DEADLINE_S = 30.0


class Captured(Struct, frozen=True):
    """What a capture brought: files, why there are none or not all, and what else to know.

    `heard` is what the profiler complained of: the reason, should the files hold nothing. `started`: whether the
    training was.
    """

    files: tuple[CaptureFile, ...]
    why: tuple[Message, ...]
    notes: tuple[Message, ...] = ()
    heard: tuple[Message, ...] = ()
    started: bool = False


def commands_of(asked: CaptureAsked, nsys: str, folder: str) -> tuple[HostCommand, ...]:
    """One command line a host, as it is run there."""
    hosts = asked.hosts or (LOCALHOST,)
    words = asked.words
    if asked.megatron:
        words = with_megatron_range(words, Range(asked.first, asked.steps), asked.ranks)
    found = []
    for number, host in enumerate(hosts):
        values = {"{node_rank}": str(number), "{nodes}": str(len(hosts)), "{first}": hosts[0].address}
        own = [_filled(word, values) for word in words]
        under = host.name == asked.profiled
        # Behind a launcher the ranks are told apart where they start, not by their host.
        argv = profiled(own, nsys, folder, number, asked.ranks) if under else unprofiled(own)
        found.append(HostCommand(host.name if asked.hosts else None, under, argv))
    return tuple(found)


def reports_folder(node_folder: str, token: str) -> str:
    """Where the reports of a capture go below the folder that was named for them."""
    return f"{node_folder}/healthcheck-{token}"


def _filled(word: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        word = word.replace(name, value)
    return word


def capture(asked: CaptureAsked, token: str, engine: Engine, inbox: Inbox) -> Captured:
    """Look, start, watch, end, bring. Never raises for a host; StoreError where nothing can be kept here."""
    hosts = asked.hosts or (LOCALHOST,)
    transport = engine.transport if asked.hosts else engine.local
    refused = _taken(hosts, engine) or _in_the_way(hosts, asked, token, transport, engine)
    if refused:
        return Captured((), refused)
    by_name = {host.name: host for host in hosts}
    host = by_name[asked.profiled]
    place = _prepare(host, asked, token, transport)
    if not isinstance(place, ProfiledHost):
        return Captured((), place)
    commands = commands_of(asked, place.nsys, place.folder)
    trainings = _run(asked, commands, place, by_name, engine)
    left = _end_all(hosts, token, transport, engine.width)
    files, troubles = bring(place, engine, inbox)
    why = reasons(asked, trainings, files, troubles, stopped=engine.cancel.wanted)
    if troubles:
        # A recording may have cost an hour: what could not be brought is not deleted.
        kept = say("capture.kept_there", host=host.name, folder=place.folder)
        return Captured(files, (*why, kept), left, started=True)
    _remove(place)
    return Captured(files, why, left, heard(trainings), started=True)


def _remove(place: ProfiledHost) -> None:
    """Take the folder for reports away."""
    command = Command(remove_argv(place.folder), _LOOK_DEADLINE_S, f"tidy-{place.token}")
    if place.ours:
        command = tidy_command(f"run/{place.token}", place.token)
    run_short(place.transport, place.host, command)


def _taken(hosts: Sequence[Host], engine: Engine) -> tuple[Message, ...]:
    """Who has the hosts: no check-up may measure them meanwhile, and none that runs is disturbed."""
    if engine.locks is None:
        return ()
    taken = engine.locks.take(host.name for host in hosts)
    return tuple(say("capture.not_free", host=name, why=refusal.message) for name, refusal in taken.refused.items())


def _in_the_way(
    hosts: Sequence[Host], asked: CaptureAsked, token: str, transport: Transport, engine: Engine
) -> tuple[Message, ...]:
    """Hosts that do not answer, and others' work on the GPUs, seen right before the start."""

    def look(host: Host) -> Message | None:
        nonce = secrets.token_hex(8)
        parts = busy_parts()
        command = Command(batch_argv(parts, nonce), deadline_s(parts), token=f"probe-{token}")
        result, said = run_short(transport, host, command, engine.cancel)
        answers = split(said.out, nonce)
        if not answers:
            return say("capture.no_answer", host=host.name, why=why_silent(result))
        busy = judge_busy(host.name, answers, token, asked.allow_busy)
        # Where nobody can look, the one who starts his training knows.
        seen = next((result.message for result in busy if result.verdict is Verdict.SKIPPED), None)
        return None if seen is None else say("capture.busy", host=host.name, why=seen)

    found = dict(visit(hosts, look, engine.cancel, engine.width))
    return tuple(message for host in hosts if (message := found.get(host)) is not None)


def _prepare(host: Host, asked: CaptureAsked, token: str, transport: Transport) -> ProfiledHost | tuple[Message, ...]:
    """Everything the profiled host needs, or what it lacks."""
    folder, ours = reports_folder(asked.node_folder or "", token), False
    if asked.node_folder is None:
        pushed = transport.push(host, f"run/{token}", ())
        if pushed.folder is None:
            return (say("capture.no_answer", host=host.name, why=pushed.reason or say("push.refused", detail="")),)
        folder, ours = pushed.folder, True
    argv = look_argv(asked.nsys, asked.cwd, None if ours else folder)
    result, said = run_short(transport, host, Command(argv, _LOOK_DEADLINE_S, f"probe-{token}"))
    ready = read_look(said.out)
    if not ready.whole:
        return (say("capture.no_answer", host=host.name, why=why_silent(result)),)
    place = ProfiledHost(host, ready.nsys or asked.nsys, folder, ours, token, transport)
    lacking = _lacking(ready, host, asked)
    if lacking and ready.folder:
        _remove(place)
    return lacking or place


def _lacking(ready: Ready, host: Host, asked: CaptureAsked) -> tuple[Message, ...]:
    found = []
    if ready.nsys is None:
        found.append(say("capture.no_nsys", host=host.name, nsys=asked.nsys))
    if not ready.cwd:
        found.append(say("capture.no_cwd", host=host.name, folder=asked.cwd or ""))
    if not ready.folder:
        found.append(say("capture.no_folder", host=host.name, folder=asked.node_folder or ""))
    return tuple(found)


def _run(
    asked: CaptureAsked, commands: Sequence[HostCommand], place: ProfiledHost, hosts: dict[str, Host], engine: Engine
) -> tuple[StartedTraining, ...]:
    """Start them all and poll until all have ended. The unprofiled ones first: they wait for the others."""
    trainings = []
    for each in sorted(commands, key=lambda command: command.profiled):
        host = hosts[each.host] if each.host is not None else LOCALHOST
        command = Command(start_argv(each.argv, asked.cwd if asked.hosts else None), asked.timeout_s, place.token)
        said = Listening(engine.store.sink(host.name, STAGE), engine.clock)
        trainings.append(StartedTraining(host, command, place.transport, said, profiled=each.profiled))
        begun = say("capture.started") if each.profiled else say("capture.started_beside")
        engine.observer.event(Event(STAGE, begun, host.name))
    watch = Watch(asked, engine, lambda: place.listed() or ())
    while any([training.poll() is None for training in trainings]):  # noqa: C419 - every one has to be polled
        watch.look(trainings)
        engine.clock.sleep(_NAP_S)
    watch.look(trainings)  # what was said with the last words is told, too
    return tuple(trainings)


def _end_all(hosts: Sequence[Host], token: str, transport: Transport, width: int) -> tuple[Message, ...]:
    """End what is left on every host; a cancel does not cut it short. Where something may still run is told."""
    swept = sweep_all(hosts, token, transport, width)
    return tuple(say("capture.left", host=found.host) for found in swept if found.left != ())
