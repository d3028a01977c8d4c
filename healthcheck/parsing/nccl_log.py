"""What NCCL wrote with NCCL_DEBUG=INFO -> one `NcclRankLog` a process. NCCL 2.8 to 2.30; never raises.

A line is `host:pid:tid [device] NCCL INFO text`, or `[time] host:pid:tid [device] file.cc:123 NCCL WARN text`, and
launchers put their own tags in front. What stands in front is read once for each way it is written, so most lines
cost two look-ups. Memory depends on how many processes speak, not on how much they say.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from healthcheck.model.nccl import NcclRankLog
from healthcheck.parsing.nccl_log_draft import Draft, version_of
from healthcheck.parsing.nccl_tests.lines import without_escapes

_MOST_PROCESSES = 1 << 14
_MOST_HEADS = 4096
_MOST_CHARS = 4096  # NCCL's own buffer has 1024
_LONGEST_HEAD = 600
_MARK = " NCCL "
_HEAD = re.compile(
    r"(?:\[(?P<at>\d{4}-\d\d-\d\d[ T][\d:.,]{8,20})\] )?"
    r"(?<![^\s:>\]|])(?P<host>[^:\s<>\[\]|]{1,255}):(?P<pid>\d{1,10}):\d+ \[-?\d+\](?: (?P<file>[\w/.+-]{1,200}:\d+))?$"
)


class _Head(NamedTuple):
    """What stands in front of ` NCCL `."""

    draft: Draft
    at: str | None
    source_file: str | None


def read_nccl_log(lines: Iterable[str], host: str | None = None) -> NcclRankLog:
    """The log of one rank, from a file of its own. Where other processes speak in it too, the one that speaks most.

    `lines` with their line ends, as a file gives them: a last one without was cut, and is not read. (Where no line
    has an end they are all whole.) `host` is what to call the node where no line names it.
    """
    log = _Log()
    log.read(lines)
    draft = max(log.drafts.values(), key=lambda one: one.lines, default=Draft(host or ""))
    return log.finished(draft, {})


def read_nccl_logs(lines: Iterable[str]) -> tuple[NcclRankLog, ...]:
    """Every process of a stream into which several wrote, in the order of their first lines. `lines` as above."""
    log = _Log()
    log.read(lines)
    hosts = log.host_by_rank()
    return tuple(log.finished(draft, hosts) for draft in log.drafts.values())


class _Log:
    """The processes of one stream. `_version` was printed outside any process: it is the one of rank 0."""

    def __init__(self) -> None:
        self.drafts: dict[tuple[str, int], Draft] = {}
        self._heads: dict[str, _Head | None] = {}
        self._version: str | None = None

    def read(self, lines: Iterable[str]) -> None:
        """Take all lines. One without an end is only read once another follows."""
        held: str | None = None
        ends, bare = False, 0
        for line in lines:
            if held is not None:
                self._line(held)
                held = None
            if line[-1:] == "\n":
                ends = True
                self._line(line)
            else:
                held = line
                bare += 1
        if held is not None and not ends and bare > 1:
            self._line(held)

    def host_by_rank(self) -> dict[int, str]:
        """Of a single communicator; empty where ranks stand twice, because then there were several."""
        ranks = Counter(draft.rank for draft in self.drafts.values() if draft.rank is not None)
        if any(times > 1 for times in ranks.values()):
            return {}
        return {draft.rank: draft.host for draft in self.drafts.values() if draft.rank is not None}

    def finished(self, draft: Draft, hosts: dict[int, str]) -> NcclRankLog:
        """One process as a value, with its NET connections inside one host counted as far as the logs show them."""
        pairs = draft.network.pairs
        if draft.n_nodes == 1:
            loopback = sum(pairs.values())
        else:
            loopback = sum(n for (a, b), n in pairs.items() if a in hosts and hosts[a] == hosts.get(b))
        speaks = draft.rank == 0 or len(self.drafts) <= 1
        return draft.finished(draft.host, loopback, self._version if speaks else None)

    def _line(self, line: str) -> None:
        if "\x1b" in line or "\0" in line:
            line = without_escapes(line)
        at = line.find(_MARK)
        if at < 0:
            if line.startswith("NCCL version "):
                self._version = self._version or version_of(line)
            return
        level = line[at + 6 : at + 11]
        if level not in ("INFO ", "WARN "):
            if level == "versi":
                self._version = self._version or version_of(line[at + 1 :])
            return
        if line.find(_MARK, at + 11) >= 0:  # two processes wrote into one line: whose words they are is not known
            return
        text = line[:at]
        head = self._heads[text] if text in self._heads else self._head(text)
        if head is None:
            return
        message = line[at + 11 : at + _MOST_CHARS].strip()
        if level == "INFO ":
            head.draft.info(message, line, head.at)
        else:
            head.draft.warn(message, head.at, head.source_file)

    def _head(self, text: str) -> _Head | None:
        match = _HEAD.search(text[-_LONGEST_HEAD:])
        head = None
        if match is not None:
            key = match["host"], int(match["pid"])
            draft = self.drafts.get(key)
            if draft is None and len(self.drafts) < _MOST_PROCESSES:
                draft = self.drafts[key] = Draft(*key)
            head = _Head(draft, match["at"], match["file"]) if draft is not None else None
        if len(self._heads) >= _MOST_HEADS:
            self._heads.clear()
        self._heads[text] = head
        return head
