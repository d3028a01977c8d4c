"""With which keys to log in: each key file is read once for all hosts, the agent is asked per connection."""

from __future__ import annotations

import os
from binascii import Error as Base64Error
from binascii import a2b_base64
from collections.abc import Iterator
from pathlib import Path
from threading import Lock

from cryptography.exceptions import UnsupportedAlgorithm
from msgspec import Struct
from paramiko import Agent, PKey, SSHException, Transport
from paramiko.auth_strategy import AuthFailure, AuthStrategy, InMemoryPrivateKey, NoneAuth
from paramiko.config import SSHConfig
from paramiko.pkey import UnknownKeyType
from paramiko.ssh_exception import BadAuthenticationType

from healthcheck.edge.ssh_config import Route
from healthcheck.model.message import Arg, listed, say


class _Loaded(Struct, frozen=True):
    """A key file: the private key, or why it is of no use; `public` is the key blob where the .pub file tells it."""

    key: PKey | None
    problem: Arg
    public: bytes | None


class Identities:
    """The key files, read once. Safe from many threads. No secret ever leaves in a text."""

    def __init__(self) -> None:
        self._files: dict[Path, _Loaded | None] = {}
        self._lock = Lock()

    def load(self, path: Path) -> _Loaded | None:
        """None when there is no such file."""
        with self._lock:
            if path not in self._files:
                self._files[path] = _load(path)
            return self._files[path]


class KeyLogin(AuthStrategy):
    """Tries the keys of a route in the order of OpenSSH and remembers what was tried."""

    def __init__(self, route: Route, identities: Identities) -> None:
        super().__init__(ssh_config=SSHConfig())
        self._route = route
        self._identities = identities
        self.tried: list[Arg] = []

    def get_sources(self) -> Iterator[InMemoryPrivateKey | NoneAuth]:
        """Agent keys that belong to a key file, key files, the other agent keys; `none` tells what is allowed."""
        files = {path: found for path in self._route.identity_files if (found := self._identities.load(path))}
        agent = self._agent_keys()
        configured = {found.public for found in files.values()}
        for key in agent:
            if key.asbytes() in configured:
                yield self._source("agent", key)
        in_agent = {key.asbytes() for key in agent}
        for path, found in files.items():
            if found.public in in_agent:
                continue
            if found.key is None:
                self.tried.append(say("host.key_tried", key=str(path), problem=found.problem))
            else:
                yield self._source(str(path), found.key)
        if not self._route.identities_only:
            for key in agent:
                if key.asbytes() not in configured:
                    yield self._source("agent", key)
        yield NoneAuth(username=self._route.user)

    def _source(self, origin: str, key: PKey) -> InMemoryPrivateKey:
        self.tried.append(f"{origin} {key.get_name()}")
        return _WholeLogin(username=self._route.user, pkey=key)

    def _agent_keys(self) -> list[PKey]:
        if not self._route.use_agent or "SSH_AUTH_SOCK" not in os.environ:
            return []
        try:
            return list(Agent().get_keys())
        except (SSHException, OSError):
            return []


class _WholeLogin(InMemoryPrivateKey):
    """A key that suffices; one after which the server wants a password too is a refusal."""

    def authenticate(self, transport: Transport) -> list[str]:
        """The empty list: nothing more is asked for."""
        more = list(super().authenticate(transport))
        if more:
            raise BadAuthenticationType("key accepted, but more is asked for", more)
        return more


def refusal(failure: AuthFailure, login: KeyLogin) -> Arg:
    """Which keys were tried and what the server takes instead."""
    accepts = {kind for _, result in failure.result for kind in getattr(result, "allowed_types", ())}
    told = [str(result) for _, result in failure.result if str(result) not in ("", "Authentication failed.")]
    told = [text for text in told if not text.startswith("Bad authentication type")]
    parts = [say("host.tried", keys=listed(login.tried)) if login.tried else say("host.no_key")]
    if accepts:
        parts.append(say("host.takes", kinds=", ".join(sorted(accepts))))
    return listed((*parts, *told[-1:]), "text.semicolon")


def _load(path: Path) -> _Loaded | None:
    try:
        key: PKey = PKey.from_path(path)
    except FileNotFoundError:
        return None
    except TypeError:  # cryptography's way of saying: encrypted
        return _Loaded(None, say("host.needs_passphrase"), _public(path))
    except (OSError, ValueError, SSHException, UnknownKeyType, UnsupportedAlgorithm) as error:
        told = error.strerror if isinstance(error, OSError) else None
        reason = told or say("host.no_private_key")
        return _Loaded(None, reason, _public(path))
    return _Loaded(key, "", key.asbytes())


def _public(path: Path) -> bytes | None:
    try:
        return a2b_base64(path.with_name(path.name + ".pub").read_text().split()[1])
    except (OSError, IndexError, Base64Error, UnicodeDecodeError):
        return None
