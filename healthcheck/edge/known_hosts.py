"""The known_hosts files, read once and shared by every connection.

Handles plain, comma-separated, `[host]:port`, wildcard, negated and hashed (`|1|salt|hash`) names, and `@revoked`
lines. `@cert-authority` lines are passed over: paramiko does not speak host certificates. Format: sshd(8),
SSH_KNOWN_HOSTS FILE FORMAT.
"""

from __future__ import annotations

import fcntl
import hashlib
import hmac
import os
import re
from binascii import Error as Base64Error
from binascii import a2b_base64, b2a_base64
from collections import defaultdict
from collections.abc import Sequence
from enum import Enum
from fnmatch import translate
from pathlib import Path
from threading import Lock

from msgspec import Struct

from healthcheck.workflows.files_only import read_file

SSH_PORT = 22


class KnownKey(Struct, frozen=True):
    """A host key as it stands in a file: type (`ssh-ed25519`) and base64 of the key."""

    type: str
    base64: str

    @property
    def fingerprint(self) -> str:
        """`SHA256:...`, as ssh prints it."""
        digest = hashlib.sha256(a2b_base64(self.base64)).digest()
        return "SHA256:" + b2a_base64(digest, newline=False).decode().rstrip("=")


class Standing(Enum):
    """What the files say about a key a host shows."""

    KNOWN = "known"
    UNKNOWN = "unknown"
    CHANGED = "changed"


class _Pattern(Struct, frozen=True):
    wanted: re.Pattern[str] | None
    unwanted: re.Pattern[str] | None
    key: KnownKey

    def matches(self, name: str) -> bool:
        if self.unwanted and self.unwanted.fullmatch(name):
            return False
        return bool(self.wanted and self.wanted.fullmatch(name))


def host_names(address: str, port: int) -> tuple[str, ...]:
    """Under which names ssh looks for a host, the first that is found decides."""
    address = address.lower()
    return (address,) if port == SSH_PORT else (f"[{address}]:{port}", address)


class KnownHosts:
    """The joined content of some known_hosts files; a missing file is an empty one. Safe from many threads."""

    def __init__(self, files: Sequence[Path]) -> None:
        self._files = tuple(files)
        self._lock = Lock()
        self._named: defaultdict[str, list[KnownKey]] = defaultdict(list)
        self._hashed: list[tuple[bytes, bytes, KnownKey]] = []
        self._patterns: list[_Pattern] = []
        self._revoked: set[KnownKey] = set()
        self._found: dict[str, tuple[KnownKey, ...]] = {}
        for file in self._files:
            try:
                text = read_file(file).decode("utf-8", "replace")
            except OSError:
                continue
            for line in text.splitlines():
                self._take(line)

    @property
    def file(self) -> Path:
        """Where a newly accepted key goes: the first file."""
        return self._files[0]

    def keys(self, names: Sequence[str]) -> tuple[KnownKey, ...]:
        """The keys of the first of `names` that is known; empty when none is."""
        for name in names:
            if found := self._look(name):
                return found
        return ()

    def judge(self, names: Sequence[str], key: KnownKey) -> Standing:
        """Compare the key a host shows. A key of another type than the known ones counts as changed."""
        if key in self._revoked:
            return Standing.CHANGED
        known = self.keys(names)
        if key in known:
            return Standing.KNOWN
        return Standing.CHANGED if known else Standing.UNKNOWN

    def remember(self, name: str, key: KnownKey) -> None:
        """Append a line to the first file, whole or not at all, also beside other writers; OSError when it cannot."""
        with self._lock:
            self.file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(self.file, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
                size = os.fstat(descriptor).st_size
                torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
                os.write(descriptor, f"{chr(10) if torn else ''}{name} {key.type} {key.base64}\n".encode())
            finally:
                os.close(descriptor)
            self._named[name].append(key)
            self._found.pop(name, None)

    def _take(self, line: str) -> None:
        words = line.split()
        marker = words.pop(0) if words and words[0].startswith("@") else ""
        if len(words) < 3 or words[0].startswith("#") or marker == "@cert-authority":
            return
        key = KnownKey(type=words[1], base64=words[2])
        if marker == "@revoked":
            self._revoked.add(key)
            return
        if words[0].startswith("|1|"):
            try:
                salt, digest = (a2b_base64(part) for part in words[0].split("|")[2:4])
            except (Base64Error, ValueError):
                return
            self._hashed.append((salt, digest, key))
            return
        names = words[0].lower().split(",")
        if any(character in words[0] for character in "*?!"):
            wanted = [translate(_literal_brackets(name)) for name in names if not name.startswith("!")]
            unwanted = [translate(_literal_brackets(name[1:])) for name in names if name.startswith("!")]
            self._patterns.append(_Pattern(_any_of(wanted), _any_of(unwanted), key))
            return
        for name in names:
            self._named[name].append(key)

    def _look(self, name: str) -> tuple[KnownKey, ...]:
        found = self._found.get(name)
        if found is None:
            keys = list(self._named.get(name, ()))
            keys += [pattern.key for pattern in self._patterns if pattern.matches(name)]
            word = name.encode()
            keys += [key for salt, digest, key in self._hashed if hmac.digest(salt, word, "sha1") == digest]
            found = self._found[name] = tuple(dict.fromkeys(keys))
        return found


def _any_of(patterns: Sequence[str]) -> re.Pattern[str] | None:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns)) if patterns else None


def _literal_brackets(name: str) -> str:
    """`[` is no wildcard in known_hosts, as it is in a shell pattern."""
    return name.replace("[", "[[]")
