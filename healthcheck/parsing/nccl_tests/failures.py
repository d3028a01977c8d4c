"""Collects what proves a failure, and tells what only follows from another one."""

from __future__ import annotations

import re

import msgspec

from healthcheck.model.measurement import Failure, FailureKind
from healthcheck.parsing.nccl_tests import failure_rules

_KEPT = 200  # a crash of a thousand ranks says the same thing a thousand times
_MESSAGE_CHARS = 500

_NCCL_HOST = re.compile(r"(?P<host>[^\s:\[\]]{1,255}):\d+:\d+ \[")
_CHAIN = re.compile(r"\.(?:cc|cu|h):\d+ -> ([1-6])\b")
_REMOTE_ERROR = "6"
# What a process says when another one went away.
_REMOTE_TEXTS = ("remote process exited", "losed by remote peer", "Connection reset by peer", "Broken pipe")

_ROOT_CAUSES = frozenset(FailureKind) - {FailureKind.LAUNCHER, FailureKind.UNKNOWN, FailureKind.NO_MEASUREMENT}


class FailureLog:
    """Collects failures line by line. `soft` ones count only when no footer follows them."""

    def __init__(self) -> None:
        self._hard: list[Failure] = []
        self._soft: list[Failure] = []
        self._seen: set[tuple[FailureKind, str | None, str]] = set()

    def read(self, text: str, line: int | None) -> bool:
        """Look at one line that is not part of a table; True when it said something about a failure."""
        if "NCCL WARN" in text or "NCCL INFO" in text:
            self._read_nccl(text, line)
            return True
        found = failure_rules.of_program(text) or failure_rules.of_launcher(text)
        if found is None:
            return False
        kind, host = found
        self.add(kind, text, host, line)
        return True

    def add(self, kind: FailureKind, message: str, host: str | None = None, line: int | None = None) -> None:
        """A failure that counts in any case."""
        self._store(self._hard, Failure(kind, shown(message), host, line))

    def footer_came(self) -> None:
        """A table ended well after all: what NCCL only warned about did not break it, nor does the same behind it."""
        self._soft.clear()

    def table_began(self) -> None:
        """The next run: a warning that an earlier one survived may be what breaks this one."""
        self._seen = {_identity(failure) for failure in (*self._hard, *self._soft)}

    def settle(self, with_soft: bool) -> tuple[Failure, ...]:
        """All failures by line, those that only follow from another one marked."""
        failures = self._hard + (self._soft if with_soft else [])
        failures.sort(key=lambda failure: failure.line or 1 << 60)
        marked = [_marked(index, failures) for index in range(len(failures))]
        if marked and all(failure.secondary for failure in marked):
            marked[0] = msgspec.structs.replace(marked[0], secondary=False)
        return tuple(marked)

    @property
    def kinds(self) -> frozenset[FailureKind]:
        """The kinds of the failures that count in any case."""
        return frozenset(failure.kind for failure in self._hard)

    def _read_nccl(self, text: str, line: int | None) -> None:
        chain = _CHAIN.search(text) if " -> " in text else None
        if chain is None and (failure_rules.is_benign(text) or not _says_failure(text)):
            return
        if len(self._soft) >= _KEPT:
            return
        match = _NCCL_HOST.search(text)
        host = match["host"] if match else None
        if chain is not None:
            secondary = chain[1] == _REMOTE_ERROR or bool(self._soft or self._hard)
            key = f"-> {chain[1]}"
            self._store(self._soft, Failure(FailureKind.NCCL, shown(text), host, line, secondary), key)
        else:
            flushed = failure_rules.is_flushed(text)
            self._store(self._soft, Failure(failure_rules.of_detail(text), shown(text), host, line, flushed))

    def _store(self, shelf: list[Failure], failure: Failure, key: str | None = None) -> None:
        identity = (failure.kind, failure.host, key) if key else _identity(failure)
        if identity in self._seen or len(shelf) >= _KEPT:
            return
        self._seen.add(identity)
        shelf.append(failure)


def _says_failure(text: str) -> bool:
    return "NCCL WARN" in text or "Got completion" in text


def _identity(failure: Failure) -> tuple[FailureKind, str | None, str]:
    return failure.kind, failure.host, failure.message


def _marked(index: int, failures: list[Failure]) -> Failure:
    """`secondary` where another failure explains this one."""
    failure = failures[index]
    follows = failure.secondary
    if failure.kind not in _ROOT_CAUSES:
        follows = any(other.kind in _ROOT_CAUSES for other in failures)
    elif _is_remote(failure):
        follows = any(other.kind in _ROOT_CAUSES and not _is_remote(other) for other in failures)
    elif failure.kind in (FailureKind.KILLED, FailureKind.USAGE):
        # One crash or mistake is told by the process, its shell and its launcher.
        earlier = [other for other in failures[:index] if other.kind is failure.kind]
        follows = any(failure.host in (None, other.host) for other in earlier)
    return msgspec.structs.replace(failure, secondary=follows)


def _is_remote(failure: Failure) -> bool:
    return any(text in failure.message for text in _REMOTE_TEXTS)


def shown(text: str) -> str:
    """One line that is safe on a terminal: a log may hold anything."""
    line = " ".join(text.split())[:_MESSAGE_CHARS]
    return line if line.isprintable() else "".join(char if char.isprintable() else "?" for char in line)
