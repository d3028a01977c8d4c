"""What `~/.ssh/config` says about a host, resolved by fabric once per host from one shared, parsed configuration.

paramiko's parser knows no `Include`; the files it names are put in its place before parsing, as text.
"""

from __future__ import annotations

import shlex
from glob import glob
from io import StringIO
from pathlib import Path

from fabric import Config, Connection
from msgspec import Struct
from paramiko.config import SSHConfig, SSHConfigDict
from paramiko.ssh_exception import ConfigParseError

from healthcheck.edge.given_files import open_given
from healthcheck.edge.known_hosts import host_names
from healthcheck.edge.places import at_home
from healthcheck.errors import InputError
from healthcheck.model.host import Host
from healthcheck.workflows.files_only import files_only

USER_FILE = Path("~/.ssh/config")
SYSTEM_FILE = Path("/etc/ssh/ssh_config")
_INCLUDE_DEPTH = 16
_DEFAULT_KEYS = ("~/.ssh/id_ed25519", "~/.ssh/id_ecdsa", "~/.ssh/id_rsa")
_USER_KNOWN_HOSTS = "~/.ssh/known_hosts ~/.ssh/known_hosts2"
_GLOBAL_KNOWN_HOSTS = "/etc/ssh/ssh_known_hosts /etc/ssh/ssh_known_hosts2"


class SshSettings(Struct, frozen=True):
    """How to log in. Times in seconds. `config_file` None means the user's and the system's."""

    config_file: Path | None = None
    identity_files: tuple[Path, ...] = ()
    known_hosts_file: Path | None = None
    accept_new: bool = False
    connect_timeout_s: float = 5.0
    login_timeout_s: float = 30.0
    keepalive_s: int = 15


class Route(Struct, frozen=True):
    """The way to one host: where to connect, as whom, with which keys, and whose key to expect there.

    `jumps` are the hops of ProxyJump, first hop first, as written. `key_names` are the names to look for in
    known_hosts, `printed_names` those under which other ssh clients will ask for the host.
    """

    hostname: str
    port: int
    user: str
    identity_files: tuple[Path, ...]
    identities_only: bool
    use_agent: bool
    known_hosts_files: tuple[Path, ...]
    key_names: tuple[str, ...]
    printed_names: tuple[str, ...]
    jumps: tuple[str, ...] = ()
    proxy_command: str | None = None


class _Parsed(SSHConfig):
    """paramiko's parser, which asks DNS for the name of this machine for every value it expands."""

    def _tokenize(self, config: SSHConfigDict, target_hostname: str, key: str, value: str) -> str:
        """Only values with something to expand; a leading `~` of a path is expanded by us."""
        if "%" not in value and key != "proxycommand":
            return value
        return str(super()._tokenize(config, target_hostname, key, value))  # type: ignore[misc] # paramiko carries no type for it


class _NoStrategy:
    """What fabric reads as "no strategy of mine"; ours goes in beside it."""

    strategy_class = None


class _PlainConnection(Connection):  # type: ignore[misc] # fabric carries no types
    """A fabric connection that only reads the Config it shares with all others.

    fabric's own writes attributes it does not know and the key files of each host into the Config, while other
    threads are reading it.
    """

    inline_ssh_env = True
    authentication = _NoStrategy
    __setattr__ = object.__setattr__

    def resolve_connect_kwargs(self, connect_kwargs: dict[str, object] | None) -> dict[str, object]:
        """As given: key files are ours to choose (`ssh_identity`)."""
        return connect_kwargs or {}


class SshConfiguration:
    """One parsed ssh configuration and one fabric Config for all hosts."""

    def __init__(self, settings: SshSettings) -> None:
        self._settings = settings
        parsed = _Parsed()
        files = [settings.config_file] if settings.config_file else [USER_FILE, SYSTEM_FILE]
        for file in files:
            text = _with_includes(at_home(file), required=settings.config_file is not None)
            try:
                parsed.parse(StringIO(text))
            except ConfigParseError as error:
                raise InputError(str(file), f"is no usable ssh configuration: {error}") from error
        # lazy: none of fabric's and invoke's own configuration files (one of them is Python code) is read
        self._config = Config(ssh_config=parsed, lazy=True)

    def connection(self, host: Host) -> tuple[Connection, Route]:
        """A fabric connection, not yet opened, and the way it will take.

        Raises what paramiko raises for a configuration it cannot apply (ConfigParseError, ValueError, KeyError).
        """
        connection = _PlainConnection(
            host.address,
            user=host.user,
            port=host.port,
            config=self._config,
            gateway=False,  # jumps are opened by us, one connection for all the hosts behind them
            connect_timeout=int(self._settings.login_timeout_s),
            forward_agent=False,
        )
        return connection, self._route(host, connection)

    def _route(self, host: Host, connection: Connection) -> Route:
        options: dict[str, str | list[str]] = dict(connection.ssh_config)
        hostname, port = str(connection.host), int(connection.port)
        identities = _paths(tuple(_texts(options.get("identityfile", []))) or _DEFAULT_KEYS)
        if self._settings.known_hosts_file:
            known: tuple[Path, ...] = (self._settings.known_hosts_file,)
        else:
            known = _split_paths(f"{options.get('userknownhostsfile', _USER_KNOWN_HOSTS)}")
            known += _split_paths(f"{options.get('globalknownhostsfile', _GLOBAL_KNOWN_HOSTS)}")
        alias = options.get("hostkeyalias")
        asked = dict.fromkeys(name.lower() for name in (host.name, host.address, hostname))
        jumps = f"{options.get('proxyjump', 'none')}"
        command = f"{options.get('proxycommand', 'none')}"
        return Route(
            hostname=hostname,
            port=port,
            user=str(connection.user),
            identity_files=(*self._settings.identity_files, *identities),
            identities_only=options.get("identitiesonly") == "yes",
            use_agent=options.get("identityagent") != "none",
            known_hosts_files=known or _split_paths(_USER_KNOWN_HOSTS),
            key_names=(str(alias).lower(),) if alias else host_names(hostname, port),
            printed_names=tuple(host_names(name, port)[0] for name in asked),
            jumps=() if jumps.lower() == "none" else tuple(hop.strip() for hop in jumps.split(",")),
            proxy_command=None if command.lower() == "none" else command,
        )


def _paths(names: tuple[str, ...]) -> tuple[Path, ...]:
    return tuple(at_home(Path(name)) for name in names if name != "none")


def _split_paths(words: str) -> tuple[Path, ...]:
    """Several files, or one whose name holds blanks: paramiko has already taken its quotes away."""
    whole = _paths((words,))
    return whole if any(path.exists() for path in whole) else _paths(tuple(shlex.split(words)))


def _texts(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value


def _with_includes(file: Path, *, required: bool = False, depth: int = 0) -> str:
    try:
        with open_given(file) if required else open(file, "rb", opener=files_only) as source:
            text = source.read().decode("utf-8", "replace")
    except OSError as error:
        if required:
            raise InputError(str(file), f"the ssh configuration cannot be read: {error.strerror}") from error
        return ""
    lines = []
    for line in text.splitlines():
        word, _, rest = line.strip().replace("=", " ", 1).partition(" ")
        if word.lower() != "include":
            lines.append(line)
            continue
        for pattern in shlex.split(rest) if depth < _INCLUDE_DEPTH else ():
            path = at_home(Path(pattern))
            path = path if path.is_absolute() else file.parent / path
            lines += [_with_includes(Path(found), depth=depth + 1) for found in sorted(glob(str(path)))]  # noqa: PTH207 - absolute patterns
    return "\n".join(lines) + "\n"
