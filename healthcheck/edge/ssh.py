"""`ports.Transport` over SSH: one connection a host, kept for the whole run, host keys always checked."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Sequence
from threading import Lock

from paramiko import SSHException

from healthcheck.edge.push import ContentHashes, push_files
from healthcheck.edge.ssh_config import SshSettings
from healthcheck.edge.ssh_files import SftpFiles
from healthcheck.edge.ssh_login import Link, Logins
from healthcheck.edge.ssh_running import SshRunning
from healthcheck.model.command import Command, CommandResult, ExitKind
from healthcheck.model.host import Host
from healthcheck.model.message import say
from healthcheck.ports import Clock, NeverStarted, PushFile, PushResult, Reached, Running, Sink

__all__ = ["SshSettings", "SshTransport"]

_SESSION_PAUSES_S = (0.2, 0.5, 1.0, 2.0)
"""Pauses before asking again for a session that the server did not give (MaxSessions), or over a
connection that is breaking."""
_HASH_DEADLINE_S = 120.0
_SFTP_SILENCE_S = 60.0


class SshTransport:
    """Runs commands through sshd. Safe to call from many threads; each host has a lock of its own."""

    def __init__(self, settings: SshSettings, clock: Clock) -> None:
        _silence_paramiko()
        self._settings = settings
        self._clock = clock
        self._logins = Logins(settings, clock)
        self._hashes = ContentHashes()
        self._links: dict[str, Link] = {}  # by host name, the key everywhere: slots and labels may be filled in later
        self._locks: dict[str, Lock] = {}
        self._lock = Lock()

    def connect(self, host: Host) -> Reached:
        """Log in, or find the connection that stands."""
        link = self._link(host)
        if isinstance(link, CommandResult):
            return Reached(result=link)
        return Reached(known_hosts=link.known_hosts)

    def start(self, host: Host, command: Command, sink: Sink) -> Running:
        """Start the wrapper on a channel of the host's connection; a connection that died is made anew once."""
        started = self._clock.monotonic()
        for pause_s in (*_SESSION_PAUSES_S, None):
            link = self._link(host)
            if isinstance(link, CommandResult):
                return NeverStarted(link)
            try:
                channel = link.transport.open_session(timeout=self._settings.login_timeout_s)
                return SshRunning(channel, command, sink, self._clock)
            except (SSHException, OSError, EOFError) as error:
                # a server that keeps us waiting is not asked again; one that says no, or a link that just died, is
                slow = self._clock.monotonic() - started > self._settings.login_timeout_s / 2
                if pause_s is None or slow:
                    detail = str(error) or type(error).__name__
                    break
            self._clock.sleep(pause_s)
        reason = say("host.session_refused", detail=detail)
        return NeverStarted(CommandResult(ExitKind.UNREACHABLE, None, self._clock.monotonic() - started, reason))

    def push(self, host: Host, folder: str, files: Sequence[PushFile]) -> PushResult:
        """Copy what differs by SFTP."""
        link = self._link(host)
        if isinstance(link, CommandResult):
            return PushResult(folder=None, reason=link.reason)

        def run(argv: tuple[str, ...]) -> tuple[int | None, str]:
            output = _Stdout()
            command = Command(argv=argv, deadline_s=_HASH_DEADLINE_S, token=f"push-{secrets.token_hex(6)}")
            running = self.start(host, command, output)
            while (result := running.wait(_HASH_DEADLINE_S)) is None:
                continue
            return result.exit_code, output.text

        try:
            remote = SftpFiles(link.transport, run, _SFTP_SILENCE_S)
        except (SSHException, OSError, EOFError) as error:
            detail = say("host.no_sftp", text=str(error) or type(error).__name__)
            return PushResult(folder=None, reason=say("push.refused", detail=detail))
        try:
            return push_files(remote, folder, files, self._hashes)
        except SSHException as error:
            return PushResult(folder=None, reason=say("push.refused", detail=str(error)))
        finally:
            remote.close()

    def close(self) -> None:
        """Close every connection; commands still running there are ended by their wrappers."""
        with self._lock:
            links = list(self._links.values())
            self._links.clear()
        for link in links:
            link.close()
        self._logins.close()

    def _link(self, host: Host) -> Link | CommandResult:
        with self._lock:
            lock = self._locks.setdefault(host.name, Lock())
        with lock:
            link = self._links.get(host.name)
            if link is not None and link.alive:
                return link
            opened = self._logins.open(host)
            if isinstance(opened, Link):
                self._links[host.name] = opened
            return opened


class _Stdout:
    """A sink that keeps standard output, for the few lines of a digest command."""

    def __init__(self) -> None:
        self.text = ""

    def stdout(self, data: bytes) -> None:
        """Keep."""
        self.text += data.decode("utf-8", "replace")

    def stderr(self, data: bytes) -> None:
        """Let go."""


def _silence_paramiko() -> None:
    """Its log lines would reach the user through logging's last resort; everything in them is told as a result."""
    logger = logging.getLogger("paramiko")
    logger.propagate = False
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())
