"""The reports of a capture: exported where nsys is, and both brought here."""

from __future__ import annotations

from dataclasses import dataclass

from healthcheck.launchers.nsys import EXPORT, REPORT, export_argv
from healthcheck.launchers.nsys_node import NodeFile, list_argv, read_list, send_argv
from healthcheck.model.command import Command, ExitKind
from healthcheck.model.host import Host
from healthcheck.model.message import Message, say
from healthcheck.model.vitals_capture import CaptureFile
from healthcheck.ports import Event, Inbox, Transport
from healthcheck.workflows.engine import Engine
from healthcheck.workflows.fanout import run_short
from healthcheck.workflows.request import LOCALHOST

_LIST_DEADLINE_S = 30.0
_EXPORT_DEADLINE_S = 1800.0
# As slow as a line of 1 MB/s.
_SEND_BYTES_S = 1e6
_SEND_LEAST_S = 60.0
_NAP_S = 0.2


@dataclass(frozen=True, slots=True)
class ProfiledHost:
    """The host under nsys, ready: which nsys, the folder for reports (`ours`: below our cache), and the way there."""

    host: Host
    nsys: str
    folder: str
    ours: bool
    token: str
    transport: Transport

    def listed(self) -> tuple[NodeFile, ...] | None:
        """What lies in the folder; None where that could not be seen."""
        command = Command(list_argv(self.folder), _LIST_DEADLINE_S, f"tidy-{self.token}")
        return read_list(run_short(self.transport, self.host, command)[1].out)


def bring(place: ProfiledHost, engine: Engine, inbox: Inbox) -> tuple[tuple[CaptureFile, ...], tuple[Message, ...]]:
    """Every report of the host, exported and here; and what could not be. StoreError of the inbox."""
    host, found = place.host, place.listed()
    if found is None:
        return (), (say("capture.no_list", host=host.name, folder=place.folder),)
    files, troubles = [], []
    for report in (file for file in found if file.is_report):
        if engine.cancel.wanted:
            troubles.append(say("capture.not_fetched", name=report.name, host=host.name))
            continue
        engine.observer.event(Event("capture", say("capture.exporting", name=report.name), host.name))
        brought = _one(place, report, engine, inbox)
        if isinstance(brought, Message):
            troubles.append(brought)
        else:
            files.append(brought)
    if not files and not troubles and any(file.name.endswith(".qdstrm") for file in found):
        troubles.append(say("capture.only_stream", host=host.name))
    return tuple(files), tuple(troubles)


def _one(place: ProfiledHost, report: NodeFile, engine: Engine, inbox: Inbox) -> CaptureFile | Message:
    host, argv = place.host, export_argv(place.nsys, f"{place.folder}/{report.name}")
    # Under the token of the run: an export that hangs is ended like the training.
    result, said = run_short(place.transport, host, Command(argv, _EXPORT_DEADLINE_S, place.token), engine.cancel)
    name = report.name.removesuffix(REPORT) + EXPORT
    export = next((file for file in place.listed() or () if file.name == name), None)
    if not result.ok or export is None:
        detail = next(iter(said.err.strip().splitlines()[-1:]), "") or str(result.reason or result.exit_code)
        return say("capture.no_export", host=host.name, name=report.name, detail=detail)
    kept = _received(place, export, engine, inbox)
    if kept is None:
        return say("capture.not_fetched", host=host.name, name=name)
    whole = _received(place, report, engine, inbox)
    return CaptureFile(None if host == LOCALHOST else host.name, kept, whole, export.size_bytes)


def _received(place: ProfiledHost, file: NodeFile, engine: Engine, inbox: Inbox) -> str | None:
    """Where it is kept here; None where it did not come whole."""
    deadline_s = max(_SEND_LEAST_S, file.size_bytes / _SEND_BYTES_S)
    received = inbox.receive(file.name)
    command = Command(send_argv(f"{place.folder}/{file.name}"), deadline_s, f"tidy-{place.token}")
    running = place.transport.start(place.host, command, received)
    result = None
    while result is None:
        if engine.cancel.wanted:
            running.stop()
        result = running.wait(_NAP_S)
    if result.kind is not ExitKind.EXITED or result.exit_code != 0:
        received.drop()
        return None
    kept = received.keep(file.size_bytes)
    return None if kept is None else str(kept)
