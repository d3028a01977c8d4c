"""A command on an SSH channel: its output moved without a thread, its end awaited without polling."""

from __future__ import annotations

import contextlib
from threading import Event

from paramiko import Channel, Message, SSHException
from paramiko.common import cMSG_CHANNEL_REQUEST

from healthcheck.edge.ending import Ending
from healthcheck.launchers.wrapper import wrap
from healthcheck.model.command import Command, CommandResult, ExitKind
from healthcheck.model.message import say
from healthcheck.ports import Clock, Sink

_PIECE = 65536
_PIECES_A_POLL = 16
_NAP_S = 0.5
"""How often `wait` looks at what raises no event: an exit code while the output is still held open."""


class SshRunning:
    """One wrapper at the far end of a channel. Holds no thread; the channel belongs to it alone."""

    def __init__(self, channel: Channel, command: Command, sink: Sink, clock: Clock) -> None:
        self._channel = channel
        self._sink = sink
        self._ending = Ending(command, clock)
        self._result: CommandResult | None = None
        self._awake = _Wake()
        channel.in_buffer.set_event(self._awake)
        channel.in_stderr_buffer.set_event(self._awake)
        request(channel, "exec", wrap(command))

    def poll(self) -> CommandResult | None:
        """Move output into the sink; the result once it is known."""
        if self._result is None:
            self._move_output()
            self._result = self._judge()
            if self._result is not None:
                _close(self._channel)
        return self._result

    def wait(self, timeout_s: float) -> CommandResult | None:
        """Sleep until the channel says something, for at most `timeout_s`."""
        end = self._ending.seconds + timeout_s
        while True:
            self._awake.forget()
            if self.poll() is not None or (left := end - self._ending.seconds) <= 0:
                return self._result
            nap_s = min(left, self._ending.patience_s(), _NAP_S)
            if self._output_ended:
                self._channel.status_event.wait(nap_s)
            else:
                self._awake.wait(nap_s)

    def stop(self) -> None:
        """End the wrapper's stdin, which is its signal to end the command."""
        if self._result is None and self._ending.ask_stop():
            with contextlib.suppress(SSHException, OSError, EOFError):
                self._channel.shutdown_write()

    @property
    def _output_ended(self) -> bool:
        channel = self._channel
        over = channel.eof_received or channel.closed
        return bool(over and not channel.recv_ready() and not channel.recv_stderr_ready())

    def _move_output(self) -> None:
        channel = self._channel
        for _ in range(_PIECES_A_POLL):
            if channel.recv_ready():
                self._sink.stdout(channel.recv(_PIECE))
            if channel.recv_stderr_ready():
                self._sink.stderr(channel.recv_stderr(_PIECE))
            if not channel.recv_ready() and not channel.recv_stderr_ready():
                return
        self._awake.set()

    def _judge(self) -> CommandResult | None:
        channel = self._channel
        # read in this order: what is set after the exit code must not be missed
        told = channel.status_event.is_set()
        if told and channel.exit_status >= 0:
            if self._output_ended or self._ending.lingers():
                return self._ending.exited(channel.exit_status)
            return None
        if channel.closed and self._output_ended:
            return self._without_exit_code()
        return self._ending.overdue()

    def _without_exit_code(self) -> CommandResult:
        transport = self._channel.get_transport()
        if not transport.is_active():
            error = transport.get_exception()
            return self._ending.lost(str(error or "") or say("host.closed"))
        if not self._channel.event_ready:
            reason = say("host.session_refused", detail=say("host.exec_failed"))
            return CommandResult(ExitKind.LOGIN_REFUSED, None, self._ending.seconds, reason)
        return self._ending.killed()


class _Wake(Event):
    """One event for two buffers. Each buffer clears it when it runs empty, which says nothing about the other one:
    only the waiter takes it back, before it looks."""

    def clear(self) -> None:
        """Not by a buffer."""

    def forget(self) -> None:
        """By the waiter."""
        super().clear()


def request(channel: Channel, kind: str, argument: str) -> None:
    """Send a channel request ("exec", "subsystem") without waiting for its answer.

    paramiko's own methods wait for it without a limit: an sshd that stopped in mid-sentence would hold a worker for
    ever. A refusal shows as a closed channel whose `event_ready` never came.
    """
    message = Message()
    message.add_byte(cMSG_CHANNEL_REQUEST)
    message.add_int(channel.remote_chanid)
    message.add_string(kind)
    message.add_boolean(True)
    message.add_string(argument)
    channel._event_pending()  # type: ignore[attr-defined] # nothing public does this
    channel.transport._send_user_message(message)  # type: ignore[union-attr] # an open channel has one


def _close(channel: Channel) -> None:
    with contextlib.suppress(SSHException, OSError, EOFError):
        channel.close()
