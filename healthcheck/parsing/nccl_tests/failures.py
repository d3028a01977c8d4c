"""Lines that prove a failure, and which of them only follow from another one."""

from __future__ import annotations

import re

import msgspec

from healthcheck.model.measurement import Failure, FailureKind

_KEPT = 200  # a crash of a thousand ranks says the same thing a thousand times
_MESSAGE_CHARS = 500

_TEST_FAILURE = re.compile(
    r"(?:(?P<host>[^\s:]+): Test )?(?P<lib>NCCL|CUDA|Cuda) failure \S+:\d+ '(?P<text>.*)", re.ASCII
)
_TEST_TIMEOUT = re.compile(r"(?P<host>[^\s:]+): Test timeout \(\d+s\) \S+:\d+")
_NCCL_HOST = re.compile(r"(?:\[[^\]]*\] )?(?P<host>[^\s:\[\]]+):\d+:\d+ \[")
_CHAIN = re.compile(r"\.(?:cc|cu|h):\d+ -> ([1-6])\b")
_REMOTE_ERROR = "6"
_COMPLETION = re.compile(r"Got completion .*?(?:status=|with error )(\d+)")
_REMOTE_TEXT = "remote process exited"
_FLUSHED = "5"
_SOCKET = re.compile(
    r"socket|call to (?:connect|bind|accept|recv|send|poll)|connection (?:refused|reset|closed|timed)", re.I
)
_BENIGN = ("Failed to open libibverbs.so", "Could not find a path for pattern")
_USAGE = re.compile(
    r"^\s*(?:USAGE: \S*_perf|invalid option '|Invalid number of GPUs:|invalid sizes? (?:for|specified)|"
    r"Incompatible NCCL versions|\[ERROR\] The number of requested GPUs)|"
    r"is not supported by this test|or later is needed for|: (?:invalid|unrecognized) option"
)
_LIBRARY = re.compile(r"error while loading shared libraries: |symbol lookup error: ")
_SIGNAL = re.compile(r"^\s*\[(?P<host>[^\s:\]]+):\d+\] Signal: (?P<text>.+ \(\d+\))")
_NOTICED = re.compile(r"noticed that process rank \d+ with PID \d+ on node (?P<host>\S+) exited on")
_SRUN_KILLED = re.compile(
    r"srun: error: (?P<host>[^\s:]+): tasks? \S+: (?:Killed|Segmentation|Aborted|Bus error|Terminated)"
)
_SHELL_KILLED = re.compile(r"^\s*\S+: line \d+: +\d+ (?:Segmentation fault|Killed|Aborted|Bus error|Terminated)")
_OOM_KILLED = re.compile(r"oom[-_]kill event|Out of memory: Kill")
_TIME_LIMIT = re.compile(r"DUE TO TIME LIMIT|time limit for job execution has been reached")

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
        found = _read_own(text) or _read_launched(text)
        if found is None:
            return False
        kind, host = found
        self.add(kind, text, host, line)
        return True

    def add(self, kind: FailureKind, message: str, host: str | None = None, line: int | None = None) -> None:
        """A failure that counts in any case."""
        self._store(self._hard, Failure(kind, _short(message), host, line))

    def footer_came(self) -> None:
        """A table ended well after all: what NCCL only warned about did not break it."""
        self._soft.clear()

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
        match = _NCCL_HOST.search(text)
        host = match["host"] if match else None
        if chain := _CHAIN.search(text):
            secondary = chain[1] == _REMOTE_ERROR or bool(self._soft or self._hard)
            key = f"-> {chain[1]}"
            self._store(self._soft, Failure(FailureKind.NCCL, _short(text), host, line, secondary), key)
        elif "NCCL WARN" in text or "Got completion" in text:
            if any(words in text for words in _BENIGN):
                return
            completion = _COMPLETION.search(text)
            flushed = completion is not None and completion[1] == _FLUSHED
            self._store(self._soft, Failure(_nccl_kind(text, completion), _short(text), host, line, flushed))

    def _store(self, shelf: list[Failure], failure: Failure, key: str | None = None) -> None:
        identity = (failure.kind, failure.host, key or failure.message)
        if identity in self._seen or len(shelf) >= _KEPT:
            return
        self._seen.add(identity)
        shelf.append(failure)


def _read_own(text: str) -> tuple[FailureKind, str | None] | None:
    """What nccl-tests itself prints."""
    if "failure" in text and (match := _TEST_FAILURE.search(text)):
        if "out of memory" in match["text"]:
            return FailureKind.OUT_OF_MEMORY, match["host"]
        return (FailureKind.NCCL if match["lib"] == "NCCL" else FailureKind.CUDA), match["host"]
    if "CuRAND error" in text:
        return FailureKind.CUDA, None
    if "Test timeout" in text and (match := _TEST_TIMEOUT.search(text)):
        return FailureKind.TIMEOUT, match["host"]
    if _USAGE.search(text):
        return FailureKind.USAGE, None
    return None


def _read_launched(text: str) -> tuple[FailureKind, str | None] | None:
    """What the system, the shell or the launcher says about a process, where one line is enough."""
    if _LIBRARY.search(text):
        return FailureKind.MISSING_LIBRARY, None
    for pattern in (_SIGNAL, _NOTICED, _SRUN_KILLED):
        if match := pattern.search(text):
            return FailureKind.KILLED, match["host"]
    if _SHELL_KILLED.search(text) or _OOM_KILLED.search(text):
        return FailureKind.KILLED, None
    if _TIME_LIMIT.search(text):
        return FailureKind.TIMEOUT, None
    return None


def _nccl_kind(text: str, completion: re.Match[str] | None) -> FailureKind:
    """The most specific kind a WARN line proves, in the order of the contract."""
    if "out of memory" in text:
        return FailureKind.OUT_OF_MEMORY
    if completion is not None:
        return FailureKind.IB_COMPLETION
    if "bootstrap" in text.lower():
        return FailureKind.BOOTSTRAP
    if _SOCKET.search(text):
        return FailureKind.SOCKET
    return FailureKind.CUDA if "Cuda failure" in text else FailureKind.NCCL


def _marked(index: int, failures: list[Failure]) -> Failure:
    """`secondary` where another failure explains this one."""
    failure = failures[index]
    follows = failure.secondary
    if failure.kind not in _ROOT_CAUSES:
        follows = any(other.kind in _ROOT_CAUSES for other in failures)
    elif _REMOTE_TEXT in failure.message:
        follows = any(other.kind in _ROOT_CAUSES and _REMOTE_TEXT not in other.message for other in failures)
    elif failure.kind in (FailureKind.KILLED, FailureKind.USAGE):
        # One crash or mistake is told by the process, its shell and its launcher.
        earlier = [other for other in failures[:index] if other.kind is failure.kind]
        follows = any(failure.host in (None, other.host) for other in earlier)
    return msgspec.structs.replace(failure, secondary=follows)


def _short(text: str) -> str:
    """One line that is safe on a terminal: a log may hold anything."""
    line = " ".join(text.split())[:_MESSAGE_CHARS]
    return "".join(char if char.isprintable() else "?" for char in line)
