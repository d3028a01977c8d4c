"""Getting from a host as written to a logged-in connection, or to the result that says why not.

A TCP look comes first, so that a dead host costs `connect_timeout_s` and not the minutes of the kernel; its socket
carries the login, with TCP_NODELAY (paramiko leaves Nagle on: 40 ms a step).
"""

from __future__ import annotations

import contextlib
import shlex
import socket
from collections.abc import Callable
from pathlib import Path
from threading import Lock, RLock

from fabric import Connection
from msgspec import Struct, structs
from paramiko import (
    Channel,
    ChannelException,
    MissingHostKeyPolicy,
    PKey,
    ProxyCommand,
    SSHClient,
    SSHException,
    Transport,
)
from paramiko.auth_strategy import AuthFailure
from paramiko.ssh_exception import AuthenticationException, ConfigParseError, CouldNotCanonicalize

from healthcheck.edge.known_hosts import KnownHosts, KnownKey, Standing
from healthcheck.edge.ssh_config import Route, SshConfiguration, SshSettings
from healthcheck.edge.ssh_identity import Identities, KeyLogin, refusal
from healthcheck.model.command import CommandResult, ExitKind
from healthcheck.model.host import Host
from healthcheck.model.message import Arg, Message, say
from healthcheck.ports import Clock

_DEAD_LINK_S = 45
_LOOKS = (0.3, 1.0)
"""Pauses before looking again at a port that refused: an sshd may be restarting."""
_LOGINS = (0.5, 1.5, 3.0)
"""Pauses before logging in again after the server dropped us before its banner (MaxStartups)."""

_SLOW_NAMES_S = 2.0
"""A name server that let us wait this long is not asked again."""
_DROPPED_WITHIN_S = 5.0
_DROPPED = (SSHException, EOFError, ConnectionResetError, BrokenPipeError)
_JUMP_FAILURE_HOLDS_S = 10.0

Sock = socket.socket | Channel | ProxyCommand


class Link(Struct):
    """A logged-in connection to one host, and its verified known_hosts lines."""

    connection: Connection
    transport: Transport
    known_hosts: tuple[str, ...]

    @property
    def alive(self) -> bool:
        """Whether a command can still be started over it."""
        return bool(self.transport.is_active())

    def close(self) -> None:
        """End it; never raises."""
        with contextlib.suppress(OSError, EOFError, SSHException):
            self.connection.close()


class _Refused(SSHException):
    """Carries a verdict out of paramiko's host key callback."""

    def __init__(self, kind: ExitKind, message: Message) -> None:
        super().__init__(message.code)
        self.kind = kind
        self.message = message


class _CheckHostKey(MissingHostKeyPolicy):
    """paramiko asks for every key, because it is given none itself: the shared files are looked at here."""

    def __init__(self, known: KnownHosts, route: Route, accept_new: bool) -> None:
        self._known = known
        self._route = route
        self._accept_new = accept_new

    def missing_host_key(self, client: SSHClient, hostname: str, key: PKey) -> None:
        """Silent when the key is known; else `_Refused`."""
        shown = KnownKey(type=key.get_name(), base64=key.get_base64())
        standing = self._known.judge(self._route.key_names, shown)
        name = self._route.key_names[0]
        accept = f"echo {shlex.quote(f'{name} {shown.type} {shown.base64}')} >> {shlex.quote(str(self._known.file))}"
        fingerprint = f"{shown.type} {shown.fingerprint}"
        if standing is Standing.CHANGED:
            forget = f"ssh-keygen -R {shlex.quote(name)} -f {shlex.quote(str(self._known.file))}"
            command = f"{forget}; {accept}"
            raise _Refused(ExitKind.HOST_KEY_CHANGED, say("host.key_changed", fingerprint=fingerprint, command=command))
        if standing is Standing.UNKNOWN:
            unknown = say("host.key_unknown", fingerprint=fingerprint, command=accept)
            if not self._accept_new:
                raise _Refused(ExitKind.HOST_KEY_UNKNOWN, unknown)
            try:
                self._known.remember(name, shown)
            except OSError as error:
                raise _Refused(ExitKind.HOST_KEY_UNKNOWN, unknown) from error


class Logins:
    """Opens links; what they share (configuration, key files, known_hosts, jump hosts) is read or opened once."""

    def __init__(self, settings: SshSettings, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._configuration = SshConfiguration(settings)
        self._identities = Identities()
        self._known: dict[tuple[Path, ...], KnownHosts] = {}
        self._jumps: dict[tuple[str, ...], tuple[Link | CommandResult, float]] = {}
        self._lock = Lock()
        self._jump_lock = RLock()

    def open(self, host: Host, jumps: tuple[str, ...] | None = None) -> Link | CommandResult:
        """Log in; a host that cannot be reached is a result. `jumps` replaces what ProxyJump says."""
        started = self._clock.monotonic()
        try:
            connection, route = self._configuration.connection(host)
        except (ConfigParseError, CouldNotCanonicalize, ValueError, KeyError, OSError) as error:
            reason = say("host.config", address=host.address, detail=str(error))
            return CommandResult(ExitKind.UNREACHABLE, None, self._clock.monotonic() - started, reason)
        if jumps is not None:
            route = structs.replace(route, jumps=jumps)
        try:
            return self._login(connection, route)
        except (SSHException, OSError, EOFError) as error:
            kind, reason = _why(error, route)
            return CommandResult(kind, None, self._clock.monotonic() - started, reason)

    def close(self) -> None:
        """Close the connections to jump hosts."""
        with self._jump_lock:
            for link, _ in self._jumps.values():
                if isinstance(link, Link):
                    link.close()
            self._jumps.clear()

    def _login(self, connection: Connection, route: Route) -> Link:
        known = self._known_hosts(route)
        client: SSHClient = connection.client
        client.set_missing_host_key_policy(_CheckHostKey(known, route, self._settings.accept_new))
        types = list(dict.fromkeys(key.type for key in known.keys(route.key_names)))
        for pause_s in (*_LOGINS, None):
            login = KeyLogin(route, self._identities)
            started = self._clock.monotonic()
            connection.connect_kwargs = {
                "sock": self._sock(route),
                "auth_strategy": login,
                "transport_factory": _preferring(types),
                "banner_timeout": self._settings.login_timeout_s,
                "auth_timeout": self._settings.login_timeout_s,
                "channel_timeout": self._settings.login_timeout_s,
            }
            try:
                connection.open()
                break
            except (SSHException, OSError, EOFError) as error:
                client.close()
                quick = self._clock.monotonic() - started < min(_DROPPED_WITHIN_S, self._settings.login_timeout_s / 2)
                if isinstance(error, AuthFailure):
                    raise _Refused(*_login_refused(error, login, route)) from error
                if pause_s is None or not quick or type(error) not in _DROPPED:
                    raise
            self._clock.sleep(pause_s)
        transport: Transport = connection.transport
        transport.set_keepalive(self._settings.keepalive_s)
        shown = transport.get_remote_server_key()
        line = f"{','.join(route.printed_names)} {shown.get_name()} {shown.get_base64()}"
        return Link(connection, transport, (line,))

    def _sock(self, route: Route) -> Sock:
        if route.jumps:
            jump = self._jump(route.jumps)
            if isinstance(jump, CommandResult):
                through = say("host.jump", jump=",".join(route.jumps), detail=jump.reason or "")
                raise _Refused(jump.kind, through)
            return jump.transport.open_channel(
                "direct-tcpip", (route.hostname, route.port), ("", 0), timeout=self._settings.connect_timeout_s
            )
        if route.proxy_command:
            return ProxyCommand(route.proxy_command)
        return look(route.hostname, route.port, self._settings.connect_timeout_s, self._clock)

    def _known_hosts(self, route: Route) -> KnownHosts:
        with self._lock:
            known = self._known.get(route.known_hosts_files)
            if known is None:
                known = self._known[route.known_hosts_files] = KnownHosts(route.known_hosts_files)
            return known

    def _jump(self, hops: tuple[str, ...]) -> Link | CommandResult:
        """The one connection to the last of `hops`, opened by whoever comes first; a failure holds for a while."""
        with self._jump_lock:
            link, until = self._jumps.get(hops, (None, 0.0))
            stale = not link.alive if isinstance(link, Link) else self._clock.monotonic() > until
            if link is None or stale:
                # as ssh does: the first hop may have a ProxyJump of its own, a later one goes through those before it
                link = self.open(_hop(hops[-1]), jumps=hops[:-1] or None)
                self._jumps[hops] = link, self._clock.monotonic() + _JUMP_FAILURE_HOLDS_S
            return link


def _hop(text: str) -> Host:
    """`user@host:port` of a ProxyJump."""
    user, _, place = text.rpartition("@")
    address, colon, port = place.rpartition(":")
    if not colon or not port.isdigit() or (":" in address and not address.endswith("]")):
        address, port = place, ""
    return Host(name=text, address=address.strip("[]"), port=int(port) if port else None, user=user or None)


def look(hostname: str, port: int, timeout_s: float, clock: Clock) -> socket.socket:
    """A connected socket without Nagle, watched by the kernel so that a dead link is noticed; OSError otherwise.

    A refused connection is tried again twice within 1.3 s; silence is not, the kernel repeated itself already.
    """
    started = clock.monotonic()
    for pause_s in (*_LOOKS, None):
        try:
            sock = socket.create_connection((hostname, port), timeout_s)
            break
        except (ConnectionRefusedError, ConnectionResetError):
            if pause_s is None:
                raise
            clock.sleep(pause_s)
        except socket.gaierror as error:
            slow = clock.monotonic() - started > _SLOW_NAMES_S
            if error.errno != socket.EAI_AGAIN or pause_s is None or slow:
                raise
            clock.sleep(pause_s)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _DEAD_LINK_S * 1000)
    return sock


def _preferring(types: list[str]) -> Callable[..., Transport]:
    """Makes transports that ask first for the kinds of host key we know, as ssh does."""

    def factory(sock: Sock, disabled_algorithms: dict[str, list[str]] | None = None) -> Transport:
        transport = Transport(sock, disabled_algorithms=disabled_algorithms)
        options = transport.get_security_options()
        wanted = [name for kind in types for name in _ALGORITHMS.get(kind, (kind,)) if name in options.key_types]
        if list(options.key_types[: len(wanted)]) != wanted:
            options.key_types = [*wanted, *(name for name in options.key_types if name not in wanted)]
        return transport

    return factory


_ALGORITHMS = {"ssh-rsa": ("rsa-sha2-512", "rsa-sha2-256")}


def _why(error: Exception, route: Route) -> tuple[ExitKind, Message]:
    if isinstance(error, _Refused):
        return error.kind, error.message
    if isinstance(error, socket.gaierror):
        detail = error.strerror or str(error)
        return ExitKind.UNREACHABLE, say("host.unresolvable", address=route.hostname, detail=detail)
    if isinstance(error, AuthenticationException):
        return ExitKind.LOGIN_REFUSED, say("host.login_refused", user=route.user, detail=_detail(error))
    return ExitKind.UNREACHABLE, say("host.unreachable", port=route.port, detail=_detail(error))


def _login_refused(failure: AuthFailure, login: KeyLogin, route: Route) -> tuple[ExitKind, Message]:
    if not any(isinstance(result, AuthenticationException) for _, result in failure.result):
        return ExitKind.UNREACHABLE, say("host.unreachable", port=route.port, detail=refusal(failure, login))
    return ExitKind.LOGIN_REFUSED, say("host.login_refused", user=route.user, detail=refusal(failure, login))


def _detail(error: Exception) -> Arg:
    if isinstance(error, TimeoutError):
        return say("host.no_answer_in_time")
    if isinstance(error, ChannelException):
        return say("host.jump_cannot", text=error.text)
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return text or type(error).__name__
