"""The WARN lines of one process, the first ones, and which of them only follow from something else."""

from __future__ import annotations

import re
from typing import NamedTuple

from healthcheck.model.nccl import MOST_WARNINGS
from healthcheck.parsing.nccl_tests.failure_rules import is_flushed
from healthcheck.parsing.nccl_tests.failures import shown

_MOST_TRACES = 20  # one failed call leaves about ten lines `file.cc:304 -> 2`; they must not crowd out a WARN
_TRACE = re.compile(r"(?P<file>[\w/.+-]+\.(?:cc|cu|h|cpp):\d+) (?:NCCL )?-> \d")
# Said by a process because another one, or an earlier call of its own, failed.
_FOLLOWS = re.compile(
    r"losed by remote peer|remote process exited|Connection reset by peer|Broken pipe|unhandled (?:system|cuda) error|"
    r"^internal error\b|Failed to execute operation \w+ from rank|^\W*HINT\b|\bUser terminated\b"
)


class Said(NamedTuple):
    """One warning before it is known whose it is; fields as in `NcclWarning`."""

    text: str
    at: str | None
    source_file: str | None
    secondary: bool


class Warnings:
    """Collects warnings in the order they came, each text once."""

    __slots__ = ("_seen", "_traces", "said")

    def __init__(self) -> None:
        self.said: list[Said] = []
        self._seen: set[str] = set()
        self._traces = 0

    def add(self, text: str, at: str | None, source_file: str | None) -> None:
        """A WARN line, or an INFO line that reports a failed transfer."""
        text = shown(text)
        self._keep(Said(text, at, source_file, _FOLLOWS.search(text) is not None or is_flushed(text)))

    def add_trace(self, text: str, at: str | None) -> bool:
        """A line of the trace behind a failed call; False when it is none."""
        match = _TRACE.match(text)
        if match is None:
            return False
        if self._traces < _MOST_TRACES:
            self._traces += 1
            self._keep(Said(shown(text), at, match["file"], True))
        return True

    def _keep(self, said: Said) -> None:
        if len(self.said) < MOST_WARNINGS and said.text not in self._seen:
            self._seen.add(said.text)
            self.said.append(said)
