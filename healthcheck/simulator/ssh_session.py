"""One SSH connection to a simulated node: who is let in, and what an exec request becomes."""

from __future__ import annotations

import shlex
from collections.abc import Callable

import paramiko
from paramiko.common import (
    AUTH_FAILED,
    AUTH_SUCCESSFUL,
    MSG_CHANNEL_CLOSE,
    MSG_CHANNEL_EOF,
    MSG_CHANNEL_REQUEST,
    OPEN_FAILED_ADMINISTRATIVELY_PROHIBITED,
    OPEN_SUCCEEDED,
)

from healthcheck.launchers.wrapper import unwrap
from healthcheck.model.host import Host
from healthcheck.simulator.answers import answer
from healthcheck.simulator.cluster import SimCluster
from healthcheck.simulator.commands import RunningCommand, Timetable
from healthcheck.simulator.files import Disk

_NO_DEADLINE = float("inf")


class Door(paramiko.ServerInterface):
    """One connection: lets the one client key in, and turns exec requests into answers. Calls `asked` at each one."""

    def __init__(
        self,
        cluster: SimCluster,
        host: Host,
        disk: Disk,
        client_key: paramiko.PKey,
        timetable: Timetable,
        asked: Callable[[], None],
    ) -> None:
        self._cluster = cluster
        self._host = host
        self._disk = disk
        self._client_key = client_key
        self._timetable = timetable
        self._asked = asked
        self._commands: dict[int, RunningCommand] = {}

    def get_allowed_auths(self, username: str) -> str:
        return "publickey"

    def check_auth_publickey(self, username: str, key: paramiko.PKey) -> int:
        return AUTH_SUCCESSFUL if key == self._client_key else AUTH_FAILED

    def check_channel_request(self, kind: str, chanid: int) -> int:
        if kind == "session":
            return OPEN_SUCCEEDED
        return OPEN_FAILED_ADMINISTRATIVELY_PROHIBITED

    def check_channel_exec_request(self, channel: paramiko.Channel, command: bytes) -> bool:
        self._asked()
        line = command.decode(errors="replace")
        wrapped = unwrap(line)
        argv = wrapped.argv if wrapped is not None else _words(line)
        reply = answer(self._cluster, self._host, argv, self._disk.files)
        if reply.removes:
            self._disk.remove_tree(reply.removes)
        deadline_s = wrapped.deadline_s if wrapped is not None else _NO_DEADLINE
        self._commands[channel.chanid] = RunningCommand(
            channel, reply, deadline_s, wrapped is not None, self._timetable
        )
        return True

    def request_answered(self, channel: paramiko.Channel) -> None:
        """The client knows that its command runs: output may follow."""
        command = self._commands.get(channel.chanid)
        if command is not None:
            command.begin()

    def stdin_ended(self, channel: paramiko.Channel) -> None:
        """The client closed its side."""
        command = self._commands.get(channel.chanid)
        if command is not None:
            command.interrupt()

    def channel_closed(self, channel: paramiko.Channel) -> None:
        """The channel is gone, and with it its command."""
        command = self._commands.pop(channel.chanid, None)
        if command is not None:
            command.abandon()


def _request(channel: paramiko.Channel, message: paramiko.Message) -> None:
    paramiko.Channel._handle_request(channel, message)  # type: ignore[attr-defined] # no public hook
    door = _door(channel)
    if door is not None:
        door.request_answered(channel)


def _eof(channel: paramiko.Channel, message: paramiko.Message) -> None:
    paramiko.Channel._handle_eof(channel, message)  # type: ignore[attr-defined] # no public hook
    door = _door(channel)
    if door is not None:
        door.stdin_ended(channel)


def _close(channel: paramiko.Channel, message: paramiko.Message) -> None:
    door = _door(channel)
    if door is not None:
        door.channel_closed(channel)
    paramiko.Channel._handle_close(channel, message)  # type: ignore[attr-defined] # no public hook


def _door(channel: paramiko.Channel) -> Door | None:
    server = channel.get_transport().server_object
    return server if isinstance(server, Door) else None


class Session(paramiko.Transport):
    """A connection that tells its door when a request was answered and when stdin ended.

    paramiko offers no public hook for either, and a command that answers before the client has heard that it runs
    looks to the client like a channel that was closed on it.
    """

    _channel_handler_table = {  # noqa: RUF012 - as in the base class
        **paramiko.Transport._channel_handler_table,  # type: ignore[attr-defined] # no public hook
        MSG_CHANNEL_REQUEST: _request,
        MSG_CHANNEL_EOF: _eof,
        MSG_CHANNEL_CLOSE: _close,
    }


def _words(line: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(line))
    except ValueError:
        return ()
